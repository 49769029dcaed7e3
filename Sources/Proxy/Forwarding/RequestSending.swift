import Bytes
import Crypto
import HTTP
import IO
import Telemetry
import Transport

/// Sends a request upstream, head and body, as often as its challenges want, and reads the response's head each time: a
/// machine that goes on at each event of the two channels.
///
///     head ─▶ [expecting ─▶] [body ⇄ interrupted ─▶] response ─▶ answered
struct RequestSending: ~Copyable {
    /// How far one step came.
    enum Step {
        /// There is nothing to do until an event of either channel.
        case awaitsEvent
        /// The copy of the body wants its file: `workOnCopy`.
        case awaitsCopy
        /// The head of the final response is there.
        case answered
    }

    private enum Stage {
        /// `outbound` holds what the upstream has not taken of the head. Becomes `.expecting`, `.body` or `.response`.
        case head
        /// Awaiting `100 Continue`, a final response or the end of a second. Becomes `.body` or `.response`.
        case expecting
        /// Becomes `.interrupted` or `.response`.
        case body
        /// The upstream has something to say before it has the whole body. Becomes `.body` or `.response`.
        case interrupted
        /// Awaiting the final response. Becomes `.answered`.
        case response
        case answered
    }

    let requester: Requester
    let exchange: Exchange
    private var policy: Policy { exchange.policy }
    private var head: UpstreamRequestHead
    private let origin: Origin
    private var stage = Stage.answered
    /// Rings when nobody waits for `100 Continue` any more.
    private var alarm: Alarm?
    /// `outbound` holds what the client has not taken of an interim head.
    private var owesClient = false
    /// When the upstream had the whole request, on the loop's clock.
    private var sentAt: UInt64 = 0
    private var expectation = ContinueExpectation()

    init(requester: Requester, exchange: Exchange, origin: Origin, upgrade: UpgradedOrigin?) {
        self.requester = requester
        self.exchange = exchange
        self.origin = origin
        head = UpstreamRequestHead(exchange, upgrade: upgrade)
    }

    /// Sees to it that the body can be sent again after a challenge: it is copied, and for a larger one the origin is
    /// asked before it is sent. That is so too where an answer goes with the request, since any may be refused: a nonce
    /// grows stale, a password changes.
    mutating func prepareForChallenge() {
        head.rewrite.dropping.insert(.authorization)
        prepareForParent()
    }

    /// The same for a challenge of the parent's; what the client says to the origin stays.
    mutating func prepareForParent() {
        let body = exchange.body
        guard !body.isEmpty else { return }
        body.keepCopy(in: room)
        var isSmall = false
        if case .length(let length) = body.framing { isSmall = length <= policy.limits.replayMemory }
        expectation.isAdded = !isSmall && !exchange.request.expectsContinue
    }

    private var room: ReplayRoom { ReplayRoom(policy.limits, in: requester.shared.spool) }

    /// Sees to it that a small body can be sent again where the connection turns out to be dead.
    func prepareForReuse() {
        guard !exchange.body.isEmpty, exchange.request.method.isIdempotent,
            case .length(let length) = exchange.body.framing, length <= policy.limits.replayMemory
        else { return }
        exchange.body.keepCopy(in: room)
    }

    /// Whether the origin refused the request for the proxy's own `Expect` (RFC 9110 section 15.5.18). It is not asked again.
    mutating func dropsRefusedExpectation() -> Bool {
        guard expectation.hasAsked, exchange.upstream.head.status == .expectationFailed, exchange.body.canBeSent else {
            return false
        }
        expectation.mayNotAsk = true
        origin.ignoredExpectation(at: requester.loop.now)
        return true
    }

    /// Has the origin look at the request before it gets a large body: one that asks for a certificate only then would
    /// have to keep the whole body until it has seen it (`SSLRenegBufferSize` of Apache: 128 KiB).
    mutating func prepareForIdentity() {
        guard !exchange.upstream.hasShownIdentity, !exchange.body.isEmpty, !exchange.request.expectsContinue else {
            return
        }
        if case .length(let length) = exchange.body.framing, length <= ContinueExpectation.heldByOrigins { return }
        expectation.isForIdentity = true
    }

