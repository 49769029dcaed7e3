import CPostgreSQL

/// The one row of a result in binary form.
struct PostgreSQLRow: DatabaseRow {
    let connection: PostgreSQLConnection
    let result: OpaquePointer

    func integer(_ column: Int) -> Int64? {
        guard PostgreSQLConnection.TypeNumber.integers.contains(type(of: column)), let content = content(column) else {
            return nil
        }
        // Two, four or eight bytes, the most significant first.
        let bits = content.reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        let unused = UInt64.bitWidth - content.count * 8
        return unused < 0 ? nil : Int64(bitPattern: bits << UInt64(unused)) >> Int64(unused)
    }

    func text(_ column: Int) -> String? {
        guard type(of: column) == PostgreSQLConnection.TypeNumber.text, let content = content(column) else {
            return nil
        }
        return String(validating: content, as: UTF8.self)
    }

    func words(_ column: Int) -> String {
        if let number = integer(column) { return "\(number)" }
        guard type(of: column) == PostgreSQLConnection.TypeNumber.text, let content = content(column) else { return "" }
        return String(decoding: content, as: UTF8.self)
    }

    func bytes(_ column: Int) -> [UInt8]? {
        guard type(of: column) == PostgreSQLConnection.TypeNumber.bytes, let content = content(column) else {
            return nil
        }
        return Array(content)
    }

    private func type(of column: Int) -> Oid { connection.library.ftype(result, Int32(clamping: column)) }

    private func content(_ column: Int) -> UnsafeRawBufferPointer? {
        let column = Int32(clamping: column)
        guard connection.library.getisnull(result, 0, column) == 0 else { return nil }
        return UnsafeRawBufferPointer(
            start: connection.library.getvalue(result, 0, column),
            count: Int(connection.library.getlength(result, 0, column)))
    }
}
