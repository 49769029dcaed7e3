import Bytes
import Compression
import HTTP
import Telemetry
import Upstream

/// A response body whose bytes must be changed: chunks for a client that does not know them, a body without a length
/// for a client that keeps its connection, or content to be decoded.
///
/// Trailers are dropped. RFC 9110 section 6.5.1 lets an intermediary do so, and for changed content they may be wrong.
final class ReframedBody {
    /// The result of one step.
    enum Progress {
        /// `outbound` holds enough to be sent.
        case isFull
        /// All bytes that arrived are in `outbound`.
        case needsMore
        /// The whole body is in `outbound`, with its end.
        case ended
    }

    private let exchange: Exchange
    /// The reader of the content for the journal; nil if none.
    var reader: UnansweredEntry.PassedNote.Reader?
    /// Whether the client gets chunks; if false, the end of the connection is the end of the body.
    private let isChunked: Bool
    private var content: BodyContent
    private var decoding: Decoding
    /// The number of bytes at the front of `inbound` that are content and not yet taken.
    private var piece = 0
    /// Whether the decoder still has output of its earlier input.
    private var isOutputWaiting = false
    private var isEnded = false

    /// The number of bytes that are sent at once.
    private static let room = 32 * 1024

    init(_ exchange: Exchange, coding: ContentCoding?, isChunked: Bool) throws(ExchangeFailure) {
        self.exchange = exchange
        self.isChunked = isChunked
        content = BodyContent(exchange.upstream.head.framing, limits: exchange.policy.limits.response)
        decoding = try Decoding(coding, ratio: exchange.policy.limits.decodeRatio)
    }

    /// Adds the bytes that have arrived to `outbound`, in the form that the client gets.
    func fill() throws(ExchangeFailure) -> Progress {
        let inbound = exchange.upstream.inbound
        while true {
            if exchange.outbound.count >= Self.room { return .isFull }
            if piece > 0 || isOutputWaiting {
                try takePiece(of: inbound)
            } else if isEnded {
                try decoding.finish()
                reader?.end()
                if isChunked { ChunkedEncoder.appendEnd(to: exchange.outbound) }
                return .ended
            } else if try !findPiece(in: inbound) {
                return .needsMore
            }
        }
    }

    /// Handles the end of the connection. Returns whether that is the end of the body.
    func endsWithConnection() -> Bool {
        isEnded = content.endsWithConnection
        return isEnded
    }

    /// - Returns: false if more bytes must arrive.
    private func findPiece(in inbound: ByteBuffer) throws(ExchangeFailure) -> Bool {
        defer { if content.isIrregular { exchange.upstream.condemn() } }
        while true {
            let step: ChunkedDecoder.Step
            do throws(HTTPError) { step = try content.next(inbound.readable, from: 0) } catch {
                throw .cutShort(error.proxyError, "\(error)")
            }
            switch step {
            case .data(let range):
                inbound.consume(range.lowerBound)
                piece = range.count
                return true
            case .trailer(let line): inbound.consume(line.upperBound)
            case .needsMore(let consumed):
                inbound.consume(consumed)
                return false
            case .end(let consumed):
                inbound.consume(consumed)
                isEnded = true
                return true
            }
        }
    }

    private func takePiece(of inbound: ByteBuffer) throws(ExchangeFailure) {
        guard decoding.isNeeded else {
            append(inbound.readable.extracting(first: piece))
            inbound.consume(piece)
            piece = 0
            return
        }
        guard let progress = try decoding.decode(inbound.readable.extracting(first: piece), room: Self.room) else {
            piece = 0
            return
        }
        inbound.consume(progress.consumed)
        piece -= progress.consumed
        isOutputWaiting = progress.isOutputWaiting
        append(decoding.plain.readable)
        decoding.plain.clear()
    }

    private func append(_ data: Span<UInt8>) {
        exchange.record.facts.bytesOut += data.count
        reader?.add(data)
        if isChunked {
            ChunkedEncoder.append(data, to: exchange.outbound)
        } else {
            exchange.outbound.append(data)
        }
    }

    /// The decoder of a body's content, if it must be decoded.
    fileprivate struct Decoding: ~Copyable {
        let isNeeded: Bool
        let plain: ByteBuffer
        private var inflater: Inflater?

        init(_ coding: ContentCoding?, ratio: Int) throws(ExchangeFailure) {
            isNeeded = coding != nil
            plain = ByteBuffer(capacity: isNeeded ? 32 * 1024 : 64)
            do throws(Inflater.Failure) {
                if let coding { inflater = try Inflater(coding, limits: Inflater.Limits(ratio: ratio)) }
            } catch { throw Self.failure(error) }
        }

        mutating func decode(_ bytes: Span<UInt8>, room: Int) throws(ExchangeFailure) -> Inflater.Progress? {
            do throws(Inflater.Failure) {
                return try inflater?.decode(bytes, into: plain, room: room)
            } catch { throw Self.failure(error) }
        }

        mutating func finish() throws(ExchangeFailure) {
            do throws(Inflater.Failure) { try inflater?.finish() } catch { throw Self.failure(error) }
        }

        private static func failure(_ error: Inflater.Failure) -> ExchangeFailure {
            .cutShort(.httpResponseContentCoding, "the response's content cannot be decoded: \(error)")
        }
    }
}
