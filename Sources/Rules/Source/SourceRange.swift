/// A run of bytes in one file of a rule set; empty only where something is missing.
public struct SourceRange: Hashable, Sendable {
    /// The file's number in its `SourceMap`.
    public let file: Int
    public let bytes: Range<Int>

    public init(file: Int, bytes: Range<Int>) {
        self.file = file
        self.bytes = bytes
    }

    /// From the start of this range to the end of `other`, which lies behind it in the same file.
    func through(_ other: SourceRange) -> SourceRange {
        guard other.file == file, other.bytes.upperBound >= bytes.lowerBound else { return self }
        return SourceRange(file: file, bytes: bytes.lowerBound..<other.bytes.upperBound)
    }
}
