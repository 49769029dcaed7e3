import Bytes

/// Converts the head of a response in the style before RFC 7230 to one of RFC 9112: it accepts bare line feeds, white
/// space before a colon (section 5.1 lets a proxy remove it) and folded lines (section 5.2).
///
/// Only responses are treated so. A server with an ambiguous response harms only itself: the client reads our version,
/// and the connection is not reused. In a request the same would allow request smuggling.
enum LenientHead {
    /// Appends the head in `bytes`, up to and including its empty line.
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
                try LenientHead.RawField(bytes, line: line).append(bytes, to: buffer)
            }
            count += 1
            reader.advance(to: LineReader.lineEnd(behind: line, in: bytes))
        }
        buffer.append(literal: "\r\n\r\n")
    }

    /// A field line in the form that `LenientHead` accepts.
    struct RawField {
        let name: Range<Int>
        /// The value without white space at either end; may be empty.
        let value: Range<Int>

        /// - Parameter line: the line without its end, free of control characters, and not folded.
        init(_ bytes: Span<UInt8>, line: Range<Int>) throws(Defect) {
            let nameEnd = bytes.endOfToken(in: line)
            var colon = nameEnd
            while colon < line.upperBound, bytes[colon].isBlank { colon &+= 1 }
            guard colon < line.upperBound else { throw .missingColon }
            guard bytes[colon] == .colon, nameEnd > line.lowerBound else { throw .malformedFieldName }
            name = line.lowerBound..<nameEnd
            value = bytes.trimmingBlanks(colon &+ 1..<line.upperBound)
        }

        /// Whether the line is regular, apart from its end.
        func isRegular(_ bytes: Span<UInt8>) -> Bool { bytes[name.upperBound] == .colon }

        /// Appends the line without a line end.
        func append(_ bytes: Span<UInt8>, to buffer: ByteBuffer) {
            buffer.append(bytes.extracting(name))
            buffer.append(literal: ": ")
            buffer.append(bytes.extracting(value))
        }
    }
}
