/// A connection to a database, whichever it is. Every call blocks; one thread at a time.
public protocol SQLConnection: AnyObject {
    /// The statement that begins a transaction that is to write.
    static var transactionStart: String { get }
    /// The statement that begins a transaction that only reads, and sees no later changes of others.
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

    /// All reads of `body` see the same moment.
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

/// One row of an answer, for as long as it is lent. Columns count from 0; what a column holds of another kind is nil, and
/// so is a text that is no UTF-8.
public protocol DatabaseRow {
    func integer(_ column: Int) -> Int64?
    func text(_ column: Int) -> String?
    func bytes(_ column: Int) -> [UInt8]?
    /// The value of a column, for a message: an integer or a text, in which bytes that are no UTF-8 are replaced.
    func words(_ column: Int) -> String
}

/// A value of a row or of a statement's parameter.
public enum DatabaseValue: Sendable, Hashable {
    case null
    case integer(Int64)
    case text(String)
    case bytes([UInt8])

    public var integer: Int64? {
        if case .integer(let value) = self { value } else { nil }
    }

    public var text: String? {
        if case .text(let value) = self { value } else { nil }
    }

    public var bytes: [UInt8]? {
        if case .bytes(let value) = self { value } else { nil }
    }
}

/// A row that was kept.
extension [DatabaseValue]: DatabaseRow {
    public func integer(_ column: Int) -> Int64? { indices.contains(column) ? self[column].integer : nil }
    public func text(_ column: Int) -> String? { indices.contains(column) ? self[column].text : nil }
    public func bytes(_ column: Int) -> [UInt8]? { indices.contains(column) ? self[column].bytes : nil }
    public func words(_ column: Int) -> String { text(column) ?? integer(column).map { "\($0)" } ?? "" }
}

/// A failure of a database. The texts are the library's own and hold no stored value.
public enum DatabaseError: Error, Equatable, Sendable, CustomStringConvertible {
    /// It cannot be opened or reached.
    case unavailable(String)
    /// It refused or failed at a statement.
    case failed(String)
    /// There is no room for what is to be written.
    case full(String)
    /// It is none of ours, or damaged.
    case unusable(String)
    /// Somebody stopped the work before its end; nothing of it was written.
    case stopped

    public var description: String {
        switch self {
        case .unavailable(let cause): "the database cannot be reached: \(cause)"
        case .failed(let cause): "the database refused a statement: \(cause)"
        case .full(let cause): "the database has no room: \(cause)"
        case .unusable(let cause): "the database cannot be used: \(cause)"
        case .stopped: "the work was stopped, and nothing of it was written"
        }
    }
}
