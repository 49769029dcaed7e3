import Credentials
import HTTP2
import IO
import Telemetry
import Transport

/// The idle connections of one loop, over all its origins and clients. Each takes a descriptor that a client may need.
/// Beyond the limit the longest idle connection is closed.
///
/// An idle connection belongs to the observer of its socket, which drops it when it is closed.
public final class IdlePool {
    private let resting = IntrusiveLRU()
    public private(set) var count = 0 {
        didSet { metrics.idleConnections = count }
    }
    private let limit: Int
    let tlsPolicyEpoch: TLSPolicyEpoch
    let metrics: Metrics
    /// Limits the growth of windows on the HTTP/2 connections of the loop.
    let windows = WindowBudget()
    /// How often `closeAll` has ended what an older policy allowed.
    private(set) var policies = 0
    /// The HTTP/2 connections of the loop, with those in use.
    private var sharing: [ObjectIdentifier: SharedConnection] = [:]

    init(
        limit: Int, tlsPolicyEpoch: TLSPolicyEpoch = TLSPolicyEpoch(stored: StoredCredentials()),
        metrics: Metrics = Metrics()
    ) {
        self.limit = max(1, limit)
        self.tlsPolicyEpoch = tlsPolicyEpoch
        self.metrics = metrics
    }

    /// Counts the connection as idle until `leave`.
    public func enter(_ connection: OriginConnection) {
        while count >= limit, let oldest { evict(oldest) }
        if !connection.isInOrder {
            count += 1
            connection.stream.channel.account?.channelRests()
        }
        resting.use(connection)
    }

    /// Counts the connection as idle no longer. Calling it twice is harmless.
    public func leave(_ connection: OriginConnection) {
        guard connection.isInOrder else { return }
        connection.leaveOrder()
        count -= 1
        connection.stream.channel.account?.channelIsUsed()
    }

    /// Closes the longest idle connections.
    /// - Returns: the number of closed connections.
    public func closeOldest(_ count: Int) -> Int {
        for closed in 0..<count {
            guard let oldest else { return closed }
            evict(oldest)
        }
        return count
    }

    /// Closes all idle connections. Those that streams share get no new ones.
    public func closeAll() {
        policies += 1
        while let oldest { evict(oldest) }
        for connection in sharing.values { connection.retire() }
    }

    /// Closes the connections that no request can use since a certificate or an exception has changed.
    public func closeOutdated() {
        for entry in resting.entries {
            if let connection = entry as? OriginConnection, !isCurrent(connection.terms) { evict(connection) }
        }
        for connection in sharing.values where !isCurrent(connection.terms) { connection.retire() }
    }

    /// Takes an HTTP/2 connection into the list of the loop, until `leave(sharing:)`.
    func enter(sharing connection: SharedConnection) { sharing[ObjectIdentifier(connection)] = connection }

    func leave(sharing connection: SharedConnection) { sharing.removeValue(forKey: ObjectIdentifier(connection)) }

    /// Whether a connection made under these terms can still serve a request: no certificate or exception has changed
    /// since.
    public func isCurrent(_ terms: ConnectionTerms) -> Bool {
        terms.tlsPolicyEpoch == 0 || terms.tlsPolicyEpoch == tlsPolicyEpoch.number
    }

    /// The longest idle connection. The order contains connections only.
    private var oldest: OriginConnection? { resting.oldest as? OriginConnection }

    private func evict(_ connection: OriginConnection) {
        leave(connection)
        let channel = connection.stream.channel
        let keeper = channel.observer
        connection.stream.close()
        keeper?.channelChanged(channel)
    }
}
