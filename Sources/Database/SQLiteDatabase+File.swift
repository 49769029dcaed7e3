import CSQLite

/// What lies beneath a connection: SQLite looks at its log, and never whether somebody else has written to the file.
extension SQLiteDatabase {
    /// What the file began with when it was looked at, and how much of the log had been copied into it by then.
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

    /// What the log holds is not copied into the file when the connection closes: the file is another one by now.
    public func leaveLog() { attache_sqlite3_keep_log(connection) }
}
