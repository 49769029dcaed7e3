import Bytes
import HTTP

/// How far a body has come, by its framing: which of the bytes that arrive are its own, and when it is over.
public struct BodyProgress {
    private enum Rest {
        /// Awaiting this many bytes, at least one; becomes `.ended`.
        case length(Int)
        /// Awaiting the last chunk and the trailers; becomes `.ended`.
        case chunked(ChunkedDecoder)
        /// Awaiting the end of the connection; becomes `.ended`.
        case untilClose
        /// Everything that follows is another message's. Stays.
        case ended
    }

    private var rest: Rest
    /// It is understood, but no second message is expected to begin where it ends.
    public private(set) var isIrregular = false
    private let fault: HTTPError.Fault

    public init(_ framing: BodyFraming, of fault: HTTPError.Fault, limits: Limits) {
        self.fault = fault
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

    /// The bytes still to come, where their number is known.
    public var remainingLength: Int? {
        if case .length(let count) = rest { count } else { nil }
    }

    /// How many bytes from the front belong to the body; a client's can be passed on as they are. 0 with bytes there means
    /// that more are needed to tell.
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

    /// Appends what is the body's of the bytes at the front, as it is passed on.
    /// - Returns: as `take`.
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

    /// Counts bytes of a known length that went past without being looked at.
    public mutating func skip(_ count: Int) {
        guard case .length(let rest) = rest else { return }
        self.rest = count < rest ? .length(rest - count) : .ended
    }

    /// The connection ended: the end of some bodies, a fault in all others.
    mutating func sourceEnded() throws(HTTPError) {
        switch rest {
        case .ended: return
        case .untilClose: rest = .ended
        case .length, .chunked: throw HTTPError(fault, .incomplete)
        }
    }
}
