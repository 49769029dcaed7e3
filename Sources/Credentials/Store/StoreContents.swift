import Database

/// All that a store holds, as of one moment, but for its key: what is sealed stays so.
struct StoreContents: Sendable, Equatable {
    private(set) var rows: [StoreTable: [[DatabaseValue]]] = [:]

    init(_ connection: some SQLConnection) throws(DatabaseError) {
        for table in StoreTable.allCases {
            rows[table] = try connection.rows("SELECT \(table.columns) FROM \(table.rawValue)\(table.order)")
        }
    }

    var isEmpty: Bool { rows.values.allSatisfy(\.isEmpty) }

    func count(of table: StoreTable) -> Int { rows[table]?.count ?? 0 }

    /// Whether the other has the same rows, in whatever order.
    func hasSameRows(as other: StoreContents) -> Bool {
        StoreTable.allCases.allSatisfy { table in
            count(of: table) == other.count(of: table) && Set(rows[table] ?? []) == Set(other.rows[table] ?? [])
        }
    }

    /// Puts it in the place of what a store holds. Whoever follows that store reads all of it.
    func write(at revision: Int64, to connection: some SQLConnection) throws(DatabaseError) {
        for table in StoreTable.allCases {
            try connection.rows("DELETE FROM \(table.rawValue)")
            let columns = table.isNumbered ? "\(table.columns), revision" : table.columns
            for row in rows[table] ?? [] {
                let values = table.isNumbered ? row + [.integer(revision)] : row
                let places = values.indices.map { "$\($0 + 1)" }.joined(separator: ", ")
                try connection.rows("INSERT INTO \(table.rawValue) (\(columns)) VALUES (\(places))", values)
            }
        }
        try connection.rows("DELETE FROM attache_removals")
        try connection.rows("UPDATE attache_revision SET refusals = $1, forgotten = $1", [.integer(revision)])
    }
}
