import Database

/// Where a store keeps its tables. Every call blocks, and what it wrote is durable once it returned.
protocol CredentialDatabase: Sendable {
    /// Lends the tables to read from.
    func read<Value: Sendable>(
        _ body: @Sendable (any SQLConnection) throws(DatabaseError) -> Value
    ) throws(DatabaseError) -> Value

    /// Lends the tables to a writer, who writes all or nothing and is alone in it, with the number of the change: each
    /// has a greater one. Others who have the store open learn of it.
    func write<Value: Sendable>(
        _ body: @Sendable (any SQLConnection, Int64) throws(DatabaseError) -> Value
    ) throws(DatabaseError) -> Value

    /// Brings the tables of an earlier version up to date: to be called by who has the store's key, before anything but
    /// the key is read or written. Opening a store makes the tables only where there are none.
    func update() throws(DatabaseError)

    /// Whether somebody else may have changed something since the last call, or, where that is not known at once,
    /// does so within that time.
    ///
    /// - Parameter limit: milliseconds.
    func foreignChanges(within limit: Int) throws(DatabaseError) -> ForeignChanges
}

/// The possible changes of a store by others, the least first.
enum ForeignChanges: Sendable, Hashable, Comparable {
    case none
    case some
    /// Nobody knows: the connection was lost, and what is behind the new one may be a copy of some other day.
    case unknown
    /// It is another one now.
    case replaced
}

extension CredentialTables {
    /// How far a store has come: every change has a greater number than those before.
    struct Revision: Sendable, Hashable {
        let latest: Int64
        /// Removals up to this one are no longer on record.
        let forgotten: Int64
    }
}
