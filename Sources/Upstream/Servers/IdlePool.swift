import Credentials
import IO
import Telemetry
import Transport

/// The connections that one loop keeps unused, over all its origins and clients: each is a descriptor that a client may
/// need. Beyond the limit the one that has rested longest makes room.
///
/// A connection that rests belongs to the observer of its socket, which lets go of it when it is closed.
public final class IdlePool {
    private let resting = UseOrder()
    public private(set) var count = 0 {
        didSet { metrics.idleConnections = count }
    }
    private let limit: Int
    let tlsAnswers: TLSAnswers
    private let metrics: Metrics

    init(
        limit: Int, tlsAnswers: TLSAnswers = TLSAnswers(stored: MemoryCredentialStorage()), metrics: Metrics = Metrics()
    ) {
        self.limit = max(1, limit)
        self.tlsAnswers = tlsAnswers
        self.metrics = metrics
    }

    /// From now on the connection rests, until `leave`.
    public func enter(_ connection: OriginConnection) {
        while count >= limit, let oldest { evict(oldest) }
        if !connection.isInOrder {
            count += 1
            connection.stream.socket.account?.channelRests()
        }
        resting.use(connection)
    }

    /// The connection is used, or closed. Once is enough, twice does no harm.
    public func leave(_ connection: OriginConnection) {
        guard connection.isInOrder else { return }
        connection.leaveOrder()
        count -= 1
        connection.stream.socket.account?.channelIsUsed()
    }

    /// Closes those that have rested longest.
    /// - Returns: how many there were.
    public func closeOldest(_ count: Int) -> Int {
        for closed in 0..<count {
            guard let oldest else { return closed }
            evict(oldest)
        }
        return count
    }

    public func closeAll() {
        while let oldest { evict(oldest) }
    }

    /// Closes those that nobody can use any more since a certificate or an exception has changed.
    public func closeOutdated() {
        for entry in resting.entries {
            if let connection = entry as? OriginConnection, !isCurrent(connection.terms) { evict(connection) }
        }
    }

    /// Whether a connection made under these terms could still serve somebody: certificates and exceptions are those of
    /// then.
    public func isCurrent(_ terms: ConnectionTerms) -> Bool {
        terms.tlsAnswers == 0 || terms.tlsAnswers == tlsAnswers.number
    }

    /// The connection that has rested longest. Nothing else stands in the order.
    private var oldest: OriginConnection? { resting.oldest as? OriginConnection }

    private func evict(_ connection: OriginConnection) {
        leave(connection)
        let socket = connection.stream.socket
        let keeper = socket.observer
        connection.stream.close()
        keeper?.channelChanged(socket)
    }
}
