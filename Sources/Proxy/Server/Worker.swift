import Authentication
import Bytes
import DNS
import HTTP
import IO
import PAC
import Rules
import Telemetry

/// What one loop needs to serve its clients. Everything here belongs to the loop, so nothing is locked.
final class Worker {
    let loop: EventLoop
    let shared: SharedState
    let resolver: Resolver
    let metrics: Metrics
    private(set) var policy: Policy
    private var origins: OriginTable
    private(set) var isDraining = false
    private var listeners: [Listener] = []
    private var sessions: [ObjectIdentifier: ClientSession] = [:]
    private var freeExchanges: [Exchange] = []
    private let lines: LineBuffer
    private var encoder: AccessLogEncoder
    private let clientLimit: Int

    private static let keptExchanges = 256

    /// - Parameter clientLimit: connections this loop accepts at once, and keeps to origins for later.
    init(
        policy: Policy, shared: SharedState, on loop: EventLoop, clientLimit: Int
    ) throws(ResolutionError) {
        self.loop = loop
        self.shared = shared
        self.policy = policy
        self.clientLimit = max(1, clientLimit)
        origins = OriginTable(idleLimit: self.clientLimit, identities: shared.identities)
        resolver = try Resolver(on: loop)
        metrics = Metrics()
        lines = LineBuffer(on: loop, metrics: metrics)
        lines.log = policy.log
        encoder = AccessLogEncoder(format: policy.logFormat)
    }

    // MARK: - Clients

    /// - Parameter identity: nil for clients in clear.
    func listen(on address: SocketAddress, as identity: ListenerIdentity?) throws(IOError) -> SocketAddress {
        let listener = try Listener(address, on: loop) { [unowned self] connection in
            accept(connection, as: identity)
        }
        listeners.append(listener)
        return listener.address
    }

    private func accept(_ connection: AcceptedConnection, as identity: ListenerIdentity?) {
        // Failing to register has closed the descriptor: the client sees that, nobody else anything.
        guard let session = try? ClientSession(connection, of: self) else { return }
        sessions[ObjectIdentifier(session)] = session
        metrics.add(to: .clientsAccepted)
        pauseOrResume()
        session.begin(as: identity)
    }

    /// The session has ended.
    func forget(_ session: ClientSession) {
        sessions[ObjectIdentifier(session)] = nil
        metrics.add(to: .clientsClosed)
        pauseOrResume()
    }

    /// At the limit clients wait in the system's queue: better than being accepted and sent away.
    private func pauseOrResume() {
        // A listener that goes on may accept the last client there is room for.
        for listener in listeners {
            let isFull = sessions.count >= clientLimit
            if listener.isPaused != isFull { listener.isPaused = isFull }
        }
    }

    // MARK: - Exchanges

    /// Where requests for that scheme, host, in any case, and port go by these rules.
    func destination(_ scheme: Scheme, host: Span<UInt8>, port: UInt16, by rules: RuleSet) -> Destination {
        origins.destination(scheme, host: host, port: port, by: rules)
    }

    /// As `ParentTable`.
    func hops(of detour: Detour, to origin: Origin, found: [String: [PACWay]]) -> [Hop] {
        let host = origin.host
        return origins.hops(of: detour, to: host.span, found: found)
    }

    func takeExchange() -> Exchange {
        freeExchanges.popLast() ?? Exchange(policy: policy, on: loop)
    }

    func give(_ exchange: Exchange) {
        guard exchange.policy === policy, exchange.isWorthKeeping, freeExchanges.count < Self.keptExchanges else {
            return exchange.dissolve(into: loop.buffers)
        }
        exchange.inbound.clear()
        freeExchanges.append(exchange)
    }

    /// The record is complete: it is counted, and logged if there is a log.
    func close(_ record: ExchangeRecord) {
        metrics.add(record)
        guard policy.log != nil else { return }
        let now = SystemClock.epochMilliseconds
        lines.add { encoder.append(record, at: now, to: $0) }
    }

    // MARK: - Change

    /// From now on new exchanges follow this policy.
    func adopt(_ policy: Policy) {
        lines.flush()
        self.policy = policy
        lines.log = policy.log
        encoder = AccessLogEncoder(format: policy.logFormat)
        // What was allowed to be reached may no longer be.
        origins.closeIdle()
        for session in sessions.values { session.logins.closeAll() }
        for exchange in freeExchanges { exchange.dissolve(into: loop.buffers) }
        freeExchanges.removeAll()
    }

    func retire(_ retirement: Retirement) {
        for session in sessions.values { session.logins.retire(retirement) }
        if case .identities = retirement { origins.closeOutdated() }
    }

    /// Takes no new client, closes those that have nothing under way, and lets the others finish.
    func drain() {
        isDraining = true
        for listener in listeners { listener.close() }
        listeners.removeAll()
        for session in sessions.values {
            if session.isIdle { session.close() } else { session.logins.closeAll() }
        }
        origins.closeIdle()
    }

    /// Client connections that are still open.
    var openSessions: Int { sessions.count }

    func flushLog() { lines.flush() }
}
