import Bytes

/// A line of the log that is about no exchange: one JSON object, member by member. It begins as the access log's lines do.
public struct LogLine {
    private let line: ByteBuffer

    /// Letters of a text that are shown: a server's realm may be as long as a head.
    private static let longest = 256

    /// Begins a line behind what the buffer holds.
    public init(into line: ByteBuffer, at epochMilliseconds: Int) {
        self.line = line
        line.append(#"{"time":""#)
        line.append(time: epochMilliseconds)
        line.append(.quote)
    }

    /// - Parameter value: nil: the member is left out.
    public func add(_ name: StaticString, _ value: String?) {
        guard let value else { return }
        begin(name)
        line.append(.quote)
        let scalars = value.unicodeScalars
        // The end of the 256th scalar is nobody's middle.
        let end = scalars.index(scalars.startIndex, offsetBy: Self.longest, limitedBy: scalars.endIndex)
        line.append(json: (end.map { String(value[..<$0]) } ?? value).utf8Span.span)
        if let end, end != scalars.endIndex { line.append("…") }
        line.append(.quote)
    }

    public func add(_ name: StaticString, _ number: Int?) {
        guard let number else { return }
        begin(name)
        line.append(decimal: number)
    }

    /// - Parameter time: milliseconds since 1970.
    public func add(_ name: StaticString, time: Int?) {
        guard let time else { return }
        begin(name)
        line.append(.quote)
        line.append(time: time)
        line.append(.quote)
    }

    /// Left out where it is false.
    public func add(_ name: StaticString, _ isTrue: Bool) {
        guard isTrue else { return }
        begin(name)
        line.append("true")
    }

    public func end() { line.append("}\n") }

    private func begin(_ name: StaticString) {
        line.append(#",""#)
        line.append(name)
        line.append(#"":"#)
    }
}
