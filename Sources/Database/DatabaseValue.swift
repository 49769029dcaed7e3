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
