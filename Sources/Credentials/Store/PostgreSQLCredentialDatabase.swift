import Authentication
import Database
import IO
import Synchronization

/// A credential store in a PostgreSQL database, which replicas share. A lost connection is made anew, after a pause
/// that grows while the server stays away; meanwhile every call fails at once.
final class PostgreSQLCredentialDatabase: CredentialDatabase {
    private let info: String
    /// Tells our own changes from others'.
    private let name: String
    private let session: Mutex<PostgreSQLSession>
    /// Listens, and would keep writers waiting if it were the same.
    private let listening: Mutex<PostgreSQLSession>

    /// - Parameters:
    ///   - info: libpq's connection string.
    ///   - name: another for every process and every store opened in it.
    init(_ info: String, name: String) throws(DatabaseError) {
        self.info = info
        self.name = name
        let connection = try PostgreSQLConnection(info)
        if try PostgreSQLSchema.version(of: connection) == 0 { try PostgreSQLSchema.migrate(connection) }
        session = Mutex(PostgreSQLSession(info, connection))
        listening = Mutex(PostgreSQLSession(info, nil, greeting: "LISTEN \(PostgreSQLSchema.channel)"))
    }

    func update() throws(DatabaseError) {
        try session.withLock { session throws(DatabaseError) in
            try session.use { connection throws(DatabaseError) in try PostgreSQLSchema.migrate(connection) }
        }
    }

    func read<Value: Sendable>(
        _ body: @Sendable (any SQLConnection) throws(DatabaseError) -> Value
    ) throws(DatabaseError) -> Value {
        try session.withLock { session throws(DatabaseError) in
            try session.use { connection throws(DatabaseError) in try body(connection) }
        }
    }

    func write<Value: Sendable>(
        _ body: @Sendable (any SQLConnection, Int64) throws(DatabaseError) -> Value
    ) throws(DatabaseError) -> Value {
        try session.withLock { session throws(DatabaseError) in
            try session.use { connection throws(DatabaseError) in
                try connection.transaction { () throws(DatabaseError) in
                    try connection.rows(PostgreSQLSchema.lock)
                    let value = try body(connection, try CredentialTables.nextRevision(connection))
                    try connection.rows(
                        "SELECT pg_notify($1, $2)", [.text(PostgreSQLSchema.channel), .text(name)])
                    return value
                }
            }
        }
    }

    func foreignChanges(within limit: Int) throws(DatabaseError) -> ForeignChanges {
        try listening.withLock { session throws(DatabaseError) in
            // Making the connection sure first: what was said while nobody listened is not known.
            let before = session.generation
            try session.use { connection throws(DatabaseError) in _ = try connection.rows("SELECT 1") }
            if session.generation != before { return before == 0 ? .some : .unknown }
            let isNews = try session.use { connection throws(DatabaseError) in
                try connection.notifications(within: limit).contains { $0 != name }
            }
            if session.generation != before { return .unknown }
            return isNews ? .some : .none
        }
    }
}
