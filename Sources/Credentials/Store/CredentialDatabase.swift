import Bytes
import Database
import Model

/// The database of a store. Every call blocks, and a write is durable when the call returns.
protocol CredentialDatabase: Sendable {
    /// Lends the tables to read from.
    func read<Value: Sendable>(
        _ body: @Sendable (any SQLConnection) throws(DatabaseError) -> Value
    ) throws(DatabaseError) -> Value

    /// Lends the tables to a writer, in a transaction that excludes other writers, with the number of the change: each
    /// is greater than the previous one. Other processes with this store learn of it.
    func write<Value: Sendable>(
        _ body: @Sendable (any SQLConnection, Int64) throws(DatabaseError) -> Value
    ) throws(DatabaseError) -> Value

    /// Updates the tables of an earlier version. Call it with the store's key, before anything but the key is read or
    /// written. Opening a store creates tables only if it has none.
    func update() throws(DatabaseError)

    /// Whether other processes may have changed something since the last call. If that is not known at once, waits for
    /// that time.
    func foreignChanges(within limit: Milliseconds) throws(DatabaseError) -> ForeignChanges
}

/// The possible changes by other processes, in increasing order.
enum ForeignChanges: Sendable, Hashable, Comparable {
    case none
    case some
    /// Changes are unknown: the connection was lost, and the new one may lead to an older copy.
    case unknown
    /// The store was replaced by another one.
    case replaced
}

extension CredentialDatabase {
    /// Reads like `read`, and fails with the error of a store.
    func ask<Value: Sendable>(
        _ body: @Sendable (any SQLConnection) throws(DatabaseError) -> Value
    ) throws(CredentialStore.Failure) -> Value {
        try CredentialStore.Failure.asking { () throws(DatabaseError) in try read(body) }
    }
}

extension SQLConnection {
    /// The values that `read` makes of the rows of a statement. A row of which it makes none is left out.
    func values<Value>(
        of sql: String, _ parameters: [DatabaseValue], _ read: (any DatabaseRow) -> Value?
    ) throws(DatabaseError) -> [Value] {
        var values: [Value] = []
        try forEachRow(sql, parameters) { row throws(DatabaseError) in
            if let value = read(row) { values.append(value) }
        }
        return values
    }
}

extension StoreBackend {
    /// Opens a database, or makes an empty one. Blocks.
    ///
    /// - Parameter place: the path of its file, or its connection string.
    func open(_ place: String) throws(CredentialStore.Failure) -> any CredentialDatabase {
        try CredentialStore.Failure.asking { () throws(DatabaseError) in
            switch self {
            case .sqlite: return try SQLiteCredentialDatabase(path: place)
            case .postgresql: return try PostgreSQLCredentialDatabase(place)
            }
        }
    }
}