    /// The signature that the request gets is the only one.
    mutating func prepareForSignature() { head.rewrite.dropping.insert(.authorization) }

    // MARK: - One leg

    /// Whether the answers need something first that takes its time: a login's next token, or the digest of the body.
    var wantsPreparation: Bool {
        if exchange.signing?.needsDigest == true { return !exchange.body.isEmpty }
        return exchange.challenges?.wantsPreparation(over: exchange.upstream) ?? false
    }

    /// Prepares the answers, and begins.
    mutating func prepareAndBegin() async throws(ExchangeFailure) {
        exchange.body.rewind(exchange.inbound)
        var digest: [UInt8]?
        var parentDigest: [UInt8]?
        if let algorithm = exchange.challenges?.parent.loop?.bodyDigest {
            parentDigest = try await bodyDigest(algorithm, mayLeaveOut: false)
        }
        if let algorithm = exchange.challenges?.origin.loop?.bodyDigest {
            digest = try await bodyDigest(algorithm, mayLeaveOut: false)
        } else if let signing = exchange.signing, signing.needsDigest {
            digest = try await bodyDigest(.sha256, mayLeaveOut: signing.mayLeaveUnsigned)
            if digest == nil, !signing.mayLeaveUnsigned { throw ExchangeFailure(.tooLarge) }
        }
        await exchange.challenges?.parent.loop?.prepareLogin()
        if !exchange.isLoggingInAtParent { await exchange.challenges?.origin.loop?.prepareLogin() }
        begin(bodyDigest: digest, parentDigest: parentDigest)
    }

    /// Begins: `advance` sends.
    mutating func begin() {
        exchange.body.rewind(exchange.inbound)
        let isSigned = exchange.signing?.needsDigest == true
        begin(bodyDigest: isSigned ? MessageDigest(.sha256).finish().array : nil, parentDigest: nil)
    }

    private mutating func begin(bodyDigest: [UInt8]?, parentDigest: [UInt8]?) {
        writeHead(bodyDigest: bodyDigest, parentDigest: parentDigest)
        exchange.upstream.stream?.setDeadline(after: policy.timeouts.response)
        stage = .head
    }

    /// Sends what can be sent, and reads what has come, without waiting.
    ///
    /// - Throws: `upstreamFailed` when there is no response to pass on; what is the client's fault as its refusal.
    mutating func advance() throws(ExchangeFailure) -> Step {
        guard let stream = exchange.upstream.stream else { throw .upstreamFailed(.died) }
        while true {
            if owesClient {
                guard try requester.flush(exchange.outbound) else { return .awaitsEvent }
                owesClient = false
            }
            switch stage {
            case .head:
                guard try flushHead(to: stream) else { return .awaitsEvent }
                if exchange.body.announcement == .made { expect() } else { awaitResponse() }
            case .expecting:
                guard try endsExpectation(of: stream) else { return .awaitsEvent }
            case .body:
                if let step = try advanceBody(to: stream) { return step }
            case .interrupted:
                guard try exchange.receiveHead() else { return .awaitsEvent }
                guard exchange.upstream.head.status.isInterim else {
                    awaitResponse()
                    continue
                }
                // A `100 Continue` that comes late, or early hints, ask for nothing but to go on.
                passInterimHead()
                if exchange.upstream.inbound.isEmpty { stage = .body }
            case .response:
                guard try exchange.receiveHead() else { return .awaitsEvent }
                guard exchange.upstream.head.status.isInterim else {
                    stage = .answered
                    exchange.record.waitMilliseconds = Int(clamping: requester.loop.now &- sentAt)
                    if expectation.hasWaitedInVain { origin.ignoredExpectation(at: requester.loop.now) }
                    return .answered
                }
                // A sign of life that nobody gets gives the origin no more time.
                let end = sentAt &+ UInt64(clamping: policy.timeouts.response)
                if exchange.request.version < .http11, requester.loop.now >= end { throw .upstreamFailed(.timedOut) }
                passInterimHead()
                stream.setDeadline(after: policy.timeouts.response)
            case .answered: return .answered
            }
        }
    }

