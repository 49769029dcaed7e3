/// Where a byte stands for a reader: both numbers count from 1, the column in Unicode scalars.
public struct SourcePosition: Hashable, Sendable {
    public let line: Int
    public let column: Int
}
