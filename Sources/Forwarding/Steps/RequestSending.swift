import Bytes
import Challenges
import Crypto
import HTTP
import IO
import Telemetry
import Transport
import Upstream

/// Sends a request upstream, head and body, as often as its challenges want, and reads the response's head each time: a
/// machine that goes on at each event of the two channels.
///
///     head ─▶ [expecting ─▶] [body ⇄ interrupted ─▶] response ─▶ answered
struct RequestSending: ~Copyable {
    /// How far one step came.
    enum Step {
        /// There is nothing to do until an event of either channel.
        case awaitsEvent
        /// The copy of the body wants its file: `ForwardingContext.workOnCopy`.
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

    /// Whether a request's body waits for `100 Continue` (RFC 9110 section 10.1.1), and what is known of it by now.
    private struct Expectation {
        /// The proxy asks where the client did not, so that a challenge comes before the body.
        var isAdded = false
        /// The proxy asks since the origin may want a certificate once it has seen the request.
        var isForIdentity = false
        /// The request went out with an `Expect` of the proxy's own.
        var hasAsked = false
        /// The origin refused that.
        var mayNotAsk = false
        /// The origin has not answered the `Expect` of this request in time.
        var hasWaitedInVain = false
        /// The client has got `100 Continue`, or sends its body unasked.
        var hasContinued = false

        /// The RFC wants no endless wait; curl waits as long.
        static let milliseconds = 1000
        /// Bytes of a body that every server keeps while it asks for a certificate.
        static let heldByOrigins = 64 * 1024

        /// Whether the proxy has a reason to ask.
        var isWanted: Bool { isAdded || isForIdentity }

        /// Whether the origin is asked before the body is sent. One that does not answer that is not asked again, unless there
        /// would be nothing to send again after a challenge.
        func asks(ignored isIgnored: Bool, keepingCopy isKept: Bool) -> Bool {
            guard isWanted, !mayNotAsk else { return false }
            return !isIgnored || isAdded && !isKept
        }
    }

    /// As the upstream gets it.
    private var head = UpstreamRequestHead()
    private var stage = Stage.answered
    /// Rings when nobody waits for `100 Continue` any more.
    private var alarm: Alarm?
    /// `outbound` holds what the client has not taken of an interim head.
    private var owesClient = false
    /// When the upstream had the whole request, on the loop's clock in nanoseconds.
    private var sentAt: UInt64 = 0
    private var expectation = Expectation()

    /// From now on it is about the request whose head is there.
    /// - Parameter isUpgraded: as `Forwarding.begin` has it.
    mutating func begin(isUpgraded: Bool) {
        head.begin(isUpgraded: isUpgraded)
        expectation = Expectation()
        owesClient = false
        stage = .answered
    }

    /// Forgets the request.
    mutating func reset() { alarm.forget() }

    /// Sees to it that the body can be sent again after a challenge: it is copied, and for a larger one the origin is
    /// asked before it is sent. That is so too where an answer goes with the request, since any may be refused: a nonce
    /// grows stale, a password changes.
    mutating func prepareForChallenge(_ context: ForwardingContext) {
        head.rewrite.dropping.insert(.authorization)
        prepareForParent(context)
    }

    /// The same for a challenge of the parent's; what the client says to the origin stays.
    mutating func prepareForParent(_ context: ForwardingContext) {
        let body = context.exchange.body
        guard !body.isEmpty else { return }
        body.keepCopy(in: context.room)
        var isSmall = false
        if case .length(let length) = body.framing { isSmall = length <= context.policy.limits.replayMemory }
        expectation.isAdded = !isSmall && !context.exchange.request.expectsContinue
    }

    /// Whether the origin refused the request for the proxy's own `Expect` (RFC 9110 section 15.5.18). It is not asked again.
    mutating func dropsRefusedExpectation(_ context: ForwardingContext) -> Bool {
        guard expectation.hasAsked, context.exchange.upstream.head.status == .expectationFailed,
            context.exchange.body.canBeSent
        else {
            return false
        }
        expectation.mayNotAsk = true
        context.origin.ignoredExpectation(at: context.requester.loop.now)
        return true
    }

