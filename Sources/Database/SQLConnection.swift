/// A connection to a database, whichever it is. Every call blocks; one thread at a time.
public protocol SQLConnection: AnyObject {
    /// Carries a statement out and returns its rows. Parameters stand as `$1`, `$2` … in it, in their order.
    @discardableResult
    func rows(_ sql: String, _ parameters: [DatabaseValue]) throws(DatabaseError) -> [[DatabaseValue]]

    /// Carries `body` out as a whole or not at all.
    func transaction<Value>(_ body: () throws(DatabaseError) -> Value) throws(DatabaseError) -> Value
}

extension SQLConnection {
    @discardableResult
    public func rows(_ sql: String) throws(DatabaseError) -> [[DatabaseValue]] { try rows(sql, []) }
}
