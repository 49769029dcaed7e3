import HTTP
import IO
import Telemetry

/// The administrator's listener: health, readiness, metrics, the practice origin and the dashboard, over plain HTTP/1.1.
///
/// It belongs to one loop. Every client that may connect may read all of it but the dashboard, so its address should be a
/// loopback one.
public final class AdminServer {
    /// Where it listens: the address asked for, with the system's port where 0 was asked for.
    public var address: SocketAddress { listener?.address ?? wanted }

    private let wanted: SocketAddress
    private let loop: EventLoop
    private let site: AdminSite
    private let timeouts: AdminTimeouts
    private let connectionLimit: Int
    private var listener: Listener?
    /// In the order in which they began to wait for a request.
    private var connections: [AdminConnection] = []

    /// Listens at once and serves until `close`, whether or not the caller keeps a reference. To be called on the
    /// loop's thread, or before the loop starts.
    /// - Throws: `IOError.system` when the address cannot be listened on.
    public convenience init(
        address: SocketAddress, on loop: EventLoop, sources: AdminSources, dashboard: DashboardSources? = nil,
        connectionLimit: Int = 64
    ) throws(IOError) {
        let practice = try? PracticeOrigin(nonceLifetime: PracticeOrigin.usualNonceLifetime)
        // Open pages leave room for those who ask after health and metrics.
        let pages = max(1, connectionLimit - max(2, connectionLimit / 8))
        let feed = dashboard.map { DashboardFeed($0, limit: pages, on: loop) }
        let page = dashboard.flatMap { sources in feed.map { DashboardSite(sources, feed: $0) } }
        try self.init(
            address: address, on: loop, site: AdminSite(sources: sources, practice: practice, dashboard: page),
            connectionLimit: connectionLimit)
    }

    init(
        address: SocketAddress, on loop: EventLoop, site: AdminSite, timeouts: AdminTimeouts = AdminTimeouts(),
        connectionLimit: Int = 64
    ) throws(IOError) {
        wanted = address
        self.loop = loop
        self.site = site
        self.timeouts = timeouts
        self.connectionLimit = connectionLimit
        // The closure keeps the server, until `close` lets go of the listener.
        listener = try Listener(address, on: loop) { [self] in accept($0.descriptor) }
    }

    /// Stops listening and ends every connection. Not for a drain: that is when `/readyz` is asked.
    public func close() {
        listener?.close()
        listener = nil
        site.dashboard?.end()
        for connection in connections { connection.close() }
    }

    private func accept(_ descriptor: Int32) {
        // Failing to register has closed the descriptor, and that is all the client needs to see.
        guard
            let connection = try? AdminConnection(
                takingOwnership: descriptor, to: site, security: site.dashboard?.security, timeouts: timeouts, on: loop)
        else { return }
        connections.append(connection)
        connection.onIdle = { [unowned self, unowned connection] in
            guard let index = connections.firstIndex(where: { $0 === connection }) else { return }
            connections.append(connections.remove(at: index))
            makeRoom()
        }
        makeRoom()
        let bound = LoopBound((server: self, connection: connection), to: loop)
        loop.spawn {
            let (server, connection) = bound.value
            await connection.serve()
            server.forget(connection)
        }
    }

    private func forget(_ connection: AdminConnection) {
        connections.removeAll { $0 === connection }
        makeRoom()
    }

    /// At the limit a connection goes that was answered and ends, or else the one that waits longest for a request, of which
    /// nothing has come. The latest one stays: a health check has just connected. Where all are being answered, clients wait
    /// in the system's queue.
    private func makeRoom() {
        if connections.count >= connectionLimit {
            let others = connections.dropLast()
            let victim = others.firstIndex(where: \.isEnding) ?? others.firstIndex { $0.isIdle && !$0.hasInput }
            if let victim { connections.remove(at: victim).close() }
        }
        let isFull = connections.count >= connectionLimit
        if let listener, listener.isPaused != isFull { listener.isPaused = isFull }
    }
}

/// The facts that the administrator's listener asks the rest of the program for.
///
/// The closures are called on the listener's loop, once per request, and must not block.
public struct AdminSources: Sendable {
    /// Whether the proxy takes work: what `/readyz` says.
    public enum Readiness: Sendable, Equatable {
        case ready
        /// It works, but not all of what it relies on does: to take it out of service would make that worse.
        case degraded(reason: String)
        /// The reason is one sentence that an operator understands.
        case notReady(reason: String)
    }

    /// The program's version, as `attache version` prints it.
    public let version: String
    /// The name in `Via` of requests that came through the proxy; nil where there is none.
    public let via: Via?
    public let readiness: @Sendable () -> Readiness
    public let metrics: @Sendable (MetricsFormat) -> String

    public init(
        version: String, via: Via? = nil, readiness: @escaping @Sendable () -> Readiness,
        metrics: @escaping @Sendable (MetricsFormat) -> String
    ) {
        self.version = version
        self.via = via
        self.readiness = readiness
        self.metrics = metrics
    }
}