    /// Sends the copy of the body to its file, or reads it back, as `advance` wants it.
    func workOnCopy() async throws(ExchangeFailure) {
        if exchange.body.wantsKeeping { return await exchange.body.keep(exchange.inbound) }
        guard await exchange.body.readBack() else { throw ExchangeFailure(.copyLost) }
    }

    private func flushHead(to stream: ByteStream) throws(ExchangeFailure) -> Bool {
        let out = exchange.outbound
        while !out.isEmpty {
            switch stream.tryWrite(from: out) {
            case .moved, .endOfStream: continue
            case .wouldBlock:
                try check(stream)
                return false
            case .failed:
                // A server that answers without reading may close first: whatever it said is still to be read.
                out.clear()
            }
        }
        return true
    }

    private func check(_ upstream: ByteStream) throws(ExchangeFailure) {
        do throws(IOError) { try upstream.check() } catch {
            throw .upstreamFailed(error == .timedOut ? .timedOut : .died)
        }
    }

    private mutating func awaitResponse() {
        if case .head = stage {
        } else {
            exchange.record.bytesIn = exchange.body.count
            requester.stream.setDeadline(after: nil)
            exchange.upstream.stream?.setDeadline(after: policy.timeouts.response)
        }
        requester.notice(exchange)
        sentAt = requester.loop.now
        stage = .response
    }

    // MARK: - Head

    private mutating func writeHead(bodyDigest: [UInt8]?, parentDigest: [UInt8]?) {
        let omitsBody = exchange.omitsBody
        expectation.hasAsked =
            expectation.isWanted && !omitsBody
            && expectation.asks(
                ignored: origin.ignoresExpectation(at: requester.loop.now), keepingCopy: exchange.body.isKept)
        head.rewrite.body = omitsBody ? .empty : .asReceived
        head.rewrite.expectation =
            omitsBody ? .dropped : expectation.hasAsked ? .added : expectation.hasContinued ? .dropped : .asReceived
        exchange.body.announcement = omitsBody || exchange.body.isEmpty ? .none : .made
        head.write(bodyDigest: bodyDigest, parentDigest: parentDigest)
    }

    /// The digest of the whole body, where the answer is made over it (`qop=auth-int`, a signature); as `RequestBody.digest`.
    private mutating func bodyDigest(
        _ algorithm: DigestAlgorithm, mayLeaveOut: Bool
    ) async throws(ExchangeFailure) -> [UInt8]? {
        if !exchange.body.isEmpty {
            // One that is known to be too large leaves its challenge unanswered, and is not asked for.
            if case .length(let length) = exchange.body.framing, length > room.largest { return nil }
            letClientContinue()
            if owesClient {
                owesClient = false
                try await requester.write(exchange.outbound)
            }
            (expectation.isAdded, expectation.isForIdentity) = (false, false)
        }
        do throws(RequestBody.Failure) {
            return try await exchange.body.digest(
                algorithm, in: room, from: requester.stream, inbound: exchange.inbound,
                idle: policy.timeouts.idle, mayLeaveOut: mayLeaveOut)
        } catch { throw ExchangeFailure(error) }
    }

    // MARK: - Body

    /// Where `100 Continue` was asked for, the upstream has a second to want the body, or to answer without it, unless the
    /// client sends it unasked. For an origin that is known to say nothing there is no wait.
    private mutating func expect() {
        let clientWaits = exchange.request.expectsContinue && !expectation.hasContinued
        guard clientWaits || expectation.hasAsked else { return beginBody() }
        guard expectation.hasAsked || !origin.ignoresExpectation(at: requester.loop.now) else {
            letClientContinue()
            return beginBody()
        }
        let alarm = Alarm(on: requester.loop) { [wakeup = requester.wakeup] in wakeup.signal() }
        alarm.set(after: ContinueExpectation.milliseconds)
        self.alarm = alarm
        stage = .expecting
    }

    private mutating func beginBody() {
        alarm = nil
        // What the deadline was for has passed.
        exchange.upstream.stream?.setDeadline(after: nil)
        stage = .body
    }

