import Crypto
import IO

/// The administrator's listener: health, readiness, metrics, the practice origin and the dashboard, over plain HTTP/1.1.
///
/// It belongs to one loop. Every client that can connect may read all of it except the dashboard, and the metrics if they
/// have a token. So its address should be a loopback one.
public final class AdminServer {
    /// The address of the listener: the configured one, with the system's port if 0 was configured.
    public var address: SocketAddress { listener?.address ?? wanted }

    private let wanted: SocketAddress
    private let loop: EventLoop
    private let site: AdminSite
    private let timeouts: AdminConnection.Timeouts
    private let connectionLimit: Int
    private var listener: Listener?
    /// The connections, in the order in which they began to wait for a request.
    private var connections: [AdminConnection] = []

    /// Listens at once and serves until `close`, even if the caller keeps no reference. Call it on the loop's thread,
    /// or before the loop starts.
    /// - Throws: `IOError.system` when the address cannot be listened on.
    public convenience init(
        address: SocketAddress, on loop: EventLoop, sources: AdminSources, dashboard: DashboardSources? = nil,
        connectionLimit: Int = 64
    ) throws(IOError) {
        let practice = try? PracticeOrigin()
        // Open pages leave room for health checks and metrics.
        let pages = max(1, connectionLimit - max(2, connectionLimit / 8))
        let feed = dashboard.map { DashboardFeed($0, limit: pages, on: loop) }
        let page = dashboard.flatMap { sources in feed.map { DashboardSite(sources, feed: $0) } }
        try self.init(
            address: address, on: loop, site: AdminSite(sources: sources, practice: practice, dashboard: page),
            connectionLimit: connectionLimit)
    }

    init(
        address: SocketAddress, on loop: EventLoop, site: AdminSite,
        timeouts: AdminConnection.Timeouts = AdminConnection.Timeouts(),
        connectionLimit: Int = 64
    ) throws(IOError) {
        wanted = address
        self.loop = loop
        self.site = site
        self.timeouts = timeouts
        self.connectionLimit = connectionLimit
        // The closure retains the server until `close` releases the listener.
        listener = try Listener(address, on: loop) { [self] in accept($0.descriptor) }
    }

    /// Stops listening and closes every connection. Do not use it to drain: `/readyz` is needed then.
    public func close() {
        listener?.close()
        listener = nil
        site.dashboard?.feed.end()
        for connection in connections { connection.close() }
    }

    private func accept(_ descriptor: Int32) {
        // If registering fails the descriptor is closed, which is all that the client needs to see.
        guard
            let connection = try? AdminConnection(
                takingOwnership: descriptor, to: site, security: site.dashboard?.sources.security, timeouts: timeouts,
                on: loop)
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

    /// Makes room for a connection at the limit. It closes one that was answered and is ending, else the one that has
    /// waited longest for a request without receiving a byte. The latest one stays, since it may be a health check. If
    /// all are being answered, clients wait in the system's queue.
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
