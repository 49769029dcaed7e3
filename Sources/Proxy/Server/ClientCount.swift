import Bytes
import IO
import Synchronization

/// The clients of all loops together, against the limits that the rule file sets: one count, whatever the number of loops.
///
/// It is asked when a client comes or goes, never for a request.
final class ClientCount: Sendable {
    struct Limits: Equatable {
        let clients: Int
        /// Clients of one address, or of one IPv6 network of 64 bits; those of this machine are not counted.
        let perAddress: Int
    }

    /// How many clients of one loop have made no request; that loop alone writes it.
    final class Tally: Sendable {
        private let count = Atomic(0)
        var silent: Int { count.load(ordering: .relaxed) }
        func add(_ change: Int) { count.store(silent &+ change, ordering: .relaxed) }
    }

    /// Why there is no room.
    enum Shortage {
        case clients
        case address
    }

    private struct State {
        var limits: Limits
        var count = 0
        var byAddress: [IPAddress: Int] = [:]
        /// The loops where clients wait for room.
        var waiting: Set<Int> = []
    }

    private let state: Mutex<State>
    /// One for each loop.
    let tallies: [Tally]
    private let workers = Mutex<[LoopBound<Worker>]>([])
    let shortages: ShortageReport

    init(_ limits: Limits, loops: Int, report: @escaping @Sendable (String) -> Void) {
        state = Mutex(State(limits: limits))
        tallies = (0..<loops).map { _ in Tally() }
        shortages = ShortageReport(to: report)
    }

    /// These share the count; the place of each is its loop's index.
    func connect(_ workers: [LoopBound<Worker>]) { self.workers.withLock { $0 = workers } }

    /// Has a loop do something, soon.
    func tell(_ loop: Int, _ body: @escaping @Sendable (Worker) -> Void) {
        guard let worker = workers.withLock({ $0.indices.contains(loop) ? $0[loop] : nil }) else { return }
        worker.loop.submit { body(worker.value) }
    }

    /// Another loop that has clients which have made no request: the one with most of them.
    func loopWithSilent(besides loop: Int) -> Int? {
        tallies.indices.filter { $0 != loop && tallies[$0].silent > 0 }
            .max { tallies[$0].silent < tallies[$1].silent }
    }

    var limits: Limits { state.withLock { $0.limits } }

    /// Counts a client in, if there is room for it.
    /// - Parameter loop: the index of the loop that is told once there may be room.
    /// - Returns: why there is none; nil if there is.
    func enter(_ address: IPAddress, on loop: Int) -> Shortage? {
        let network = Self.network(of: address)
        return state.withLock { state in
            let neighbours = network.map { state.byAddress[$0] ?? 0 } ?? 0
            let shortage: Shortage? =
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
    /// - Returns: the loops that wait for that. Each is told once, and asks again.
    func leave(_ address: IPAddress) -> Set<Int> {
        let network = Self.network(of: address)
        return state.withLock { state in
            state.count -= 1
            if let network, let count = state.byAddress[network] {
                state.byAddress[network] = count > 1 ? count - 1 : nil
            }
            return Self.told(&state)
        }
    }

    /// From now on these limits hold. Nobody who is there is sent away for them.
    /// - Returns: as `leave`.
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

    /// The network that shares one count; nil for this machine, whose clients have no limit of their own.
    static func network(of address: IPAddress) -> IPAddress? {
        let address = address.unmapped
        switch address.family {
        case .v4: return address.low >> 24 == 127 ? nil : address
        case .v6: return address.high == 0 && address.low == 1 ? nil : IPAddress(v6High: address.high, low: 0)
        }
    }
}