    /// - Returns: whether something follows; else an event, or the alarm, goes on.
    private mutating func endsExpectation(of stream: ByteStream) throws(ExchangeFailure) -> Bool {
        let clientWaits = exchange.request.expectsContinue && !expectation.hasContinued
        if stream.isReadable || !exchange.upstream.inbound.isEmpty {
            guard try exchange.receiveHead() else { return endsWait(clientWaits) }
            let status = exchange.upstream.head.status
            if !status.isInterim {
                // One that is content reads on (RFC 9110 section 10.1.1); after a refusal the body would be waste.
                let isRefused = status.rawValue >= 400
                exchange.body.announcement = isRefused ? .declined : clientWaits ? .optional : .made
                awaitResponse()
            } else if status == .continue {
                origin.heardExpectation()
                exchange.upstream.forgetHead()
                letClientContinue()
                beginBody()
            } else {
                passInterimHead()
            }
            return true
        }
        try check(stream)
        return endsWait(clientWaits)
    }

    private mutating func endsWait(_ clientWaits: Bool) -> Bool {
        let clientSends = clientWaits && (requester.stream.isReadable || !exchange.inbound.isEmpty)
        let hasRung = alarm?.hasRung ?? true
        guard hasRung || clientSends else { return false }
        expectation.hasWaitedInVain = hasRung
        letClientContinue()
        beginBody()
        return true
    }

    /// Sends the body, as long as the upstream has nothing to say.
    /// - Returns: nil where another stage follows.
    private mutating func advanceBody(to stream: ByteStream) throws(ExchangeFailure) -> Step? {
        let client = requester.stream
        while true {
            let step: RequestBody.Step
            do throws(RequestBody.Failure) {
                step = try exchange.body.advance(
                    from: client, to: stream, inbound: exchange.inbound, on: requester.loop)
            } catch {
                // As in `flushHead`.
                guard case .upstream(let error) = error, error != .timedOut else { throw ExchangeFailure(error) }
                awaitResponse()
                return nil
            }
            switch step {
            case .ended:
                awaitResponse()
                return nil
            case .keeps, .readsBack: return .awaitsCopy
            case .moved:
                guard !exchange.body.isSent, stream.hasInput() else { continue }
            case .awaitsClient:
                if !stream.hasInput() { return try wait(for: client, not: stream) { .client($0) } }
            case .awaitsUpstream:
                if !stream.hasInput() { return try wait(for: stream, not: client) { .upstream($0) } }
            }
            client.setDeadline(after: nil)
            stream.setDeadline(after: policy.timeouts.response)
            stage = .interrupted
            return nil
        }
    }

    /// The time of the side that nobody waits for must not run out meanwhile.
    private func wait(
        for side: ByteStream, not other: ByteStream, _ failure: (IOError) -> RequestBody.Failure
    ) throws(ExchangeFailure) -> Step {
        do throws(IOError) { try side.check() } catch { throw ExchangeFailure(failure(error)) }
        other.setDeadline(after: nil)
        side.setDeadline(after: policy.timeouts.idle)
        return .awaitsEvent
    }

    private mutating func letClientContinue() {
        guard exchange.request.expectsContinue, !expectation.hasContinued else { return }
        expectation.hasContinued = true
        if !exchange.inbound.isEmpty || requester.stream.isReadable { return }
        let out = exchange.outbound
        out.clear()
        out.append("HTTP/1.1 100 Continue\r\n\r\n" as StaticString)
        owesClient = true
    }

    // MARK: - Response

    /// Passes a `1xx` on (RFC 9110 section 15.2), unless the client knows none, or the proxy itself asked for it.
    private mutating func passInterimHead() {
        let upstream = exchange.upstream
        defer { upstream.forgetHead() }
        if upstream.head.status == .continue {
            expectation.hasWaitedInVain = false
            origin.heardExpectation()
        }
        guard exchange.request.version >= .http11, upstream.head.status != .continue else { return }
        exchange.writeInterimHead(upgrade: head.rewrite.upgrade)
        owesClient = true
    }
}
