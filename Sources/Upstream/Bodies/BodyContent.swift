import Bytes
import HTTP

/// Reads a response's content out of its framing, piece by piece.
public enum BodyContent {
    /// Awaiting this many bytes. At 0 the body is over.
    case length(Int)
    case chunked(ChunkedDecoder)
    /// Awaiting the end of the connection.
    case untilClose

    public init(_ framing: BodyFraming, limits: Limits) {
        switch framing {
        case .none: self = .length(0)
        case .length(let count): self = .length(count)
        case .chunked: self = .chunked(ChunkedDecoder(fault: .upstream, limits: limits))
        case .untilClose: self = .untilClose
        }
    }

    /// The next piece of the content at `offset`.
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

    /// Hands every piece of content over that `bytes` hold.
    /// - Returns: the bytes that are done with.
    public mutating func visit(_ bytes: Span<UInt8>, _ each: (Span<UInt8>) -> Void) throws(HTTPError) -> Int {
        var offset = 0
        while true {
            switch try next(bytes, from: offset) {
            case .data(let range):
                each(bytes.extracting(range))
                offset = range.upperBound
            case .trailer(let line): offset = line.upperBound
            case .needsMore(let consumed), .end(let consumed): return consumed
            }
        }
    }

    /// Whether no second message is expected to begin where this one ends.
    public var isIrregular: Bool {
        if case .chunked(let decoder) = self { decoder.isIrregular } else { false }
    }

    /// Whether the end of the connection is the end of the body.
    public var endsWithConnection: Bool {
        if case .untilClose = self { true } else { false }
    }
}
