import Bytes

/// The head of a response as servers wrote it before RFC 7230, made one that keeps to RFC 9112: lines that end in a line
/// feed alone, white space before a colon (section 5.1 has a proxy remove it) and folded lines (section 5.2).
///
/// Only responses are treated so. A server that says something two ways harms itself alone: the client reads what we write,
/// and the connection is not used again. In a request the same is how one client's request is slipped into another's.
enum LenientHead {
    /// Appends the head that `bytes` are, up to its empty line, and that line.
    static func append(_ bytes: Span<UInt8>, to buffer: ByteBuffer) throws(Defect) {
        var reader = LineReader()
        var count = 0
        while let line = try reader.nextLenient(bytes, limit: bytes.count, or: .incomplete), !line.isEmpty {
            if count == 0 {
                buffer.append(bytes.extracting(line))
            } else if bytes[line.lowerBound].isBlank {
                guard count > 1 else { throw .blankBeforeFirstField }
                buffer.append(.space)
                buffer.append(bytes.extracting(bytes.trimmingBlanks(line)))
            } else {
                buffer.append(literal: "\r\n")
                try LenientField(bytes, line: line).append(bytes, to: buffer)
            }
            count += 1
            reader.advance(to: LineReader.lineEnd(behind: line, in: bytes))
        }
        buffer.append(literal: "\r\n\r\n")
    }
}

/// A field line as `LenientHead` takes it.
struct LenientField {
    let name: Range<Int>
    /// Without white space at either end. May be empty.
    let value: Range<Int>

    /// - Parameter line: without its line end, free of control characters, and not folded.
    init(_ bytes: Span<UInt8>, line: Range<Int>) throws(Defect) {
        let nameEnd = bytes.endOfToken(in: line)
        var colon = nameEnd
        while colon < line.upperBound, bytes[colon].isBlank { colon &+= 1 }
        guard colon < line.upperBound else { throw .missingColon }
        guard bytes[colon] == .colon, nameEnd > line.lowerBound else { throw .malformedFieldName }
        name = line.lowerBound..<nameEnd
        value = bytes.trimmingBlanks(colon &+ 1..<line.upperBound)
    }

    /// Whether nothing but the line's end is unusual about it.
    func isRegular(_ bytes: Span<UInt8>) -> Bool { bytes[name.upperBound] == .colon }

    /// Appends it without a line end.
    func append(_ bytes: Span<UInt8>, to buffer: ByteBuffer) {
        buffer.append(bytes.extracting(name))
        buffer.append(literal: ": ")
        buffer.append(bytes.extracting(value))
    }
}
