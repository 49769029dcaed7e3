import Bytes
import Crypto
import HTTP
import IO
import Telemetry
import Transport
import Upstream

/// A request's body, sent from the client to the upstream: once, or again after a challenge.
public final class RequestBody {
    public enum Failure: Error {
        case client(IOError)
        case invalid(HTTPError)
        case upstream(IOError)
        /// The copy that was to be sent again cannot be read back.
        case copyLost
        /// The body is larger than a copy may be.
        case tooLarge
        /// A copy of this size is allowed, but the copies of other requests take the room.
        case crowdedOut
    }

    /// The upstream's knowledge of the body, from the head that it got.
    enum Announcement {
        /// No body follows: the request has none, or its head was sent without it.
        case none
        /// The body follows.
        case made
        /// The body follows if the client sends it without `100 Continue`.
        case optional
        /// The body was refused before it was sent.
        case declined
    }

    /// The result of one step.
    public enum Step {
        case moved
        case ended
        /// The client must send more first.
        case awaitsClient
        /// The upstream must take more first.
        case awaitsUpstream
        /// The copy needs its file for the bytes that arrived: `keep`.
        case keeps
        /// The copy must be read: `readBack`.
        case readsBack
    }

    public private(set) var framing = BodyFraming.none
    private var limits = Limits.request
    private var progress = BodyProgress(.none, of: .client, limits: .request)
    private var copy: ReplayCopy?
    /// Whether bytes without a copy were sent upstream.
    private var isGone = false
    /// Whether no copy of the rest is needed.
    private var isSettled = false
    /// The number of bytes read from the client.
    public private(set) var count = 0
    /// The number of bytes given to the upstream since `rewind`.
    private var sent = 0
    /// The number of read bytes that are still at the front of the client's buffer, because the upstream does not take
    /// them.
    private var held = 0
    /// The number of bytes at the front of the client's buffer that the copy has no memory for; not yet in `count`.
    private var unkept = 0
    /// The part of the copy that was read for the upstream; nil until something was read.
    private var again: ByteBuffer?
    /// Moves the bytes of which no copy is kept.
    private var relay: BodyRelay?
    var announcement = Announcement.none

    public func begin(_ framing: BodyFraming, limits: Limits) {
        // Most requests have no body; the state is then as after `reset`.
        if framing == .none { return }
        self.framing = framing
        self.limits = limits
        progress = BodyProgress(framing, of: .client, limits: limits)
    }

    /// Refuses a trailer section with fields, before the first byte of the body is taken. The client could hide a
    /// credential in it.
    public func refuseTrailers() {
        guard framing == .chunked else { return }
        limits.trailerFields = 0
        progress = BodyProgress(framing, of: .client, limits: limits)
    }

    public func reset() {
        if framing != .none {
            framing = .none
            progress = BodyProgress(.none, of: .client, limits: .request)
        }
        copy.forget()
        isGone = false
        isSettled = false
        count = 0
        sent = 0
        held = 0
        unkept = 0
        again.forget()
        relay.forget()
        isCrowdedOut = false
        announcement = .none
    }

    /// Decodes the bytes of the body that arrived, before its head is sent. The upstream sees nothing of an invalid
    /// body.
    public func check(_ inbound: ByteBuffer) throws(HTTPError) {
        guard framing == .chunked else { return }
        var ahead = progress
        _ = try ahead.take(inbound.readable)
    }

    public var isEmpty: Bool { framing == .none || framing == .length(0) }

    /// Whether every byte was read from the client, so that its next request can follow.
    public var isRead: Bool { progress.isEnded && held == 0 && unkept == 0 }

    /// Whether the upstream was given every byte.
    public var isSent: Bool { progress.isEnded && sent == count && unkept == 0 }

    /// Whether the upstream waits for bytes of the body, so that no other request can follow on its connection.
    var isOwed: Bool { announcement != .none && !isSent }

    /// Whether the upstream may still be given bytes of the body.
    public var mayGoOn: Bool { (announcement == .made || announcement == .optional) && !isSent }

    /// Whether the whole body can be sent from its first byte.
    var canBeSent: Bool { !isGone && copy?.isWhole ?? true }

    /// Whether the copies of other bodies take the room that a copy of this one would need.
    private(set) var isCrowdedOut = false

    /// Whether a copy of the sent bytes is kept.
    public var isKept: Bool { copy?.isWhole ?? false }

    /// Starts to keep a copy of the sent bytes, unless it is known that there is no room for it.
    /// - Returns: whether a copy is kept.
    @discardableResult
    func keepCopy(in room: ReplayRoom) -> Bool {
        if copy != nil { return isKept }
        guard !isEmpty, !isGone else { return false }
        let fresh = ReplayCopy(in: room)
        if case .length(let length) = framing, !fresh.makeRoom(for: length) {
            isCrowdedOut = fresh.wasCrowdedOut
            return false
        }
        copy = fresh
        return true
    }

    /// Starts again with the first byte of the body: it is sent on another connection, or with another request.
    func rewind(_ inbound: ByteBuffer) {
        inbound.consume(held)
        held = 0
        sent = 0
        again?.clear()
        announcement = .none
    }

