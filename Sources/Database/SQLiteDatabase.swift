import CSQLite
import Glibc

/// A SQLite database file. Every call blocks; one thread at a time.
public final class SQLiteDatabase: SQLConnection {
    let connection: OpaquePointer
    private let path: String
    private(set) var hasLog = false
    private var statements: [String: OpaquePointer] = [:]

    /// How long a writer waits for another process's transaction, in milliseconds.
    private static let patience: Int32 = 10_000

    /// Opens the file, or makes an empty one. Committed means on the disk: write-ahead log with full synchronisation.
    /// A file that is made is its owner's alone, and so are those that SQLite puts beside it.
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
        sqlite3_busy_timeout(opened, Self.patience)
        // Not part of the schema: each connection says it anew.
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

    /// Removes the log of a database whose file has lost its name or its content: whoever opens another file of that name
    /// would take it for that one's.
    ///
    /// - Parameter salts: those of the log, if they are known; one with others came with the file.
    public static func removeLog(of path: String, withSalts salts: [UInt8]?) {
        let log = log(of: path)
        if salts == nil || Self.salts(ofLog: log) == salts { unlink(log) }
        unlink(path + "-shm")
    }

    /// WAL-mode File Format, section 1.
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
        try step(sql, parameters) { statement throws(DatabaseError) in try body(SQLiteRow(statement: statement)) }
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
            // Its places count in the order in which the names first occur.
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
        let row = SQLiteRow(statement: statement)
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
        // The part that several processes share besides the file wants room as well.
        case SQLITE_IOERR where sqlite3_system_errno(connection) == ENOSPC:
            return .full("\(path): no space left on the disk")
        case SQLITE_NOTADB, SQLITE_CORRUPT: return .unusable(cause)
        case SQLITE_CANTOPEN, SQLITE_BUSY, SQLITE_READONLY, SQLITE_IOERR: return .unavailable(cause)
        default: return .failed(cause)
        }
    }
}

/// The file beneath a connection: SQLite looks at its log, and never whether another program has written to the file.
extension SQLiteDatabase {
    /// The first bytes of the file when it was looked at, and how much of the log had been copied into it by then.
    public struct Surface: Sendable, Equatable {
        /// Database File Format, section 1.3. Zeros behind the end of the file.
        public let header: [UInt8]
        /// Another one whenever somebody copies from the log into the file, from before it begins.
        public let copied: LogPosition
    }

    /// Where the copying from a log into the file stands.
    public struct LogPosition: Sendable, Equatable {
        fileprivate let values: [UInt32]

        /// Whether nobody is at it, unless somebody was killed who was.
        public var isSettled: Bool { values[2] == values[3] }
        /// As the log file has them at its byte 16.
        public var salts: [UInt8] { values.prefix(2).flatMap { value in withUnsafeBytes(of: value) { Array($0) } } }
    }

    /// Nil where there is no write-ahead log.
    public var logPosition: LogPosition? {
        var values: [UInt32] = [0, 0, 0, 0]
        guard hasLog, attache_sqlite3_read_log_index(connection, &values) == 1 else { return nil }
        return LogPosition(values: values)
    }

    /// Nil where there is no write-ahead log, and while somebody copies from it into the file.
    ///
    /// - Parameter body: called while nobody can.
    public func surface<Value>(_ body: (Surface) -> Value) -> Value? {
        guard hasLog, attache_sqlite3_lock_checkpoints(connection, 1) == 1 else { return nil }
        defer { _ = attache_sqlite3_lock_checkpoints(connection, 0) }
        var header = [UInt8](repeating: 0, count: 100)
        guard let copied = logPosition, attache_sqlite3_read_header(connection, &header) == 1 else { return nil }
        return body(Surface(header: header, copied: copied))
    }

    /// Gives the file's first page another mark: without one a change need not touch that page. To be called in the
    /// transaction that changes something.
    public func mark(_ value: Int32) throws(DatabaseError) {
        // Each is another statement, and none is worth keeping.
        guard sqlite3_exec(connection, "PRAGMA application_id = \(value)", nil, nil, nil) == SQLITE_OK else {
            throw failure()
        }
    }

    /// The log is not copied into the file when the connection closes: the file is another one by now.
    public func leaveLog() { attache_sqlite3_keep_log(connection) }
}

/// The row that a statement stands at.
private struct SQLiteRow: DatabaseRow {
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
        // Not up to its first zero byte: that would be another text.
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