    /// Has the origin look at the request before it gets a large body: one that asks for a certificate only then would
    /// have to keep the whole body until it has seen it (`SSLRenegBufferSize` of Apache: 128 KiB).
    mutating func prepareForIdentity(_ context: ForwardingContext) {
        let (exchange, held) = (context.exchange, Expectation.heldByOrigins)
        if exchange.body.isEmpty { return }
        context.keepBodyForIdentity()
        if exchange.upstream.hasShownIdentity || exchange.request.expectsContinue { return }
        if case .length(let length) = exchange.body.framing, length <= held { return }
        expectation.isForIdentity = true
    }

    /// The signature that the request gets is the only one.
    mutating func prepareForSignature() { head.rewrite.dropping.insert(.authorization) }

    // MARK: - One leg

    /// Whether the answers need something first that takes its time: a login's next token, or the digest of the body.
    func wantsPreparation(_ context: ForwardingContext) -> Bool {
        if context.exchange.credentials.signing?.needsDigest == true { return !context.exchange.body.isEmpty }
        return context.exchange.credentials.challenges?.wantsPreparation(over: context.exchange.upstream) ?? false
    }

    /// Prepares the answers, and begins.
    mutating func prepareAndBegin(_ context: ForwardingContext) async throws(ExchangeFailure) {
        context.exchange.body.rewind(context.exchange.inbound)
        var digest: [UInt8]?
        var parentDigest: [UInt8]?
        if let algorithm = context.exchange.credentials.challenges?.parent.loop?.bodyDigest {
            parentDigest = try await bodyDigest(context, algorithm, mayLeaveOut: false)
        }
        if let algorithm = context.exchange.credentials.challenges?.origin.loop?.bodyDigest {
            digest = try await bodyDigest(context, algorithm, mayLeaveOut: false)
        } else if let signing = context.exchange.credentials.signing, signing.needsDigest {
            digest = try await bodyDigest(context, .sha256, mayLeaveOut: signing.mayLeaveUnsigned)
            if digest == nil, !signing.mayLeaveUnsigned { throw ExchangeFailure(.tooLarge) }
        }
        let challenges = context.exchange.credentials.challenges
        await challenges?.parent.loop?.prepareLogin()
        if !context.exchange.isLoggingInAtParent { await challenges?.origin.loop?.prepareLogin() }
        begin(context, bodyDigest: digest, parentDigest: parentDigest)
    }

    /// Begins: `advance` sends.
    mutating func begin(_ context: ForwardingContext) {
        context.exchange.body.rewind(context.exchange.inbound)
        let isSigned = context.exchange.credentials.signing?.needsDigest == true
        begin(context, bodyDigest: isSigned ? MessageDigest(.sha256).finish().array : nil, parentDigest: nil)
    }

    private mutating func begin(_ context: ForwardingContext, bodyDigest: [UInt8]?, parentDigest: [UInt8]?) {
        writeHead(context, bodyDigest: bodyDigest, parentDigest: parentDigest)
        context.exchange.upstream.stream?.setDeadline(after: context.policy.timeouts.response)
        stage = .head
    }

    /// Sends what can be sent, and reads what has come, without waiting.
    ///
    /// - Throws: `upstreamFailed` when there is no response to pass on; what is the client's fault as its refusal.
    mutating func advance(_ context: ForwardingContext) throws(ExchangeFailure) -> Step {
        guard let stream = context.exchange.upstream.stream else { throw .upstreamFailed(.died) }
        while true {
            if owesClient {
                guard try context.requester.flush(context.exchange.outbound) else { return .awaitsEvent }
                owesClient = false
            }
            switch stage {
            case .head:
                guard try flushHead(context, to: stream) else { return .awaitsEvent }
                if context.exchange.body.announcement == .made {
                    expect(context)
                    continue
                }
                awaitResponse(context)
                if stream.isPlain, !stream.isReadable, context.exchange.upstream.inbound.isEmpty {
                    try check(stream)
                    return .awaitsEvent
                }
            case .expecting:
                guard try endsExpectation(context, of: stream) else { return .awaitsEvent }
            case .body:
                if let step = try advanceBody(context, to: stream) { return step }
            case .interrupted:
                guard try context.exchange.receiveHead() else { return .awaitsEvent }
                guard context.exchange.upstream.head.status.isInterim else {
                    awaitResponse(context)
                    continue
                }
                // A `100 Continue` that comes late, or early hints, ask for nothing but to go on.
                passInterimHead(context)
                if context.exchange.upstream.inbound.isEmpty { stage = .body }
            case .response:
                guard try context.exchange.receiveHead() else { return .awaitsEvent }
                guard context.exchange.upstream.head.status.isInterim else {
                    stage = .answered
                    context.exchange.record.wait = context.requester.loop.nanoseconds &- sentAt
                    if expectation.hasWaitedInVain { context.origin.ignoredExpectation(at: context.requester.loop.now) }
                    return .answered
                }
                // An interim response gives the origin no more time.
                let passed = (context.requester.loop.nanoseconds &- sentAt) / 1_000_000
                let limit = context.policy.timeouts.response - Int(clamping: passed)
                guard limit > 0 else { throw .upstreamFailed(.timedOut) }
                passInterimHead(context)
                stream.setDeadline(after: limit)
            case .answered: return .answered
            }
        }
    }

