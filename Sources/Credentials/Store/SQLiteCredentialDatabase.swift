import Bytes
import Database
import IO
import Synchronization

/// A credential store in one SQLite file.
final class SQLiteCredentialDatabase: CredentialDatabase {
    private let path: String
    private let state: Mutex<State>

    private struct State {
        /// The database; nil while a file that replaced another one cannot be opened.
        var database: SQLiteDatabase?
        var stamp: SmallFile.Stamp?
        /// The stamp of the log file.
        var logStamp: SmallFile.Stamp?
        /// SQLite's own count of changes by other connections.
        var dataVersion: Int64?
        var watch: SQLiteCredentialDatabase.FileWatch?
    }

    /// The state of the file that was opened.
    fileprivate enum Condition {
        case inPlace
        /// The file is being overwritten.
        case incomplete
        /// The file was replaced, or its content was.
        case replaced
        case gone
    }

    /// The schema's versions, oldest first; `user_version` of a file is its version.
    private static let migrations = CredentialSchema.versions(
        bytes: "BLOB", number: "integer", option: " WITHOUT ROWID")

    /// Opens the store, or creates an empty one.
    init(path: String) throws(DatabaseError) {
        self.path = path
        state = Mutex(try Self.open(path))
    }

    private static func open(_ path: String) throws(DatabaseError) -> State {
        let database = try SQLiteDatabase(path: path)
        if try version(of: database) == 0 { try migrate(database) }
        var watch = SQLiteCredentialDatabase.FileWatch(path)
        _ = watch.look(database)
        return State(database: database, stamp: SmallFile.Stamp(path: path), watch: watch)
    }

    private static func migrate(_ database: SQLiteDatabase) throws(DatabaseError) {
        // A store that is up to date can be opened on a full disk.
        if try version(of: database) == migrations.count { return }
        try database.transaction { () throws(DatabaseError) in
            let version = try version(of: database)
            for statement in migrations[version...].joined() { try database.rows(statement) }
            try database.rows("PRAGMA user_version = \(migrations.count)")
        }
    }

    private static func version(of database: SQLiteDatabase) throws(DatabaseError) -> Int {
        let version = Int(clamping: try database.rows("PRAGMA user_version").first?.first?.integer ?? 0)
        return try CredentialSchema.checked(version, among: migrations.count)
    }

    func update() throws(DatabaseError) {
        try state.withLock { state throws(DatabaseError) in try Self.migrate(try database(&state)) }
    }

    func read<Value: Sendable>(
        _ body: @Sendable (any SQLConnection) throws(DatabaseError) -> Value
    ) throws(DatabaseError) -> Value {
        try state.withLock { state throws(DatabaseError) in try body(try database(&state)) }
    }

    func write<Value: Sendable>(
        _ body: @Sendable (any SQLConnection, Int64) throws(DatabaseError) -> Value
    ) throws(DatabaseError) -> Value {
        try state.withLock { state throws(DatabaseError) in
            let database = try database(&state)
            return try database.transaction { () throws(DatabaseError) in
                try database.mark(.random(in: .min ... .max))
                return try body(database, try CredentialTables.nextRevision(database))
            }
        }
    }

    /// A file sends no notifications, so it is polled at short intervals.
    func foreignChanges(within limit: Milliseconds) throws(DatabaseError) -> ForeignChanges {
        var rest = limit
        while true {
            let changes = try foreignChanges()
            guard case .none = changes, rest > 0 else { return changes }
            Pause.take(min(rest, Self.interval))
            rest = rest - Self.interval
        }
    }

    private static let interval: Milliseconds = 250

    private func foreignChanges() throws(DatabaseError) -> ForeignChanges {
        try state.withLock { state throws(DatabaseError) in
            switch condition(&state) {
            case .gone: throw .unavailable("\(path) was removed")
            case .incomplete: throw .unavailable("\(path) is being overwritten")
            case .replaced:
                letGo(&state)
                state = try Self.open(path)
                return .replaced
            case .inPlace:
                // Copies the rest of the log that an ended process left: until then the file may be in the middle of a
                // checkpoint.
                if state.dataVersion == nil { _ = try? state.database?.rows("PRAGMA wal_checkpoint(PASSIVE)") }
                state.logStamp = SmallFile.Stamp(path: SQLiteDatabase.log(of: path))
                let version = try state.database?.rows("PRAGMA data_version").first?.first?.integer
                defer { state.dataVersion = version }
                return state.dataVersion == version ? .none : .some
            }
        }
    }

    /// Closes a file that was replaced. Otherwise its log would be applied to the new file.
    private func letGo(_ state: inout State) {
        let (logStamp, salts) = (state.logStamp, state.database?.logPosition?.salts)
        state.database?.leaveLog()
        state = State()
        let log = SQLiteDatabase.log(of: path)
        guard let logStamp, SmallFile.Stamp(path: log)?.isSameFile(as: logStamp) == true else { return }
        SQLiteDatabase.removeLog(of: path, withSalts: salts)
    }

    private func database(_ state: inout State) throws(DatabaseError) -> SQLiteDatabase {
        // Changes in a removed or replaced file would be lost.
        guard case .inPlace = condition(&state), let database = state.database else {
            throw .unavailable("\(path) was removed or replaced")
        }
        return database
    }

    private func condition(_ state: inout State) -> Condition {
        guard let present = SmallFile.Stamp(path: path) else { return .gone }
        guard let database = state.database, let opened = state.stamp, present.isSameFile(as: opened) else {
            return .replaced
        }
        return state.watch?.look(database) ?? .inPlace
    }

    /// Tells whether a store's file still holds what its connection knows of. SQLite asks only its log for changes: what is
    /// copied over the file goes unnoticed, and mixes with what the log holds.
    ///
    /// The file may change only by a copy from the log into it. If it changed without such a copy, and begins
    /// otherwise than before, then it was written over; each of our changes has it begin otherwise.
    fileprivate struct FileWatch {
        private let path: String
        private var known: Known?

        private struct Known {
            let stamp: SmallFile.Stamp?
            let header: [UInt8]
            var copied: SQLiteDatabase.LogPosition
        }

        init(_ path: String) { self.path = path }

        /// Checks the content of the connection's file.
        mutating func look(_ database: SQLiteDatabase) -> Condition {
            let position = database.logPosition
            // A copy may begin only after the file was looked at.
            if let position, let known, SmallFile.Stamp(path: path) == known.stamp,
                position == known.copied || position.isSettled
            {
                self.known?.copied = position
                return .inPlace
            }
            let present = database.surface { surface in
                Known(stamp: SmallFile.Stamp(path: path), header: surface.header, copied: surface.copied)
            }
            guard let present else { return .inPlace }
            // After a process was killed as it copied, the next one's work looks like no copy.
            if let known, known.stamp != present.stamp, known.copied == present.copied, known.copied.isSettled,
                known.header != present.header
            {
                return Self.isWhole(present.header, present.stamp?.size ?? 0) ? .replaced : .incomplete
            }
            known = present
            return .inPlace
        }

        /// Whether the size of the file matches its header (Database File Format, section 1.3).
        private static func isWhole(_ header: [UInt8], _ size: Int) -> Bool {
            guard size >= header.count else { return false }
            // A file that is not a database fails when it is opened.
            guard header.starts(with: Array("SQLite format 3\0".utf8)) else { return true }
            let number = { (range: Range<Int>) in header[range].reduce(0) { $0 << 8 | Int($1) } }
            let pageSize = number(16..<18) == 1 ? 65536 : number(16..<18)
            return size >= number(28..<32) * pageSize
        }
    }
}
