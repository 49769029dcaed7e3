import Bytes

/// The parameters of a credential in the head of a response. Servers build URLs from the requested ones, and a client
/// would follow them to any server. A URL may be in the query of another one.
public struct EchoedParameters: Sendable {
    public struct Parameter: Sendable {
        let name: [UInt8]
        /// The decoded value.
        let value: [UInt8]

        public init(name: [UInt8], value: [UInt8]) {
            self.name = name
            self.value = value
        }
    }

    private let parameters: [Parameter]

    public init(_ parameters: [Parameter]) { self.parameters = parameters }

    /// Appends the head without these parameters.
    public func append(_ head: Span<UInt8>, to buffer: ByteBuffer) {
        var start = 0
        /// The question mark of a query that has lost its first parameters; the next one gets it.
        var question: Found?
        while start < head.count {
            if let found = parameter(in: head, at: start) {
                if found.isFirst { question = found }
                start = found.end
                continue
            }
            if let found = question {
                question = nil
                if let delimiter = Self.delimiter(in: head, at: start, isNested: found.isNested), !delimiter.isFirst {
                    buffer.append(head.extracting(found.delimiter))
                    start = delimiter.range.upperBound
                    continue
                }
            }
            buffer.append(head[start])
            start += 1
        }
    }

    private struct Found {
        let delimiter: Range<Int>
        let end: Int
        let isFirst: Bool
        let isNested: Bool
    }

    private func parameter(in head: Span<UInt8>, at start: Int) -> Found? {
        for isNested in [false, true] {
            guard let delimiter = Self.delimiter(in: head, at: start, isNested: isNested) else { continue }
            for parameter in parameters {
                let nameEnd = delimiter.range.upperBound + parameter.name.count
                guard nameEnd < head.count,
                    head.extracting(delimiter.range.upperBound..<nameEnd).equals(parameter.name.span),
                    let valueStart = Self.endOfEquals(in: head, at: nameEnd, isNested: isNested),
                    let end = Self.end(of: parameter.value, in: head, at: valueStart, isNested: isNested)
                else { continue }
                return Found(delimiter: delimiter.range, end: end, isFirst: delimiter.isFirst, isNested: isNested)
            }
        }
        return nil
    }

    private static func delimiter(
        in head: Span<UInt8>, at start: Int, isNested: Bool
    ) -> (range: Range<Int>, isFirst: Bool)? {
        guard start < head.count else { return nil }
        if !isNested {
            let isFirst = head[start] == .question
            return isFirst || head[start] == .ampersand ? (start..<start + 1, isFirst) : nil
        }
        if holds(head, "%3f", at: start) { return (start..<start + 3, true) }
        return holds(head, "%26", at: start) ? (start..<start + 3, false) : nil
    }

    private static func endOfEquals(in head: Span<UInt8>, at start: Int, isNested: Bool) -> Int? {
        if isNested { return holds(head, "%3d", at: start) ? start + 3 : nil }
        return head[start] == .equals ? start + 1 : nil
    }

    private static func endsValue(_ head: Span<UInt8>, at offset: Int, isNested: Bool) -> Bool {
        switch head[offset] {
        case 0...0x20, .quote, UInt8(ascii: "#"), .ampersand, UInt8(ascii: "'"), .semicolon, UInt8(ascii: "<"),
            UInt8(ascii: ">"):
            true
        default: isNested && (holds(head, "%26", at: offset) || holds(head, "%23", at: offset))
        }
    }

    private static func holds(_ head: Span<UInt8>, _ code: StaticString, at offset: Int) -> Bool {
        offset + 3 <= head.count && head.extracting(offset..<offset + 3).equalsIgnoringCase(code)
    }

    /// The end of the value at `start`, in any encoding; nil if another value is there.
    private static func end(of value: [UInt8], in head: Span<UInt8>, at start: Int, isNested: Bool) -> Int? {
        var offset = start
        for byte in value {
            guard offset < head.count else { return nil }
            if let (octet, length) = octet(in: head, at: offset, isNested: isNested), octet == byte {
                offset += length
            } else if head[offset] == byte || byte == .space && head[offset] == UInt8(ascii: "+") {
                offset += 1
            } else {
                return nil
            }
        }
        return offset == head.count || endsValue(head, at: offset, isNested: isNested) ? offset : nil
    }

    /// The octet at that offset, encoded once or, in a URL within another one, twice.
    private static func octet(in head: Span<UInt8>, at offset: Int, isNested: Bool) -> (UInt8, Int)? {
        guard let octet = octet(in: head, at: offset) else { return nil }
        guard isNested, octet == .percent, let high = head[in: offset + 3]?.hexValue,
            let low = head[in: offset + 4]?.hexValue
        else { return (octet, 3) }
        return (high << 4 | low, 5)
    }

    private static func octet(in head: Span<UInt8>, at offset: Int) -> UInt8? {
        guard head[offset] == .percent, let high = head[in: offset + 1]?.hexValue,
            let low = head[in: offset + 2]?.hexValue
        else { return nil }
        return high << 4 | low
    }
}

extension Span<UInt8> {
    fileprivate subscript(in offset: Int) -> UInt8? { offset < count ? self[offset] : nil }
}
