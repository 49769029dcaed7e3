import Bytes
import HTTP
import IO
import Model
import Rules
import Synchronization
import Telemetry
import Upstream

/// The number of clients of all loops, against the limits of the rule file: one count, for any number of loops.
///
/// It is used when a client connects or leaves. For a request it is only used if the rule file limits the requests of each
/// client.
final class ClientCount: Sendable {
    struct Limits: Equatable {
        let clients: Int
        /// The limit of clients at one address, or in one IPv6 /64 network; clients of this machine are not counted.
        let perAddress: Int
    }

    /// The number of clients of one loop that have made no request; only that loop writes it.
    final class Tally: Sendable {
        private let count = Atomic(0)
        var silent: Int { count.load(ordering: .relaxed) }
        func add(_ change: Int) { count.store(silent &+ change, ordering: .relaxed) }
    }

    /// The reason why a client is not served.
    enum Reason: Hashable, CaseIterable {
        /// `clients { allow … }` does not name the client's address.
        case foreignAddress
        /// The limit of all clients is reached.
        case clients
        /// The limit of its address is reached.
        case address

        var counter: Metrics.Counter {
            switch self {
            case .foreignAddress: .clientsRefusedByList
            case .clients: .clientsRefusedAtLimit
            case .address: .clientsRefusedAtAddressLimit
            }
        }

        func refusal(of address: IPAddress?, by rules: RuleSet) -> Refusal {
            switch self {
            case .foreignAddress: return .client(at: address, by: rules.clients)
            case .clients: return Self.unavailable("this proxy has too many clients: try again")
            case .address:
                return Self.unavailable("this proxy has too many clients from your address: try again")
            }
        }

        private static func unavailable(_ sentence: String) -> Refusal {
            Refusal(
                .serviceUnavailable, .connectionLimitReached, sentence, fields: [(name: "Retry-After", value: "1")],
                keepsConnection: false)
        }
    }

    private struct State {
        var limits: Limits
        var count = 0
        var byAddress: [IPAddress: Int] = [:]
        /// The loops where clients wait for room.
        var waiting: Set<Int> = []
    }

    private let state: Mutex<State>
    /// The tallies, one for each loop.
    let tallies: [Tally]
    private let workers = Mutex<[LoopBound<Worker>]>([])
    let shortages: ShortageReport
    /// The requests of the clients.
    let requests: ClientRequests

    init(_ limits: Limits, loops: Int, report: @escaping @Sendable (String) -> Void) {
        state = Mutex(State(limits: limits))
        tallies = (0..<loops).map { _ in Tally() }
        shortages = ShortageReport(to: report)
        requests = ClientRequests { [shortages] in shortages.note($0, at: $1, $2) }
    }

    /// Sets the workers that share the count, at the index of their loops.
    func connect(_ workers: [LoopBound<Worker>]) { self.workers.withLock { $0 = workers } }

    /// Runs `body` on a loop, soon.
    func tell(_ loop: Int, _ body: @escaping @Sendable (Worker) -> Void) {
        guard let worker = workers.withLock({ $0.indices.contains(loop) ? $0[loop] : nil }) else { return }
        worker.loop.submit { body(worker.value) }
    }

    /// Returns the loop, other than `loop`, with most clients that have made no request; nil if no loop has any.
    func loopWithSilent(besides loop: Int) -> Int? {
        tallies.indices.filter { $0 != loop && tallies[$0].silent > 0 }
            .max { tallies[$0].silent < tallies[$1].silent }
    }

    var limits: Limits { state.withLock { $0.limits } }

    /// Counts a client in, if there is room for it.
    /// - Parameter loop: the index of the loop to notify once there may be room.
    /// - Returns: the limit that is reached, never `.foreignAddress`; nil if there is room.
    func enter(_ address: IPAddress?, on loop: Int) -> Reason? {
        let network = address?.clientNetwork
        return state.withLock { state in
            let neighbours = network.map { state.byAddress[$0] ?? 0 } ?? 0
            let shortage: Reason? =
                neighbours >= state.limits.perAddress
                ? .address : state.count >= state.limits.clients ? .clients : nil
            guard shortage == nil else {
                state.waiting.insert(loop)
                return shortage
            }
            state.count += 1
            if let network { state.byAddress[network] = neighbours + 1 }
            return nil
        }
    }

    /// Counts a client out.
    /// - Returns: the loops that wait for room. Each is notified once, and asks again.
    func leave(_ address: IPAddress?) -> Set<Int> {
        let network = address?.clientNetwork
        return state.withLock { state in
            state.count -= 1
            if let network, let count = state.byAddress[network] {
                state.byAddress[network] = count > 1 ? count - 1 : nil
            }
            return Self.told(&state)
        }
    }

    /// Sets new limits. Existing clients stay.
    /// - Returns: the loops that wait for room.
    func adopt(_ limits: Limits) -> Set<Int> {
        state.withLock { state in
            state.limits = limits
            return Self.told(&state)
        }
    }

    private static func told(_ state: inout State) -> Set<Int> {
        guard !state.waiting.isEmpty else { return [] }
        defer { state.waiting.removeAll(keepingCapacity: true) }
        return state.waiting
    }

    /// Reports to the operator that clients were not served, or made room: at most one line a minute for each reason, with
    /// the number of times since the last.
    final class ShortageReport: Sendable {
        private struct Tally {
            var reportedAt: LoopInstant?
            var count = 0
        }

        private let tallies = Mutex<[Metrics.Counter: Tally]>([:])
        private let report: @Sendable (String) -> Void

        /// The time between two lines.
        private static let interval: Milliseconds = 60_000

        init(to report: @escaping @Sendable (String) -> Void) { self.report = report }

        func note(
            _ reason: ClientCount.Reason, of address: IPAddress?, limits: ClientCount.Limits, at now: LoopInstant
        ) {
            note(reason.counter, at: now) { Self.sentence(reason, of: address, limits) }
        }

        /// - Parameter reason: the counter of the clients or requests that were refused for the same reason.
        func note(_ reason: Metrics.Counter, at now: LoopInstant, _ sentence: () -> String) {
            let count: Int? = tallies.withLock { tallies in
                var tally = tallies[reason] ?? Tally()
                defer { tallies[reason] = tally }
                tally.count += 1
                if let last = tally.reportedAt, now < last + Self.interval { return nil }
                tally.reportedAt = now
                defer { tally.count = 0 }
                return tally.count
            }
            guard let count else { return }
            let times = count > 1 ? " (\(count) times since the last report)" : ""
            report(sentence() + times)
        }

        private static func sentence(
            _ reason: ClientCount.Reason, of address: IPAddress?, _ limits: ClientCount.Limits
        ) -> String {
            let address = address.map { "\($0)" } ?? ClientIdentity.local
            let consequence = "idle connections are closed, and if there are none, new clients are refused"
            return switch reason {
            case .foreignAddress:
                "a client at \(address) was refused; to allow it, add: clients { allow \(address) }"
            case .clients: "the limit of \(limits.clients) clients is reached: \(consequence)"
            case .address:
                "\(address) has reached the limit of \(limits.perAddress) clients for each address: \(consequence)"
            }
        }
    }
}

extension IPAddress {
    /// The network whose clients share one count; nil for this machine, whose clients have no limit of their own.
    var clientNetwork: IPAddress? {
        let address = unmapped
        switch address.family {
        case .v4: return address.low >> 24 == 127 ? nil : address
        case .v6: return address.high == 0 && address.low == 1 ? nil : address.network
        }
    }
}
