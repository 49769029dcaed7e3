import Bytes
import CSQLite
import Glibc

/// A SQLite database file. Every call blocks; one thread at a time.
public final class SQLiteDatabase: SQLConnection {
    let connection: OpaquePointer
    private let path: String
    private(set) var hasLog = false
    private var statements: [String: OpaquePointer] = [:]

    /// The time that a writer waits for another process's transaction.
    private static let patience = Milliseconds.seconds(10)

    /// Opens the file, or creates an empty one. A committed change is on the disk: write-ahead log with full
    /// synchronisation. Only the owner can access a created file, and the files that SQLite adds beside it.
    public init(path: String) throws(DatabaseError) {
        let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw .unavailable("\(path): \(String(cString: strerror(errno)))") }
        close(descriptor)
        var opened: OpaquePointer?
        let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE
        let result = sqlite3_open_v2(path, &opened, flags, nil)
        guard result == SQLITE_OK, let opened else {
            let cause = opened.map { String(cString: sqlite3_errmsg($0)) } ?? String(cString: sqlite3_errstr(result))
            sqlite3_close_v2(opened)
            throw .unavailable("\(path): \(cause)")
        }
        connection = opened
        self.path = path
        sqlite3_busy_timeout(opened, Int32(clamping: Self.patience.count))
        // These settings are not part of the schema: each connection sets them.
        hasLog = try rows("PRAGMA journal_mode=WAL").first?.first?.text == "wal"
        for pragma in ["synchronous=FULL", "foreign_keys=ON", "trusted_schema=OFF"] {
            _ = try rows("PRAGMA \(pragma)")
        }
    }

    deinit {
        for statement in statements.values { sqlite3_finalize(statement) }
        sqlite3_close_v2(connection)
    }

    public static var transactionStart: String { "BEGIN IMMEDIATE" }
    public static var snapshotStart: String { "BEGIN" }

    /// The file of the write-ahead log beside a database.
    public static func log(of path: String) -> String { path + "-wal" }

    /// Removes the log of a database whose file was removed or overwritten. Otherwise the next open of a file with that
    /// name would apply it.
    ///
    /// - Parameter salts: the salts of the log; nil: unknown. A log with other salts belongs to the new file.
    public static func removeLog(of path: String, withSalts salts: [UInt8]?) {
        let log = log(of: path)
        if salts == nil || Self.salts(ofLog: log) == salts { unlink(log) }
        unlink(path + "-shm")
    }

    /// The salts of a log file (WAL-mode File Format, section 1).
    private static func salts(ofLog path: String) -> [UInt8]? {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var salts = [UInt8](repeating: 0, count: 8)
        return pread(descriptor, &salts, salts.count, 16) == salts.count ? salts : nil
    }

    @discardableResult
    public func rows(_ sql: String, _ parameters: [DatabaseValue]) throws(DatabaseError) -> [[DatabaseValue]] {
        var rows: [[DatabaseValue]] = []
        try step(sql, parameters) { statement throws(DatabaseError) in rows.append(row(of: statement)) }
        return rows
    }

    public func forEachRow(
        _ sql: String, _ parameters: [DatabaseValue], _ body: (any DatabaseRow) throws(DatabaseError) -> Void
    ) throws(DatabaseError) {
        try step(sql, parameters) { statement throws(DatabaseError) in
            try body(SQLiteDatabase.Row(statement: statement))
        }
    }

    private func step(
        _ sql: String, _ parameters: [DatabaseValue], _ body: (OpaquePointer) throws(DatabaseError) -> Void
    ) throws(DatabaseError) {
        let statement = try statement(sql)
        defer {
            sqlite3_reset(statement)
            sqlite3_clear_bindings(statement)
        }
        for (index, value) in parameters.enumerated() {
            // SQLite numbers parameters in the order in which their names first occur.
            let index = sqlite3_bind_parameter_index(statement, "$\(index + 1)")
            guard index == 0 || bind(value, at: index, of: statement) == SQLITE_OK else { throw failure() }
        }
        while true {
            switch sqlite3_step(statement) {
            case SQLITE_ROW: try body(statement)
            case SQLITE_DONE: return
            default: throw failure()
            }
        }
    }

    private func statement(_ sql: String) throws(DatabaseError) -> OpaquePointer {
        if let known = statements[sql] { return known }
        var made: OpaquePointer?
        guard sqlite3_prepare_v3(connection, sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &made, nil) == SQLITE_OK,
            let made
        else { throw failure() }
        statements[sql] = made
        return made
    }

    private func bind(_ value: DatabaseValue, at index: Int32, of statement: OpaquePointer) -> Int32 {
        switch value {
        case .null: return sqlite3_bind_null(statement, index)
        case .integer(let number): return sqlite3_bind_int64(statement, index, number)
        case .text(var text):
            return text.withUTF8 { text in
                text.withMemoryRebound(to: CChar.self) {
                    attache_sqlite3_bind_text(statement, index, $0.baseAddress, Int32(clamping: $0.count))
                }
            }
        case .bytes(let bytes):
            return bytes.withUnsafeBytes {
                attache_sqlite3_bind_blob(statement, index, $0.baseAddress, Int32(clamping: $0.count))
            }
        }
    }

    private func row(of statement: OpaquePointer) -> [DatabaseValue] {
        let row = SQLiteDatabase.Row(statement: statement)
        return (0..<Int(sqlite3_column_count(statement))).map { column in
            if let number = row.integer(column) { return .integer(number) }
            if let text = row.text(column) { return .text(text) }
            return row.bytes(column).map { .bytes($0) } ?? .null
        }
    }

    func failure() -> DatabaseError {
        let cause = "\(path): \(String(cString: sqlite3_errmsg(connection)))"
        switch sqlite3_errcode(connection) & 0xFF {
        case SQLITE_FULL: return .full(cause)
        // The shared-memory file beside the database needs space too.
        case SQLITE_IOERR where sqlite3_system_errno(connection) == ENOSPC:
            return .full("\(path): no space left on the disk")
        case SQLITE_NOTADB, SQLITE_CORRUPT: return .unusable(cause)
        case SQLITE_CANTOPEN, SQLITE_BUSY, SQLITE_READONLY, SQLITE_IOERR: return .unavailable(cause)
        default: return .failed(cause)
        }
    }
}

