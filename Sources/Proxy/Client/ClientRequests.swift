import Authentication
import Bytes
import Challenges
import Forwarding
import HTTP
import IO
import Rules
import Synchronization
import Telemetry
import Upstream

/// The requests of all clients on all loops, against the limits for one client. It is only used if the rule file has such a
/// limit.
final class ClientRequests: Sendable {
    /// The client that a request counts for.
    enum Client: Hashable, Sendable {
        case user(ExactText)
        /// An IPv4 address, or an IPv6 network of 64 bits.
        case network(IPAddress)

        /// - Parameter address: nil for a client of a unix socket.
        init(user: String?, at address: IPAddress?) {
            // A program on this machine may use any loopback address, or a socket.
            let loopback = IPAddress(v4: 0x7F00_0001)
            let address = address?.unmapped ?? loopback
            self =
                user.map { .user(ExactText(BoundedName.of($0))) }
                ?? .network(address.isLoopback ? loopback : address.network)
        }

        /// The client in a message to the operator.
        fileprivate var shown: String {
            switch self {
            case .user(let name): "user \(JournalText.printable(name.text, longest: 64))"
            case .network(let address): "\(address)" + (address.family == .v6 ? "/64" : "")
            }
        }
    }

    /// The place of a request in progress among those of its client, which it leaves when it is released.
    final class Place {
        private let client: Client
        private let requests: ClientRequests

        init(of client: Client, in requests: ClientRequests) {
            self.client = client
            self.requests = requests
        }

        deinit { requests.leave(client) }
    }

    private struct State {
        /// The rate that `due` was counted by.
        var rate: Configuration.RequestRate?
        /// The nanosecond of the loops' clock at which a client's whole burst is available again. This is the theoretical
        /// arrival time of the generic cell rate algorithm, which is a token bucket in one number (ITU-T I.371).
        var due = LRUMap<Client, UInt64>()
        /// The requests in progress. A client without any has no entry.
        var running: [Client: Int] = [:]
    }

    private let state = Mutex(State())
    /// Tells the operator of a limit that is reached.
    private let report: Report

    /// A report: the counter of the requests that were refused for the same reason, the time, and the sentence.
    typealias Report = @Sendable (Metrics.Counter, LoopInstant, () -> String) -> Void

    /// The limit of clients whose rate is remembered. The client that has been away longest is forgotten first, so it has its
    /// burst again.
    static let mostClients = 16_384

    init(report: @escaping Report) { self.report = report }

    /// Counts a request.
    /// - Returns: the request's place, to be released at its end; nil if requests in progress are not limited.
    /// - Throws: the refusal if one of the limits is reached.
    func enter(_ exchange: Exchange, of downstream: Downstream) throws(ExchangeFailure) -> Place? {
        let (limits, now) = (exchange.policy.limits, downstream.loop.now)
        let client = Client(user: exchange.record.facts.user, at: downstream.address)
        let shortage = enter(client, limits.requestsPerClient, limits.concurrentRequestsPerClient, at: now)
        guard let shortage else {
            return limits.concurrentRequestsPerClient == nil ? nil : Place(of: client, in: self)
        }
        downstream.metrics.add(to: shortage.counter)
        report(shortage.counter, now) { "\(client.shown) \(shortage.predicate): its requests get a 429" }
        throw .refused(shortage.refusal)
    }

    /// Counts a request in if both limits allow it.
    /// - Returns: the limit that is reached; nil if none.
    func enter(_ client: Client, _ rate: Configuration.RequestRate?, _ concurrent: Int?, at now: LoopInstant)
        -> Shortage?
    {
        state.withLock { state in
            let running = concurrent == nil ? 0 : state.running[client] ?? 0
            if let concurrent, running >= concurrent { return .concurrent(limit: concurrent) }
            if let rate, let wait = Self.take(client, rate, at: now, in: &state) {
                return .rate(rate, wait: wait)
            }
            if concurrent != nil { state.running[client] = running + 1 }
            return nil
        }
    }

    /// Counts out a request that was counted in with a limit of requests in progress.
    func leave(_ client: Client) {
        state.withLock { state in
            guard let count = state.running[client] else { return }
            state.running[client] = count > 1 ? count - 1 : nil
        }
    }

    /// Takes one request from the client's rate.
    /// - Returns: nil if the rate allows it, else the time until it does, in full seconds.
    private static func take(
        _ client: Client, _ rate: Configuration.RequestRate, at now: LoopInstant, in state: inout State
    ) -> Milliseconds? {
        if state.rate != rate {
            // Times by another rate say nothing about this one.
            state.rate = rate
            state.due = LRUMap()
        }
        let (second, now) = (1_000_000_000 as UInt64, now.nanoseconds(since: .zero))
        let interval = UInt64(rate.period.seconds) &* second / UInt64(max(rate.count, 1))
        let due = state.due.use(client) ?? 0
        let ahead = due > now ? due &- now : 0
        let burst = interval &* UInt64(max(rate.burst, 1) &- 1)
        if ahead > burst { return .seconds(Int(clamping: (ahead &- burst &+ second &- 1) / second)) }
        state.due.makeRoom(below: mostClients)
        state.due.put(now &+ ahead &+ interval, for: client)
        return nil
    }

    /// The number of clients that are remembered.
    var remembered: (rates: Int, running: Int) { state.withLock { ($0.due.count, $0.running.count) } }

    /// The limit that a request has reached.
    enum Shortage: Equatable {
        /// - Parameter wait: the time until the rate allows a request.
        case rate(Configuration.RequestRate, wait: Milliseconds)
        case concurrent(limit: Int)

        var counter: Metrics.Counter {
            switch self {
            case .rate: .requestsRefusedByRate
            case .concurrent: .requestsRefusedAtOnce
            }
        }

        /// The words for a client that has reached it.
        fileprivate var predicate: String {
            switch self {
            case .rate(let rate, _): "has reached the limit 'requests-per-client \(rate)'"
            case .concurrent(let limit): "has reached the limit 'concurrent-requests-per-client \(limit)'"
            }
        }

        /// RFC 6585 section 4.
        fileprivate var refusal: Refusal {
            let seconds = if case .rate(_, let wait) = self { max(wait.seconds, 1) } else { 1 }
            return Refusal(
                .tooManyRequests, .httpRequestDenied,
                "this client \(predicate) of this proxy: try again in \(seconds == 1 ? "a second" : "\(seconds) seconds")",
                fields: [(name: "Retry-After", value: "\(seconds)")])
        }
    }
}