    /// Stops keeping a copy, because the body will not be sent again. The existing copy is freed as soon as it was
    /// sent.
    public func settle() {
        isSettled = true
        guard sent == count || held > 0 else { return }
        isGone = isGone || copy != nil
        copy = nil
    }

    /// Whether bytes have arrived for which the copy needs its file: `keep`.
    var wantsKeeping: Bool { unkept > 0 && !isSettled }

    /// Advances the body by one step, without waiting.
    public func advance(
        from client: ByteStream, to upstream: ByteStream, inbound: ByteBuffer, on loop: EventLoop
    ) throws(Failure) -> Step {
        if held > 0 {
            let before = sent
            defer { held -= sent - before }
            return try write(held, of: inbound, to: upstream)
        }
        if let copy, sent < copy.count {
            guard let again, !again.isEmpty else { return .readsBack }
            let step = try write(again.count, of: again, to: upstream)
            if isSettled { settle() }
            return step
        }
        if unkept > 0 {
            guard isSettled else { return .keeps }
            takeUnkept()
            return .moved
        }
        if let relay { return try advance(relay) }
        if progress.isEnded { return .ended }
        if inbound.isEmpty, !isKept || isSettled, let rest = progress.remainingLength, rest > inbound.capacity {
            isGone = true
            relay = BodyRelay(rest, from: client, to: upstream, on: loop)
            return .moved
        }
        guard let taken = try take(inbound) else { return try read(from: client, into: inbound) }
        if let copy, !isSettled, copy.isWhole {
            if !copy.addAtOnce(inbound, count: taken) {
                unkept = taken
                return .keeps
            }
        } else {
            isGone = true
        }
        count += taken
        held = taken
        return .moved
    }

    private func advance(_ relay: BodyRelay) throws(Failure) -> Step {
        let (unread, unwritten) = (relay.unread, relay.unwritten)
        defer {
            progress.skip(unread - relay.unread)
            count += unread - relay.unread
            sent += unwritten - relay.unwritten
            if relay.unwritten == 0 { self.relay = nil }
        }
        do throws(RelayError) {
            switch try relay.advance() {
            case .moved, .finished: return .moved
            case .awaitsSource: return .awaitsClient
            case .awaitsTarget: return .awaitsUpstream
            }
        } catch {
            switch error {
            case .source(let error): throw .client(error)
            case .target(let error): throw .upstream(error)
            }
        }
    }

    /// The number of bytes at the front of the client's buffer that are the next of the body; nil if more bytes are
    /// needed to tell.
    private func take(_ inbound: ByteBuffer) throws(Failure) -> Int? {
        guard !inbound.isEmpty else { return nil }
        do throws(HTTPError) {
            let taken = try progress.take(inbound.readable)
            if taken > 0 || progress.isEnded { return taken }
        } catch { throw .invalid(error) }
        if inbound.writableCount == 0 { inbound.reserve(1) }
        return nil
    }

    private func read(from client: ByteStream, into inbound: ByteBuffer) throws(Failure) -> Step {
        switch client.tryRead(into: inbound) {
        case .moved: return .moved
        case .wouldBlock: return .awaitsClient
        case .endOfStream: throw .client(.endOfStream)
        case .failed(let errno): throw .client(client.failure(errno, "cannot read"))
        }
    }

    private func write(_ limit: Int, of buffer: ByteBuffer, to upstream: ByteStream) throws(Failure) -> Step {
        let before = buffer.count
        // It counts after an error too: a part may have been sent.
        defer { sent += before - buffer.count }
        switch upstream.tryWrite(from: buffer, limit: limit) {
        case .moved, .endOfStream: return .moved
        case .wouldBlock: return .awaitsUpstream
        case .failed(let errno): throw .upstream(upstream.failure(errno, "cannot write"))
        }
    }

    /// Adds the bytes to the copy that its memory had no room for.
    public func keep(_ inbound: ByteBuffer) async {
        guard unkept > 0 else { return }
        await copy?.add(inbound, count: unkept)
        takeUnkept()
    }

    /// Like `keep`, but without a file; false if the file is needed.
    func keepAtOnce() -> Bool {
        guard unkept > 0 else { return true }
        guard copy == nil else { return false }
        takeUnkept()
        return true
    }

    private func takeUnkept() {
        count += unkept
        held += unkept
        unkept = 0
    }

    /// Reads the next piece of the copy for the upstream; false if it cannot be read.
    func readBack() async -> Bool {
        let buffer = again ?? ByteBuffer(capacity: BufferPool.large)
        again = buffer
        guard let copy else { return false }
        return await copy.read(from: sent, into: buffer) != nil
    }

    /// Waits until bytes of the body are at the front of `inbound`, and returns their number.
    private func next(from client: ByteStream, inbound: ByteBuffer, idle: Milliseconds) async throws(Failure) -> Int {
        while true {
            if let taken = try take(inbound) { return taken }
            try await read(from: client, into: inbound, idle: idle)
        }
    }

