import CSQLite

/// The row that a statement stands at.
struct SQLiteRow: DatabaseRow {
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
