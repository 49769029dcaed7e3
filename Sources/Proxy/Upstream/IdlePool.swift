/// Who has a connection while it rests.
protocol IdleKeeper: AnyObject {
    /// The pool has let go of the connection: it is to be closed.
    func evict(_ connection: OriginConnection)
}

/// The connections that one loop keeps unused, over all its origins and clients: each is a descriptor that a client may
/// need. Beyond the limit the one that has rested longest makes room.
final class IdlePool {
    typealias Position = RecencyList<Resting>.Position

    struct Resting {
        fileprivate let connection: OriginConnection
        fileprivate let keeper: any IdleKeeper
    }

    private var resting = RecencyList<Resting>()
    private let limit: Int
    private let identities: IdentityGeneration

    init(limit: Int, identities: IdentityGeneration = IdentityGeneration()) {
        self.limit = max(1, limit)
        self.identities = identities
    }

    var count: Int { resting.count }

    /// From now on the connection rests, until `leave`.
    func enter(_ connection: OriginConnection, keptBy keeper: any IdleKeeper) {
        while resting.count >= limit, let oldest = resting.oldest { evict(oldest.element) }
        connection.restingPosition = resting.insert(Resting(connection: connection, keeper: keeper))
    }

    /// The connection is used, or closed. Once is enough, twice does no harm.
    func leave(_ connection: OriginConnection) {
        guard let position = connection.restingPosition else { return }
        connection.restingPosition = nil
        resting.remove(position)
    }

    /// Closes those that have rested longest.
    /// - Returns: how many there were.
    func closeOldest(_ count: Int) -> Int {
        for closed in 0..<count {
            guard let oldest = resting.oldest else { return closed }
            evict(oldest.element)
        }
        return count
    }

    func closeAll() {
        for one in resting.elements { evict(one) }
    }

    /// Closes those that nobody can use any more since a certificate has changed.
    func closeOutdated() {
        for one in resting.elements where !isCurrent(one.connection.terms) { evict(one) }
    }

    /// Whether a connection made under these terms could still serve somebody: the certificates that could be shown are
    /// those of then.
    func isCurrent(_ terms: ConnectionTerms) -> Bool { terms.identities == 0 || terms.identities == identities.number }

    private func evict(_ one: Resting) {
        leave(one.connection)
        one.keeper.evict(one.connection)
    }
}
