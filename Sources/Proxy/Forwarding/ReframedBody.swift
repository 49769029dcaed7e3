import Bytes
import Compression
import HTTP
import Telemetry

/// Relays a response body whose bytes cannot pass as they are: chunks for a client that knows none, a body without a
/// length for one that keeps its connection, or content to be decoded.
///
/// Trailers are dropped: RFC 9110 section 6.5.1 lets an intermediary do so, and of changed content they may be wrong.
struct ReframedBody {
    private let requester: Requester
    private let exchange: Exchange
    private let coding: ContentCoding?
    /// Whether the client gets chunks; else the end of the connection is the end of the body.
    private let isChunked: Bool

    /// Decoded bytes that are sent at once.
    private static let room = 32 * 1024

    init(requester: Requester, exchange: Exchange, coding: ContentCoding?, isChunked: Bool) {
        self.requester = requester
        self.exchange = exchange
        self.coding = coding
        self.isChunked = isChunked
    }

    /// - Parameter isHeadSent: set once the client has been sent something.
    func relay(_ isHeadSent: inout Bool) async throws(ExchangeFailure) {
        let policy = exchange.policy
        let upstream = exchange.upstream
        let out = exchange.outbound
        var content = BodyContent(upstream.head.framing, limits: policy.limits.response)
        var decoding = try Decoding(coding, ratio: policy.limits.decodeRatio)
        var isEnded = false
        while !isEnded {
            var offset = 0
            scan: while true {
                switch try step(&content, from: offset) {
                case .data(let range):
                    offset = range.upperBound
                    try await emit(range, through: &decoding, &isHeadSent)
                case .trailer(let line): offset = line.upperBound
                case .needsMore(let consumed):
                    offset = consumed
                    break scan
                case .end(let consumed):
                    offset = consumed
                    isEnded = true
                    break scan
                }
            }
            upstream.inbound.consume(offset)
            if content.isIrregular { upstream.condemn() }
            if isEnded { break }
            isHeadSent = true
            try await requester.write(out)
            isEnded = try await upstream.readBody(within: policy.timeouts.idle) == 0
            if isEnded, !content.endsWithConnection {
                throw .cutShort(.httpResponseIncomplete, "the origin ended its response too early")
            }
        }
        try decoding.finish()
        if isChunked { ChunkedEncoder.appendEnd(to: out) }
        try await requester.write(out)
    }

    private func step(_ content: inout BodyContent, from offset: Int) throws(ExchangeFailure) -> ChunkedDecoder.Step {
        let inbound = exchange.upstream.inbound
        do throws(HTTPError) {
            return try content.next(inbound.readable, from: offset)
        } catch { throw .cutShort(error.proxyError, "\(error)") }
    }

    /// Adds a piece of the content to what is being written, decoded if it is to be.
    private func emit(
        _ range: Range<Int>, through decoding: inout Decoding, _ isHeadSent: inout Bool
    ) async throws(ExchangeFailure) {
        let inbound = exchange.upstream.inbound
        guard decoding.isNeeded else { return append(inbound.readable.extracting(range)) }
        var start = range.lowerBound
        var isOutputWaiting = true
        while start < range.upperBound || isOutputWaiting {
            guard
                let progress = try decoding.decode(
                    inbound.readable.extracting(start..<range.upperBound), room: Self.room)
            else { return }
            start += progress.consumed
            isOutputWaiting = progress.isOutputWaiting
            append(decoding.plain.readable)
            decoding.plain.clear()
            isHeadSent = true
            try await requester.write(exchange.outbound)
        }
    }

    private func append(_ data: Span<UInt8>) {
        exchange.record.bytesOut += data.count
        if isChunked {
            ChunkedEncoder.append(data, to: exchange.outbound)
        } else {
            exchange.outbound.append(data)
        }
    }
}

/// The decoder of a body's content, if it has one to decode.
private struct Decoding: ~Copyable {
    let isNeeded: Bool
    let plain: ByteBuffer
    private var inflater: Inflater?

    init(_ coding: ContentCoding?, ratio: Int) throws(ExchangeFailure) {
        isNeeded = coding != nil
        plain = ByteBuffer(capacity: isNeeded ? 32 * 1024 : 64)
        do throws(InflationError) {
            if let coding { inflater = try Inflater(coding, limits: InflationLimits(ratio: ratio)) }
        } catch { throw Self.failure(error) }
    }

    mutating func decode(_ bytes: Span<UInt8>, room: Int) throws(ExchangeFailure) -> Inflater.Progress? {
        do throws(InflationError) {
            return try inflater?.decode(bytes, into: plain, room: room)
        } catch { throw Self.failure(error) }
    }

    mutating func finish() throws(ExchangeFailure) {
        do throws(InflationError) { try inflater?.finish() } catch { throw Self.failure(error) }
    }

    private static func failure(_ error: InflationError) -> ExchangeFailure {
        .cutShort(.httpResponseContentCoding, "the response's content cannot be decoded: \(error)")
    }
}
