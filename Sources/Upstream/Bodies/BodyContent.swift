import Bytes
import HTTP

/// Reads the content of a response out of its framing, piece by piece.
public enum BodyContent {
    /// Awaits this many bytes. At 0 the body is complete.
    case length(Int)
    case chunked(ChunkedDecoder)
    /// Awaits the end of the connection.
    case untilClose

    public init(_ framing: BodyFraming, limits: Limits) {
        switch framing {
        case .none: self = .length(0)
        case .length(let count): self = .length(count)
        case .chunked: self = .chunked(ChunkedDecoder(fault: .upstream, limits: limits))
        case .untilClose: self = .untilClose
        }
    }

    /// Returns the next piece of the content at `offset`.
    public mutating func next(_ bytes: Span<UInt8>, from offset: Int) throws(HTTPError) -> ChunkedDecoder.Step {
        let available = bytes.count - offset
        switch self {
        case .length(0): return .end(consumed: offset)
        case .length(let rest):
            guard available > 0 else { return .needsMore(consumed: offset) }
            let taken = min(rest, available)
            self = .length(rest - taken)
            return .data(offset..<offset + taken)
        case .chunked(var decoder):
            let step = try decoder.next(bytes, from: offset)
            self = .chunked(decoder)
            return step
        case .untilClose:
            return available > 0 ? .data(offset..<bytes.count) : .needsMore(consumed: offset)
        }
    }

    /// Passes every piece of content in `bytes` to `each`.
    /// - Returns: the number of bytes consumed, and whether the content is complete.
    public mutating func visit(
        _ bytes: Span<UInt8>, _ each: (Span<UInt8>) -> Void
    ) throws(HTTPError) -> (consumed: Int, isEnded: Bool) {
        var offset = 0
        while true {
            switch try next(bytes, from: offset) {
            case .data(let range):
                each(bytes.extracting(range))
                offset = range.upperBound
            case .trailer(let line): offset = line.upperBound
            case .needsMore(let consumed): return (consumed, false)
            case .end(let consumed): return (consumed, true)
            }
        }
    }

    /// Whether no second message is expected after this one.
    public var isIrregular: Bool {
        if case .chunked(let decoder) = self { decoder.isIrregular } else { false }
    }

    /// Whether the end of the connection is the end of the body.
    public var endsWithConnection: Bool {
        if case .untilClose = self { true } else { false }
    }
}
