import Bytes
import Database
import IO
import Synchronization

/// A credential store in a PostgreSQL database, which replicas share. A lost connection is opened again, after a pause
/// that grows while the server is down. Meanwhile every call fails at once.
final class PostgreSQLCredentialDatabase: CredentialDatabase {
    private let info: String
    /// A name for each store that a process opens: tells its changes from those of others.
    private let name: String
    private let session: Mutex<PostgreSQLCredentialDatabase.Session>
    /// The listening session, separate since writers would wait for it.
    private let listening: Mutex<PostgreSQLCredentialDatabase.Session>
    /// The latest change up to which changes of other processes were reported. Notifications may be lost, as with
    /// PgBouncer in transaction mode, and servers without LISTEN send none.
    private let reported = Mutex<Int64?>(nil)

    /// - Parameter info: libpq's connection string.
    init(_ info: String) throws(DatabaseError) {
        self.info = info
        name = String(UInt64.random(in: .min ... .max), radix: 16)
        let connection = try PostgreSQLConnection(info)
        if try PostgreSQLCredentialDatabase.Schema.version(of: connection) == 0 {
            try PostgreSQLCredentialDatabase.Schema.migrate(connection)
        }
        session = Mutex(PostgreSQLCredentialDatabase.Session(info, connection))
        listening = Mutex(
            PostgreSQLCredentialDatabase.Session(info, nil, channel: PostgreSQLCredentialDatabase.Schema.channel))
    }

    func update() throws(DatabaseError) {
        try session.withLock { session throws(DatabaseError) in
            try session.use { connection throws(DatabaseError) in
                try PostgreSQLCredentialDatabase.Schema.migrate(connection)
            }
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
        let (value, revision) = try session.withLock { session throws(DatabaseError) in
            try session.use { connection throws(DatabaseError) in
                try connection.transaction { () throws(DatabaseError) in
                    try connection.rows(PostgreSQLCredentialDatabase.Schema.lock)
                    let revision = try CredentialTables.nextRevision(connection)
                    let value = try body(connection, revision)
                    try connection.rows(
                        "SELECT pg_notify($1, $2)", [.text(PostgreSQLCredentialDatabase.Schema.channel), .text(name)])
                    return (value, revision)
                }
            }
        }
        // No other process has changed anything in between.
        reported.withLock { reported in if reported == revision - 1 { reported = revision } }
        return value
    }

    func foreignChanges(within limit: Milliseconds) throws(DatabaseError) -> ForeignChanges {
        try listening.withLock { session throws(DatabaseError) in
            // The connection is checked first: notifications sent without a connection are lost.
            let before = session.generation
            try session.use { connection throws(DatabaseError) in _ = try connection.rows("SELECT 1") }
            if session.generation != before {
                // The caller reads everything after this result.
                _ = try? session.use { connection throws(DatabaseError) in try hasNewRevision(connection) }
                return before == 0 ? .some : .unknown
            }
            let isNews = try session.use { connection throws(DatabaseError) in
                if try hasNewRevision(connection) { return true }
                guard try connection.notifications(within: limit).contains(where: { $0 != name }) else {
                    return false
                }
                _ = try hasNewRevision(connection)
                return true
            }
            if session.generation != before { return .unknown }
            return isNews ? .some : .none
        }
    }

    /// Whether there is an unreported change by another process.
    private func hasNewRevision(_ connection: PostgreSQLConnection) throws(DatabaseError) -> Bool {
        let latest = try CredentialTables.revision(connection).latest
        return reported.withLock { reported in
            defer { reported = latest }
            return reported != latest
        }
    }

    /// A connection that is made when it is needed, and again after it was lost.
    fileprivate struct Session {
        private let info: String
        /// The channel to listen to on every new connection.
        private let channel: String?
        private var connection: PostgreSQLConnection?
        /// The time of the next attempt, on the monotonic clock.
        private var retryAt = LoopInstant.zero
        /// The pause after the next failed attempt.
        private var pause = Self.shortestPause

        private static let shortestPause: Milliseconds = 100
        private static let longestPause: Milliseconds = 1000

        init(_ info: String, _ connection: PostgreSQLConnection?, channel: String? = nil) {
            self.info = info
            self.connection = connection
            self.channel = channel
        }

        /// The number of connections made so far: a listener missed what was sent between two.
        private(set) var generation = 0

        /// Lends the connection. What fails on one that was kept is done again on a new one: the server may have been
        /// restarted meanwhile, and nothing that is done here does harm twice.
        mutating func use<Value>(
            _ body: @Sendable (PostgreSQLConnection) throws(DatabaseError) -> Value
        ) throws(DatabaseError) -> Value {
            if let kept = connection {
                do throws(DatabaseError) { return try body(kept) } catch {
                    guard case .unavailable = error else { throw error }
                    connection = nil
                }
            }
            let fresh = try connect()
            do throws(DatabaseError) { return try body(fresh) } catch {
                if case .unavailable = error { connection = nil }
                throw error
            }
        }

        private mutating func connect() throws(DatabaseError) -> PostgreSQLConnection {
            let now = SystemClock.uptime
            guard now >= retryAt else { throw .unavailable("the connection was lost; the proxy connects again soon") }
            do throws(DatabaseError) {
                let fresh = try PostgreSQLConnection(info)
                // For a server without LISTEN, the number of its latest change is read from time to time.
                if let channel { try fresh.listen(to: channel) }
                connection = fresh
                generation += 1
                pause = Self.shortestPause
                return fresh
            } catch {
                retryAt = now + pause
                pause = min(pause * 2, Self.longestPause)
                throw error
            }
        }
    }

    /// The tables of a store in PostgreSQL, by version.
    fileprivate enum Schema {
        /// The statement that takes the advisory lock of writers; its number is the letters of `attache`, as a number.
        static let lock = "SELECT pg_advisory_xact_lock(27431112437036133)"
        /// The channel of notifications, which contain the name of the connection that made a change.
        static let channel = "attache_credentials"

        /// The migrations, oldest first; the store knows its version.
        private static let migrations = CredentialSchema.versions(bytes: "bytea", number: "bigserial")

        static func migrate(_ connection: PostgreSQLConnection) throws(DatabaseError) {
            // A role needs no right to create tables if they are complete.
            if try version(of: connection) == migrations.count { return }
            try connection.transaction { () throws(DatabaseError) in
                try connection.rows(lock)
                try connection.rows("CREATE TABLE IF NOT EXISTS attache_schema (version integer NOT NULL)")
                let version = try version(of: connection)
                for statement in migrations[version...].joined() { try connection.rows(statement) }
                try connection.rows("DELETE FROM attache_schema")
                try connection.rows("INSERT INTO attache_schema VALUES ($1)", [.integer(Int64(migrations.count))])
            }
        }

        /// The version; 0 without tables.
        static func version(of connection: PostgreSQLConnection) throws(DatabaseError) -> Int {
            let isThere = try connection.rows("SELECT 1 WHERE to_regclass('attache_schema') IS NOT NULL")
            if isThere.isEmpty { return 0 }
            let known = try connection.rows("SELECT version FROM attache_schema").first?.first?.integer
            let version = Int(clamping: known ?? 0)
            return try CredentialSchema.checked(version, among: migrations.count)
        }
    }
}
