/// A connection to a database, whichever it is. Every call blocks; one thread at a time.
public protocol SQLConnection: AnyObject {
    /// What begins a transaction that is to write.
    static var transactionStart: String { get }
    /// What begins a transaction that only reads, and sees none of what others write meanwhile.
    static var snapshotStart: String { get }

    /// Carries a statement out and returns its rows. Parameters stand as `$1`, `$2` … in it, in their order.
    @discardableResult
    func rows(_ sql: String, _ parameters: [DatabaseValue]) throws(DatabaseError) -> [[DatabaseValue]]

    /// The same for more rows than should be held at once: each is lent to `body` as it comes. Nothing else may be asked
    /// of the connection meanwhile.
    func forEachRow(
        _ sql: String, _ parameters: [DatabaseValue], _ body: (any DatabaseRow) throws(DatabaseError) -> Void
    ) throws(DatabaseError)
}

extension SQLConnection {
    @discardableResult
    public func rows(_ sql: String) throws(DatabaseError) -> [[DatabaseValue]] { try rows(sql, []) }

    /// Carries `body` out as a whole or not at all.
    public func transaction<Value>(_ body: () throws(DatabaseError) -> Value) throws(DatabaseError) -> Value {
        try transaction(Self.transactionStart, body)
    }

    /// What `body` reads is as of one moment.
    public func snapshot<Value>(_ body: () throws(DatabaseError) -> Value) throws(DatabaseError) -> Value {
        try transaction(Self.snapshotStart, body)
    }

    private func transaction<Value>(
        _ start: String, _ body: () throws(DatabaseError) -> Value
    ) throws(DatabaseError) -> Value {
        try rows(start)
        do throws(DatabaseError) {
            let value = try body()
            try rows("COMMIT")
            return value
        } catch {
            _ = try? rows("ROLLBACK")
            throw error
        }
    }
}
