/// A connection to a database of any kind. Every call blocks; one thread at a time.
public protocol SQLConnection: AnyObject {
    /// The statement that begins a transaction for writing.
    static var transactionStart: String { get }
    /// The statement that begins a transaction that only reads, and sees no later changes.
    static var snapshotStart: String { get }

    /// Executes a statement and returns its rows. Its parameters are `$1`, `$2` … in order.
    @discardableResult
    func rows(_ sql: String, _ parameters: [DatabaseValue]) throws(DatabaseError) -> [[DatabaseValue]]

    /// Executes a statement with many rows: each is lent to `body` as it arrives. The connection cannot be used for
    /// other calls meanwhile.
    func forEachRow(
        _ sql: String, _ parameters: [DatabaseValue], _ body: (any DatabaseRow) throws(DatabaseError) -> Void
    ) throws(DatabaseError)
}

extension SQLConnection {
    @discardableResult
    public func rows(_ sql: String) throws(DatabaseError) -> [[DatabaseValue]] { try rows(sql, []) }

    /// Executes `body` as a transaction: completely or not at all.
    public func transaction<Value>(_ body: () throws(DatabaseError) -> Value) throws(DatabaseError) -> Value {
        try transaction(Self.transactionStart, body)
    }

    /// Executes `body` so that all its reads see the same state.
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

/// One row of a result, as long as it is lent. Columns count from 0. A column of another type gives nil, like a text
/// that is not UTF-8.
public protocol DatabaseRow {
    func integer(_ column: Int) -> Int64?
    func text(_ column: Int) -> String?
    func bytes(_ column: Int) -> [UInt8]?
    /// The value of a column, for a message: an integer or a text, in which bytes that are not UTF-8 are replaced.
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

/// A row that was stored.
extension [DatabaseValue]: DatabaseRow {
    public func integer(_ column: Int) -> Int64? { indices.contains(column) ? self[column].integer : nil }
    public func text(_ column: Int) -> String? { indices.contains(column) ? self[column].text : nil }
    public func bytes(_ column: Int) -> [UInt8]? { indices.contains(column) ? self[column].bytes : nil }
    public func words(_ column: Int) -> String { text(column) ?? integer(column).map { "\($0)" } ?? "" }
}

/// An error of a database. The texts are the library's own and contain no stored value.
public enum DatabaseError: Error, Equatable, Sendable, CustomStringConvertible {
    /// The database cannot be opened or reached.
    case unavailable(String)
    /// The database refused a statement, or failed.
    case failed(String)
    /// There is no space for the data.
    case full(String)
    /// The file is damaged, or not a database of this program.
    case unusable(String)
    /// The work was stopped before its end; nothing was written.
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
