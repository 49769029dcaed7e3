import Authentication
import Database
import IO
import Synchronization

/// A credential store in one SQLite file.
final class SQLiteCredentialDatabase: CredentialDatabase {
    private let path: String
    private let state: Mutex<State>

    private struct State {
        /// Nil while the file cannot be opened that has taken the place of another.
        var database: SQLiteDatabase?
        var stamp: FileStamp?
        /// That of its log.
        var logStamp: FileStamp?
        /// SQLite's own number of changes that others made.
        var dataVersion: Int64?
    }

    /// The schema's versions, oldest first; a file says in `user_version` which it has. A realm stands behind `=`, so
    /// that none and the empty one differ.
    private static let migrations = [
        [
            """
            CREATE TABLE attache_store_key (
                one INTEGER PRIMARY KEY CHECK (one = 1), wrapping_key TEXT NOT NULL, wrapped BLOB NOT NULL
            )
            """,
            """
            CREATE TABLE attache_credentials (
                host TEXT NOT NULL, port INTEGER NOT NULL, protocol TEXT NOT NULL, proxy INTEGER NOT NULL,
                realm TEXT NOT NULL, method TEXT NOT NULL, "user" TEXT NOT NULL,
                is_default INTEGER NOT NULL, sealed BLOB NOT NULL,
                PRIMARY KEY (host, port, protocol, proxy, realm, method, "user")
            ) WITHOUT ROWID
            """,
            """
            CREATE TABLE attache_refusals (
                number INTEGER PRIMARY KEY,
                host TEXT NOT NULL, port INTEGER NOT NULL, protocol TEXT NOT NULL, proxy INTEGER NOT NULL,
                realm TEXT NOT NULL, method TEXT NOT NULL, name TEXT NOT NULL, fingerprint BLOB NOT NULL,
                UNIQUE (host, port, protocol, proxy, realm, method, name, fingerprint)
            )
            """,
        ],
        CredentialSchema.numberedChanges(bytes: "BLOB"),
    ]

    /// Opens the store, or makes an empty one.
    init(path: String) throws(DatabaseError) {
        self.path = path
        state = Mutex(try Self.open(path))
    }

    private static func open(_ path: String) throws(DatabaseError) -> State {
        let database = try SQLiteDatabase(path: path)
        try migrate(database)
        return State(database: database, stamp: FileStamp(path: path))
    }

    private static func migrate(_ database: SQLiteDatabase) throws(DatabaseError) {
        // A store that is up to date opens on a disk that has no room left.
        let present = try database.rows("PRAGMA user_version").first?.first?.integer
        if present == Int64(migrations.count) { return }
        try database.transaction { () throws(DatabaseError) in
            let version = Int(try database.rows("PRAGMA user_version").first?.first?.integer ?? 0)
            guard version <= migrations.count else {
                throw .unusable("it was made by a later version of this program (schema \(version))")
            }
            for statement in migrations[version...].joined() { try database.rows(statement) }
            try database.rows("PRAGMA user_version = \(migrations.count)")
        }
    }

    func read<Value: Sendable>(
        _ body: @Sendable (any SQLConnection) throws(DatabaseError) -> Value
    ) throws(DatabaseError) -> Value {
        try state.withLock { state throws(DatabaseError) in try body(try database(state)) }
    }

    func write<Value: Sendable>(
        _ body: @Sendable (any SQLConnection, Int64) throws(DatabaseError) -> Value
    ) throws(DatabaseError) -> Value {
        try state.withLock { state throws(DatabaseError) in
            let database = try database(state)
            return try database.transaction { () throws(DatabaseError) in
                try body(database, try CredentialTables.nextRevision(database))
            }
        }
    }

    /// A file tells nobody that it was changed: it is asked at short intervals.
    func foreignChanges(within limit: Int) throws(DatabaseError) -> ForeignChanges {
        var rest = limit
        while true {
            let changes = try foreignChanges()
            guard case .none = changes, rest > 0 else { return changes }
            Pause.milliseconds(min(rest, Self.interval))
            rest -= Self.interval
        }
    }

    private static let interval = 250

    private func foreignChanges() throws(DatabaseError) -> ForeignChanges {
        try state.withLock { state throws(DatabaseError) in
            guard isInPlace(state) else {
                guard SmallFile.exists(path) else { throw .unavailable("\(path) was taken away") }
                let log = state.logStamp
                state = State(logStamp: log)
                if let log, FileStamp(path: SQLiteDatabase.log(of: path))?.isSameFile(as: log) == true {
                    SQLiteDatabase.removeLog(of: path)
                }
                state = try Self.open(path)
                return .replaced
            }
            state.logStamp = FileStamp(path: SQLiteDatabase.log(of: path))
            let version = try database(state).rows("PRAGMA data_version").first?.first?.integer
            defer { state.dataVersion = version }
            return state.dataVersion == version ? .none : .some
        }
    }

    private func database(_ state: borrowing State) throws(DatabaseError) -> SQLiteDatabase {
        // What is written to a file that has lost its name is lost.
        guard let database = state.database, isInPlace(state) else {
            throw .unavailable("\(path) was taken away or replaced")
        }
        return database
    }

    private func isInPlace(_ state: borrowing State) -> Bool {
        guard let opened = state.stamp, let present = FileStamp(path: path) else { return false }
        return present.isSameFile(as: opened)
    }
}
