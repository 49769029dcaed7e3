import Bytes
import Compression
import HTTP
import IO
import Upstream

/// Reads the beginning of a page from a response's body, without framing and content coding, as far as the caller asks.
/// If the client may still get the response, the bytes are passed on later as they came.
final class PageReader {
    private let upstream: UpstreamConnection
    private let idle: Milliseconds
    private var content: BodyContent
    private var inflater: Inflater?
    /// The copy of what was read; nil if the body is not passed on.
    private let copy: ReplayCopy?
    /// The bytes that arrived and were not looked at.
    private let unread: ByteBuffer
    /// The bytes that were looked at and are still coded.
    private let coded = ByteBuffer(capacity: BufferPool.regular)
    private var isFramingEnded = false
    private let arrived = ByteBuffer(capacity: BufferPool.regular)
    /// The decoded part of the page.
    let page = ByteBuffer(capacity: BufferPool.regular)
    /// Whether the page is complete.
    private(set) var isEnded = false

    /// The limit of decoded bytes in one step.
    private static let room = 32 * 1024

    /// Creates the reader; nil for a page in a coding that cannot be undone.
    ///
    /// - Parameter room: the room for bytes that are held back; nil if the body is not passed on.
    init?(_ upstream: UpstreamConnection, holding room: ReplayRoom?, policy: Policy) {
        let head = upstream.head
        var coding: ContentCoding?
        if let field = head.fields.first(.contentEncoding) {
            guard !head.fields.repeated.contains(.contentEncoding) else { return nil }
            let isPlain = upstream.withHeadBytes { $0.extracting(field.value).equalsIgnoringCase("identity") }
            coding = upstream.withHeadBytes { ContentCoding(name: $0.extracting(field.value)) }
            guard isPlain || coding != nil else { return nil }
        }
        if let coding {
            let limits = Inflater.Limits(ratio: policy.limits.decodeRatio)
            guard let inflater = try? Inflater(coding, limits: limits) else { return nil }
            self.inflater = consume inflater
        }
        self.upstream = upstream
        idle = policy.timeouts.idle
        content = BodyContent(head.framing, limits: policy.limits.response)
        copy = room.map { ReplayCopy(in: $0) }
        let (inbound, front) = (upstream.inbound, ByteBuffer(capacity: BufferPool.regular))
        front.append(inbound.readable.extracting(upstream.headLength..<inbound.count))
        unread = front
        if let copy { upstream.keep(copy) }
    }

    /// Reads until the page has `limit` bytes, or `isEnough` says that it can stop.
    ///
    /// - Parameter isEnough: called with the page, and the length it had at the last call.
    /// - Returns: whether `isEnough` returned true. A page that cannot be decoded ends there.
    func read(
        upTo limit: Int, until isEnough: (ByteBuffer, Int) -> Bool
    ) async throws(ExchangeFailure) -> Bool {
        var known = 0
        while true {
            decode(upTo: limit)
            let page = page
            if page.count > known, isEnough(page, known) { return true }
            known = page.count
            if isEnded || known >= limit || copy.map({ !$0.makeRoom(for: arrived.capacity) }) ?? false { return false }
            arrived.clear()
            guard try await upstream.readBody(into: arrived, within: idle) > 0 else {
                if content.endsWithConnection {
                    isFramingEnded = true
                    continue
                }
                throw .cutShort(.httpResponseIncomplete, "the origin ended its response too early")
            }
            takeArrived()
            if let copy { await copy.add(arrived, count: arrived.count) }
        }
    }

    /// Whether only bytes of the page arrived, so that another response can follow.
    var isAtEnd: Bool { isEnded && unread.isEmpty && !content.isIrregular }

    private func takeArrived() {
        let (unread, arrived) = (unread, arrived)
        unread.append(arrived.readable)
    }

    /// Removes the framing from the bytes that arrived.
    private func unframe() {
        if isFramingEnded { return }
        let (unread, coded) = (unread, coded)
        do throws(HTTPError) {
            let step = try content.visit(unread.readable) { coded.append($0) }
            unread.consume(step.consumed)
            isFramingEnded = step.isEnded
        } catch { giveUp() }
    }

    /// Stops at a fault. The bytes after it are not part of the page; the reader of the response will find the fault
    /// too.
    private func giveUp() {
        coded.clear()
        isFramingEnded = true
        isEnded = true
    }

    private func decode(upTo limit: Int) {
        unframe()
        let (coded, page) = (coded, page)
        while !isEnded, page.count < limit {
            let room = min(Self.room, limit - page.count)
            var isOutputWaiting = false
            if inflater == nil {
                let count = min(room, coded.count)
                page.append(coded.readable.extracting(first: count))
                coded.consume(count)
            } else {
                let before = page.count
                do throws(Inflater.Failure) {
                    guard let progress = try inflater?.decode(coded.readable, into: page, room: room),
                        coded.isEmpty || progress.consumed > 0 || page.count > before
                    else { return giveUp() }
                    coded.consume(progress.consumed)
                    isOutputWaiting = progress.isOutputWaiting
                } catch { return giveUp() }
            }
            guard coded.isEmpty, !isOutputWaiting else { continue }
            isEnded = isFramingEnded
            return
        }
    }
}