    private func flushHead(_ context: ForwardingContext, to stream: ByteStream) throws(ExchangeFailure) -> Bool {
        let out = context.exchange.outbound
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

    private mutating func awaitResponse(_ context: ForwardingContext) {
        if stage != .head {
            context.requester.stream.setDeadline(after: nil)
            context.exchange.upstream.stream?.setDeadline(after: context.policy.timeouts.response)
        }
        context.requester.notice(context.exchange)
        sentAt = context.requester.loop.nanoseconds
        stage = .response
    }

    // MARK: - Head

    private mutating func writeHead(
        _ context: ForwardingContext, bodyDigest: [UInt8]?, parentDigest: [UInt8]?
    ) {
        let omitsBody = context.exchange.omitsBody
        expectation.hasAsked =
            expectation.isWanted && !omitsBody
            && expectation.asks(
                ignored: context.origin.ignoresExpectation(at: context.requester.loop.now),
                keepingCopy: context.exchange.body.isKept)
        head.rewrite.body = omitsBody ? .empty : .asReceived
        head.rewrite.expectation =
            omitsBody ? .dropped : expectation.hasAsked ? .added : expectation.hasContinued ? .dropped : .asReceived
        context.exchange.body.announcement = omitsBody || context.exchange.body.isEmpty ? .none : .made
        head.write(context.exchange, to: context.destination, bodyDigest: bodyDigest, parentDigest: parentDigest)
    }

    /// The digest of the whole body, where the answer is made over it (`qop=auth-int`, a signature); as `RequestBody.digest`.
    private mutating func bodyDigest(
        _ context: ForwardingContext, _ algorithm: DigestAlgorithm, mayLeaveOut: Bool
    ) async throws(ExchangeFailure) -> [UInt8]? {
        if !context.exchange.body.isEmpty {
            // One that is known to be too large leaves its challenge unanswered, and is not asked for.
            if case .length(let length) = context.exchange.body.framing, length > context.room.largest { return nil }
            letClientContinue(context)
            if owesClient {
                owesClient = false
                try await context.requester.write(context.exchange.outbound)
            }
            (expectation.isAdded, expectation.isForIdentity) = (false, false)
        }
        return try await context.bodyDigest(algorithm, mayLeaveOut: mayLeaveOut)
    }

    // MARK: - Body

    /// Where `100 Continue` was asked for, the upstream has a second to want the body, or to answer without it, unless the
    /// client sends it unasked. For an origin that is known to say nothing there is no wait.
    private mutating func expect(_ context: ForwardingContext) {
        let clientWaits = context.exchange.request.expectsContinue && !expectation.hasContinued
        guard clientWaits || expectation.hasAsked else { return beginBody(context) }
        guard expectation.hasAsked || !context.origin.ignoresExpectation(at: context.requester.loop.now) else {
            letClientContinue(context)
            return beginBody(context)
        }
        let alarm = Alarm(on: context.requester.loop) { [wakeup = context.requester.wakeup] in wakeup.signal() }
        alarm.set(after: Expectation.milliseconds)
        self.alarm = alarm
        stage = .expecting
    }

    private mutating func beginBody(_ context: ForwardingContext) {
        alarm = nil
        // The step that the deadline was for has passed.
        context.exchange.upstream.stream?.setDeadline(after: nil)
        stage = .body
    }

    /// - Returns: whether something follows; else an event, or the alarm, goes on.
    private mutating func endsExpectation(
        _ context: ForwardingContext, of stream: ByteStream
    ) throws(ExchangeFailure) -> Bool {
        let clientWaits = context.exchange.request.expectsContinue && !expectation.hasContinued
        if stream.isReadable || !context.exchange.upstream.inbound.isEmpty {
            guard try context.exchange.receiveHead() else { return endsWait(context, clientWaits) }
            let status = context.exchange.upstream.head.status
            if !status.isInterim {
                // One that is content reads on (RFC 9110 section 10.1.1); after a refusal the body would be waste.
                let isRefused = status.rawValue >= 400
                context.exchange.body.announcement = isRefused ? .declined : clientWaits ? .optional : .made
                awaitResponse(context)
            } else if status == .continue {
                context.origin.heardExpectation()
                context.exchange.upstream.forgetHead()
                letClientContinue(context)
                beginBody(context)
            } else {
                passInterimHead(context)
            }
            return true
        }
        try check(stream)
        return endsWait(context, clientWaits)
    }

    private mutating func endsWait(_ context: ForwardingContext, _ clientWaits: Bool) -> Bool {
        let clientSends = clientWaits && (context.requester.stream.isReadable || !context.exchange.inbound.isEmpty)
        let hasRung = alarm?.hasRung ?? true
        guard hasRung || clientSends else { return false }
        expectation.hasWaitedInVain = hasRung
        letClientContinue(context)
        beginBody(context)
        return true
    }

    /// Sends the body, as long as the upstream has nothing to say.
    /// - Returns: nil where another stage follows.
    private mutating func advanceBody(
        _ context: ForwardingContext, to stream: ByteStream
    ) throws(ExchangeFailure) -> Step? {
        let client = context.requester.stream
        while true {
            let step: RequestBody.Step
            do throws(RequestBody.Failure) {
                step = try context.exchange.body.advance(
                    from: client, to: stream, inbound: context.exchange.inbound, on: context.requester.loop)
            } catch {
                // As in `flushHead`.
                guard case .upstream(let error) = error, error != .timedOut else { throw ExchangeFailure(error) }
                awaitResponse(context)
                return nil
            }
            switch step {
            case .ended:
                awaitResponse(context)
                return nil
            case .keeps, .readsBack: return .awaitsCopy
            case .moved:
                guard !context.exchange.body.isSent, stream.hasInput() else { continue }
            case .awaitsClient:
                if !stream.hasInput() { return try wait(context, for: client, not: stream) { .client($0) } }
            case .awaitsUpstream:
                if !stream.hasInput() { return try wait(context, for: stream, not: client) { .upstream($0) } }
            }
            client.setDeadline(after: nil)
            stream.setDeadline(after: context.policy.timeouts.response)
            stage = .interrupted
            return nil
        }
    }

    /// The time of the side that nobody waits for must not run out meanwhile.
    private func wait(
        _ context: ForwardingContext, for side: ByteStream, not other: ByteStream,
        _ failure: (IOError) -> RequestBody.Failure
    ) throws(ExchangeFailure) -> Step {
        do throws(IOError) { try side.check() } catch { throw ExchangeFailure(failure(error)) }
        other.setDeadline(after: nil)
        side.setDeadline(after: context.policy.timeouts.idle)
        return .awaitsEvent
    }

    private mutating func letClientContinue(_ context: ForwardingContext) {
        guard context.exchange.request.expectsContinue, !expectation.hasContinued else { return }
        expectation.hasContinued = true
        if !context.exchange.inbound.isEmpty || context.requester.stream.isReadable { return }
        context.exchange.outbound.clear()
        context.exchange.outbound.append("HTTP/1.1 100 Continue\r\n\r\n" as StaticString)
        owesClient = true
    }

    // MARK: - Response

    /// Passes a `1xx` on (RFC 9110 section 15.2), unless the client knows none, or the proxy itself asked for it.
    private mutating func passInterimHead(_ context: ForwardingContext) {
        let upstream = context.exchange.upstream
        defer { upstream.forgetHead() }
        if upstream.head.status == .continue {
            expectation.hasWaitedInVain = false
            context.origin.heardExpectation()
        }
        guard context.exchange.request.version >= .http11, upstream.head.status != .continue,
            !context.exchange.opensTunnel
        else { return }
        context.exchange.writeInterimHead(upgrade: head.upgrade(to: context.destination))
        owesClient = true
    }
}
