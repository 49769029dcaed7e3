import Bytes

/// The parameters in the query of a request target: `name=value`, separated by `&`.
public enum QueryParameters {
    /// Whether there is a parameter with that name, in any encoding.
    public static func contain(_ name: Span<UInt8>, in target: Span<UInt8>) -> Bool {
        var start = queryStart(of: target)
        if start == 0 { return false }
        while start < target.count {
            let end = target.firstIndex(of: .ampersand, in: start..<target.count) ?? target.count
            if isNamed(target, start..<end, name) { return true }
            start = end + 1
        }
        return false
    }

    /// Whether some application may find a parameter with that name: in any case and encoding, and where `;` separates
    /// parameters too, as HTML 4.01 (appendix B.2.2) recommends to servers.
    ///
    /// - Parameter name: in lower case.
    public static func mayContain(_ name: Span<UInt8>, in target: Span<UInt8>) -> Bool {
        var start = queryStart(of: target)
        if start == 0 { return false }
        while start < target.count {
            var end = start
            while end < target.count, target[end] != .ampersand, target[end] != .semicolon { end += 1 }
            let nameEnd = target.firstIndex(of: .equals, in: start..<end) ?? end
            let own = target.extracting(start..<nameEnd)
            if own.equalsIgnoringCase(name) { return true }
            if let decoded = PercentEncoding.decode(own), decoded.span.equalsIgnoringCase(name) { return true }
            start = end + 1
        }
        return false
    }

    /// Appends the target without parameters of these names.
    public static func append(_ target: Span<UInt8>, without names: [[UInt8]], to buffer: ByteBuffer) {
        var start = queryStart(of: target)
        buffer.append(target.extracting(first: start > 0 ? start - 1 : target.count))
        if start == 0 { return }
        var delimiter = UInt8.question
        while start <= target.count {
            let end = target.firstIndex(of: .ampersand, in: start..<target.count) ?? target.count
            if !names.contains(where: { isNamed(target, start..<end, $0.span) }) {
                buffer.append(delimiter)
                buffer.append(target.extracting(start..<end))
                delimiter = .ampersand
            }
            start = end + 1
        }
    }

    /// Appends the target with `***` as the value of parameters with that name.
    public static func append(_ target: Span<UInt8>, hiding name: Span<UInt8>, to buffer: ByteBuffer) {
        var start = queryStart(of: target)
        buffer.append(target.extracting(first: start > 0 ? start : target.count))
        if start == 0 { return }
        while start <= target.count {
            let end = target.firstIndex(of: .ampersand, in: start..<target.count) ?? target.count
            if isNamed(target, start..<end, name) {
                buffer.append(name)
                buffer.append("=***" as StaticString)
            } else {
                buffer.append(target.extracting(start..<end))
            }
            if end < target.count { buffer.append(.ampersand) }
            start = end + 1
        }
    }

    /// The start of the query; zero without a query.
    private static func queryStart(of target: Span<UInt8>) -> Int {
        target.firstIndex(of: .question).map { $0 + 1 } ?? 0
    }

    private static func isNamed(_ target: Span<UInt8>, _ pair: Range<Int>, _ name: Span<UInt8>) -> Bool {
        let end = target.firstIndex(of: .equals, in: pair) ?? pair.upperBound
        let own = target.extracting(pair.lowerBound..<end)
        if own.equals(name) { return true }
        guard own.firstIndex(of: UInt8(ascii: "%")) != nil, let decoded = PercentEncoding.decode(own) else {
            return false
        }
        return decoded.span.equals(name)
    }
}
