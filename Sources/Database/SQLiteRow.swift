import CSQLite

/// The row that a statement stands at.
struct SQLiteRow: DatabaseRow {
    let statement: OpaquePointer

    func integer(_ column: Int) -> Int64? {
        isOf(SQLITE_INTEGER, column) ? sqlite3_column_int64(statement, Int32(clamping: column)) : nil
    }

    func text(_ column: Int) -> String? {
        guard isOf(SQLITE_TEXT, column) else { return nil }
        return sqlite3_column_text(statement, Int32(clamping: column)).map { String(cString: $0) } ?? ""
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