/// The file of a connection: SQLite checks its log, but never whether another program has written to the file.
extension SQLiteDatabase {
    /// The first bytes of the file at the time of the check, and how much of the log had been copied into it.
    public struct Surface: Sendable, Equatable {
        /// The header of the file (Database File Format, section 1.3). Zeros beyond the end of the file.
        public let header: [UInt8]
        /// The checkpoint state. It changes with every copy from the log into the file, before the copying begins.
        public let copied: LogPosition
    }

    /// The checkpoint position: the state of copying from a log into the file.
    public struct LogPosition: Sendable, Equatable {
        fileprivate let values: [UInt32]

        /// Whether no process is copying, unless a process was killed while it copied.
        public var isSettled: Bool { values[2] == values[3] }
        /// The salts, as in the log file at byte 16.
        public var salts: [UInt8] { values.prefix(2).flatMap { value in withUnsafeBytes(of: value) { Array($0) } } }
    }

    /// Nil without a write-ahead log.
    public var logPosition: LogPosition? {
        var values: [UInt32] = [0, 0, 0, 0]
        guard hasLog, attache_sqlite3_read_log_index(connection, &values) == 1 else { return nil }
        return LogPosition(values: values)
    }

    /// Reads the surface of the file. Nil without a write-ahead log, and while a process copies the log into the file.
    ///
    /// - Parameter body: called while no process can copy.
    public func surface<Value>(_ body: (Surface) -> Value) -> Value? {
        guard hasLog, attache_sqlite3_lock_checkpoints(connection, 1) == 1 else { return nil }
        defer { _ = attache_sqlite3_lock_checkpoints(connection, 0) }
        var header = [UInt8](repeating: 0, count: 100)
        guard let copied = logPosition, attache_sqlite3_read_header(connection, &header) == 1 else { return nil }
        return body(Surface(header: header, copied: copied))
    }

    /// Changes a mark on the file's first page: without it a change need not touch that page. Call it in the
    /// transaction that makes the change.
    public func mark(_ value: Int32) throws(DatabaseError) {
        // Each of these statements differs, so none is cached.
        guard sqlite3_exec(connection, "PRAGMA application_id = \(value)", nil, nil, nil) == SQLITE_OK else {
            throw failure()
        }
    }

    /// Leaves the log when the connection closes, without copying it into the file, since the file is another one now.
    public func leaveLog() { attache_sqlite3_keep_log(connection) }

    /// The current row of a statement.
    fileprivate struct Row: DatabaseRow {
        let statement: OpaquePointer

        func integer(_ column: Int) -> Int64? {
            isOf(SQLITE_INTEGER, column) ? sqlite3_column_int64(statement, Int32(clamping: column)) : nil
        }

        func text(_ column: Int) -> String? { textBytes(column).flatMap { String(validating: $0, as: UTF8.self) } }

        func words(_ column: Int) -> String {
            textBytes(column).map { String(decoding: $0, as: UTF8.self) } ?? integer(column).map { "\($0)" } ?? ""
        }

        private func textBytes(_ column: Int) -> UnsafeBufferPointer<UInt8>? {
            guard isOf(SQLITE_TEXT, column) else { return nil }
            let column = Int32(clamping: column)
            // Not a C string: that would end at the first zero byte.
            let start = sqlite3_column_text(statement, column)
            let count = Int(sqlite3_column_bytes(statement, column))
            return UnsafeBufferPointer(start: start, count: start == nil ? 0 : count)
        }

        func bytes(_ column: Int) -> [UInt8]? {
            guard isOf(SQLITE_BLOB, column) else { return nil }
            let column = Int32(clamping: column)
            return Array(
                UnsafeRawBufferPointer(
                    start: sqlite3_column_blob(statement, column), count: Int(sqlite3_column_bytes(statement, column))))
        }

        private func isOf(_ type: Int32, _ column: Int) -> Bool {
            sqlite3_column_type(statement, Int32(clamping: column)) == type
        }
    }
}
