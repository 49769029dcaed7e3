/// The files of one rule set, in the order in which they were opened.
public struct SourceMap: Sendable {
    public private(set) var files: [SourceFile] = []

    /// Returns a file; nil for a number without a file.
    public func file(_ number: Int) -> SourceFile? {
        files.indices.contains(number) ? files[number] : nil
    }

    /// The place of a range's first byte as `file:line:column`.
    public func place(of range: SourceRange) -> String {
        guard let file = file(range.file) else { return "" }
        let position = file.position(of: range.bytes.lowerBound)
        return "\(file.path):\(position.line):\(position.column)"
    }

    mutating func append(_ file: SourceFile) -> Int {
        files.append(file)
        return files.count - 1
    }

    mutating func hide(_ secrets: [Range<Int>], in number: Int) {
        guard files.indices.contains(number) else { return }
        files[number].secrets = secrets
    }
}

/// A range of bytes in one file of a rule set; empty only where something is missing.
public struct SourceRange: Hashable, Sendable {
    /// The file's number in its `SourceMap`.
    public let file: Int
    public let bytes: Range<Int>

    /// The range from the start of this one to the end of `other`, which follows it in the same file.
    func through(_ other: SourceRange) -> SourceRange {
        guard other.file == file, other.bytes.upperBound >= bytes.lowerBound else { return self }
        return SourceRange(file: file, bytes: bytes.lowerBound..<other.bytes.upperBound)
    }
}