    /// Reads more from the client.
    private func read(from client: ByteStream, into inbound: ByteBuffer, idle: Milliseconds) async throws(Failure) {
        client.setDeadline(after: idle)
        do throws(IOError) {
            if try await client.read(into: inbound) == 0 { throw IOError.endOfStream }
        } catch { throw .client(error) }
    }

    /// Reads and drops the rest of the body that the client sends, up to `limit` bytes.
    /// - Returns: whether the body was read to its end.
    public func discard(from client: ByteStream, inbound: ByteBuffer, upTo limit: Int, idle: Milliseconds) async -> Bool
    {
        rewind(inbound)
        relay = nil
        while !progress.isEnded {
            guard count < limit, let taken = try? await next(from: client, inbound: inbound, idle: idle) else {
                return false
            }
            inbound.consume(taken)
            count += taken
        }
        return true
    }

    /// The digest of the whole content, which is read into the copy for it.
    ///
    /// - Parameter mayLeaveOut: whether nil is allowed if the body turns out to be too large for a copy.
    public func digest(
        _ algorithm: DigestAlgorithm, in room: ReplayRoom, from client: ByteStream, inbound: ByteBuffer,
        idle: Milliseconds, mayLeaveOut: Bool
    ) async throws(Failure) -> [UInt8]? {
        var digest = MessageDigest(algorithm)
        if isEmpty { return digest.finish().array }
        keepCopy(in: room)
        let isWhole = try await readAll(from: client, inbound: inbound, idle: idle) { digest.update($0) }
        if isWhole { return digest.finish().array }
        guard mayLeaveOut, canBeSent else { throw isCrowdedOut ? .crowdedOut : .tooLarge }
        return nil
    }

    /// The whole content, which is read into the copy for it.
    ///
    /// - Throws: `tooLarge` if there are more than `limit` bytes.
    func content(
        upTo limit: Int, in room: ReplayRoom, from client: ByteStream, inbound: ByteBuffer, idle: Milliseconds
    ) async throws(Failure) -> [UInt8] {
        var content: [UInt8] = []
        var isTooLarge = false
        if isEmpty { return content }
        keepCopy(in: room)
        let isWhole = try await readAll(from: client, inbound: inbound, idle: idle) { piece in
            isTooLarge = isTooLarge || piece.count > limit - content.count
            if !isTooLarge { content += piece.array }
        }
        guard isWhole, !isTooLarge else { throw isCrowdedOut ? .crowdedOut : .tooLarge }
        return content
    }

    /// Reads the whole body into the copy, and passes its content to `each`, for a digest. False if the body is larger
    /// than the copy may be.
    func readAll(
        from client: ByteStream, inbound: ByteBuffer, idle: Milliseconds, each: (Span<UInt8>) -> Void
    ) async throws(Failure) -> Bool {
        while !progress.isEnded, isKept {
            if inbound.isEmpty { try await read(from: client, into: inbound, idle: idle) }
            // The part that was kept stays, for callers that can proceed without the rest.
            let piece = min(inbound.count, progress.remainingLength ?? .max)
            if let copy, !copy.makeRoom(for: piece) {
                isCrowdedOut = copy.wasCrowdedOut
                return false
            }
            let taken = try await next(from: client, inbound: inbound, idle: idle)
            await copy?.add(inbound, count: taken)
            count += taken
            inbound.consume(taken)
        }
        guard let copy, canBeSent else { return false }
        let buffer = ByteBuffer(capacity: BufferPool.large)
        var content = BodyContent(framing, limits: limits)
        var offset = 0
        while offset < copy.count {
            guard let count = await copy.read(from: offset, into: buffer) else { throw .copyLost }
            offset += count
            do throws(HTTPError) {
                buffer.consume(try content.visit(buffer.readable, each).consumed)
            } catch { throw .invalid(error) }
            if buffer.writableCount == 0 { buffer.reserve(1) }
        }
        return true
    }
}

extension ExchangeFailure {
    /// Converts the failure of a request body, while the client has no response.
    init(_ failure: RequestBody.Failure) {
        switch failure {
        case .client(.timedOut): self = .refused(.lateBody)
        case .client: self = .clientLost
        case .invalid(let error): self = .refused(Refusal(error))
        case .upstream(.timedOut): self = .upstreamFailed(.timedOut)
        case .upstream: self = .upstreamFailed(.died)
        case .tooLarge:
            self = .refused(
                Refusal(
                    .contentTooLarge, .httpRequestError,
                    "the answer to the origin covers the request body, which is larger than this proxy keeps "
                        + "(limits replay-memory and replay-disk)"))
        case .crowdedOut:
            self = .refused(
                Refusal(
                    .serviceUnavailable, .proxyInternalError,
                    "the answer to the origin covers the request body, and other requests take all the room that this "
                        + "proxy has for keeping it (limits replay-disk-total); try again"))
        case .copyLost:
            self = .refused(
                Refusal(
                    .serviceUnavailable, .proxyInternalError,
                    "the request body could not be kept for sending it again; try again"))
        }
    }
}
