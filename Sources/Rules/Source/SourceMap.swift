/// The files of one rule set, in the order in which they were opened.
public struct SourceMap: Sendable {
    public private(set) var files: [SourceFile] = []

    /// Nil for a number that names no file.
    public func file(_ number: Int) -> SourceFile? {
        files.indices.contains(number) ? files[number] : nil
    }

    /// `file:line:column` of a range's first byte.
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
