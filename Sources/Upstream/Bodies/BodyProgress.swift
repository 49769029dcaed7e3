import Bytes
import HTTP

/// The progress of a body, by its framing: which of the received bytes belong to it, and when it is complete.
public struct BodyProgress {
    private enum Rest {
        /// Awaits this many bytes, at least one; becomes `.ended`.
        case length(Int)
        /// Awaits the last chunk and the trailers; becomes `.ended`.
        case chunked(ChunkedDecoder)
        /// Awaits the end of the connection; becomes `.ended`.
        case untilClose
        /// The body is complete. The bytes that follow belong to another message. Stays.
        case ended
    }

    private var rest: Rest
    /// Whether the body was understood, but no second message is expected after it.
    public private(set) var isIrregular = false

    public init(_ framing: BodyFraming, of fault: HTTPError.Fault, limits: Limits) {
        switch framing {
        case .none, .length(0): rest = .ended
        case .length(let count): rest = .length(count)
        case .chunked: rest = .chunked(ChunkedDecoder(fault: fault, limits: limits))
        case .untilClose: rest = .untilClose
        }
    }

    public var isEnded: Bool {
        if case .ended = rest { true } else { false }
    }

    /// The number of bytes still to come; nil if it is unknown.
    public var remainingLength: Int? {
        if case .length(let count) = rest { count } else { nil }
    }

    /// Returns how many bytes at the front belong to the body. A client's can be passed on as they are. 0 although
    /// bytes are there means that more are needed to decide.
    public mutating func take(_ bytes: Span<UInt8>) throws(HTTPError) -> Int {
        switch rest {
        case .length(let count):
            let taken = min(count, bytes.count)
            skip(taken)
            return taken
        case .chunked(var decoder):
            let taken = try decoder.pass(bytes)
            take(decoder)
            return taken
        case .untilClose: return bytes.count
        case .ended: return 0
        }
    }

    /// Appends the bytes at the front that belong to the body, in the form in which they are passed on.
    /// - Returns: the number of bytes consumed, as for `take`.
    public mutating func pass(_ bytes: Span<UInt8>, to buffer: ByteBuffer) throws(HTTPError) -> Int {
        if case .chunked(var decoder) = rest {
            let taken = try decoder.pass(bytes, to: buffer)
            take(decoder)
            return taken
        }
        let taken = try take(bytes)
        buffer.append(bytes.extracting(first: taken))
        return taken
    }

    private mutating func take(_ decoder: ChunkedDecoder) {
        isIrregular = decoder.isIrregular
        rest = decoder.isEnded ? .ended : .chunked(decoder)
    }

    /// Counts bytes of a known length that passed without being inspected.
    public mutating func skip(_ count: Int) {
        guard case .length(let rest) = rest else { return }
        self.rest = count < rest ? .length(rest - count) : .ended
    }
}
