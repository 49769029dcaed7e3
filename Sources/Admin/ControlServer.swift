import IO

/// The control socket, through which commands of the same user ask the running proxy. It belongs to one loop.
public final class ControlServer {
    private let loop: EventLoop
    private let sources: ControlSources
    private var listener: LocalListener?
    private var connections: [AdminConnection] = []

    private static let connectionLimit = 16

    /// Listens at once and serves as long as the process, even if the caller keeps no reference. Call it on the loop's
    /// thread, or before the loop starts.
    public init(at path: LocalPath, on loop: EventLoop, sources: ControlSources) throws(LocalListener.Failure) {
        self.loop = loop
        self.sources = sources
        // The closure retains the server.
        listener = try LocalListener(path, on: loop) { [self] in accept($0, from: $1) }
    }

    private func accept(_ descriptor: Int32, from peer: LocalPeer) {
        let site = ControlSite(sources: sources, user: peer.user)
        guard
            let connection = try? AdminConnection(
                takingOwnership: descriptor, to: site, timeouts: AdminConnection.Timeouts(), on: loop)
        else { return }
        if connections.count >= Self.connectionLimit { connections.removeFirst().close() }
        connections.append(connection)
        let bound = LoopBound((server: self, connection: connection), to: loop)
        loop.spawn {
            let (server, connection) = bound.value
            await connection.serve()
            server.connections.removeAll { $0 === connection }
        }
    }
}
