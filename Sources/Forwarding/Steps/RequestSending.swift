import Bytes
import Challenges
import Crypto
import HTTP
import IO
import Telemetry
import Transport
import Upstream

/// Sends a request upstream, head and body, once for each challenge, and reads the response's head each time. It is a
/// state machine, advanced at each event of the two channels.
///
///     head ─▶ [expecting ─▶] [body ⇄ interrupted ─▶] response ─▶ answered
struct RequestSending: ~Copyable {
    /// The result of one step.
    enum Step {
        /// The next event of either channel continues the work.
        case awaitsEvent
        /// The copy of the body needs its file: `ForwardingContext.workOnCopy`.
        case awaitsCopy
        /// The head of the final response is there.
        case answered
    }

    private enum Stage {
        /// `outbound` holds the rest of the head. Becomes `.expecting`, `.body` or `.response`.
        case head
        /// Waits at most a second for `100 Continue` or a final response. Becomes `.body` or `.response`.
        case expecting
        /// The body is being sent. Becomes `.interrupted` or `.response`.
        case body
        /// The upstream responds before it has the whole body. Becomes `.body` or `.response`.
        case interrupted
        /// Waits for the final response. Becomes `.answered`.
        case response
        case answered
    }

    /// Whether a request's body waits for `100 Continue` (RFC 9110 section 10.1.1), and how far that wait has come.
    private struct Expectation {
        /// Whether the proxy adds `Expect`, so that a challenge arrives before the body is sent.
        var isAdded = false
        /// Whether the proxy adds `Expect` for an origin that may ask for a certificate once it has seen the request.
        var isForIdentity = false
        /// Whether the request was sent with the proxy's own `Expect`.
        var hasAsked = false
        /// Whether the origin refused the `Expect`.
        var mayNotAsk = false
        /// Whether the origin has not answered the `Expect` of this request in time.
        var hasWaitedInVain = false
        /// Whether the client got `100 Continue`, or sends its body without it.
        var hasContinued = false

        /// The limit of the wait. The RFC advises against waiting without a limit; curl waits as long.
        static let limit: Milliseconds = 1000
        /// The number of bytes of a body that every server buffers while it asks for a certificate.
        static let heldByOrigins = 64 * 1024

        /// Whether the proxy has a reason to add `Expect`.
        var isWanted: Bool { isAdded || isForIdentity }

        /// Whether `Expect` is sent before the body. An origin that ignored it before is not asked again, unless a
        /// challenge would leave nothing to resend.
        func asks(ignored isIgnored: Bool, keepingCopy isKept: Bool) -> Bool {
            guard isWanted, !mayNotAsk else { return false }
            return !isIgnored || isAdded && !isKept
        }
    }

    /// The head that the upstream gets.
    private var head = UpstreamRequestHead()
    private var stage = Stage.answered
    /// Rings at the end of the wait for `100 Continue`.
    private var alarm: Alarm?
    /// Whether `outbound` holds the rest of an interim head for the client.
    private var owesClient = false
    private var serverWait = ServerWait()
    /// Whether the response takes so long that its buffers are lent meanwhile.
    private var isLong = false
    /// The time when the upstream had the whole request.
    private var sentAt = LoopInstant.zero
    private var expectation = Expectation()

    /// Starts with the request whose head was read.
    /// - Parameter isUpgraded: see `Forwarding.begin`.
    mutating func begin(isUpgraded: Bool) {
        head.begin(isUpgraded: isUpgraded)
        expectation = Expectation()
        owesClient = false
        stage = .answered
    }

    /// Clears the request.
    mutating func reset() { alarm.forget() }

    /// Makes sure that the body can be sent again after a challenge. It is copied; before a larger body is sent, the
    /// origin is asked with `Expect`. This also holds for requests with an answer, since any answer may be refused: a
    /// nonce expires, a password changes.
    mutating func prepareForChallenge(_ context: ForwardingContext) {
        head.rewrite.dropping.insert(.authorization)
        prepareForParent(context)
    }

    /// Makes sure that the body can be sent again after a challenge of the parent. The client's credential for the
    /// origin stays.
    mutating func prepareForParent(_ context: ForwardingContext) {
        let body = context.exchange.body
        guard !body.isEmpty else { return }
        // Its servers know no `Expect`, and a long call needs no file.
        if context.exchange.asksByGRPC {
            body.keepCopy(in: context.memory)
            return
        }
        body.keepCopy(in: context.room)
        var isSmall = false
        if case .length(let length) = body.framing { isSmall = length <= context.policy.limits.replayMemory }
        expectation.isAdded = !isSmall && !context.exchange.request.expectsContinue
    }

    /// Whether the origin refused the request because of the proxy's own `Expect` (RFC 9110 section 15.5.18). It is not
    /// asked again.
    mutating func dropsRefusedExpectation(_ context: ForwardingContext) -> Bool {
        guard expectation.hasAsked, context.exchange.upstream.head.status == .expectationFailed,
            context.exchange.body.canBeSent
        else {
            return false
        }
        expectation.mayNotAsk = true
        context.origin.ignoredExpectation(at: context.downstream.loop.now)
        return true
    }

    /// Asks the origin with `Expect` before it gets a large body. An origin that asks for a certificate after the head
    /// would have to buffer the whole body (`SSLRenegBufferSize` of Apache: 128 KiB).
    mutating func prepareForIdentity(_ context: ForwardingContext) {
        let exchange = context.exchange
        let held = Expectation.heldByOrigins
        if exchange.body.isEmpty { return }
        context.keepBodyForIdentity()
        // By HTTP/2, certificates belong to the handshake.
        if exchange.upstream.isStream { return }
        if exchange.upstream.hasShownIdentity || exchange.request.expectsContinue { return }
        if case .length(let length) = exchange.body.framing, length <= held { return }
        expectation.isForIdentity = true
    }

    /// Makes the signature the only credential of the request.
    mutating func prepareForSignature() { head.rewrite.dropping.insert(.authorization) }

    // MARK: - One leg

    /// Whether the answers need something first that takes its time: a login's next token, or the digest of the body.
    func wantsPreparation(_ context: ForwardingContext) -> Bool {
        if !context.exchange.body.isEmpty, context.exchange.credentials.signing?.wantedContent != nil { return true }
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
        }
        if let signing = context.exchange.credentials.signing { try await readContent(context, for: signing) }
        let challenges = context.exchange.credentials.challenges
        await challenges?.parent.loop?.prepareLogin()
        if !context.exchange.isLoggingInAtParent { await challenges?.origin.loop?.prepareLogin() }
        begin(context, bodyDigest: digest, parentDigest: parentDigest)
    }

    /// Begins to send; `advance` does the work.
    mutating func begin(_ context: ForwardingContext) {
        context.exchange.body.rewind(context.exchange.inbound)
        begin(context, bodyDigest: nil, parentDigest: nil)
    }

    /// Reads the part of the content that the signature covers.
    private mutating func readContent(
        _ context: ForwardingContext, for signing: RequestSigning
    ) async throws(ExchangeFailure) {
        switch signing.wantedContent {
        case nil: return
        case .digest(let algorithm):
            let digest = try await bodyDigest(context, algorithm, mayLeaveOut: signing.mayLeaveUnsigned)
            if digest == nil, !signing.mayLeaveUnsigned { throw ExchangeFailure(.tooLarge) }
            signing.digest = digest
        case .form(let limit):
            if case .length(let length) = context.exchange.body.framing, length > limit {
                throw Self.formTooLarge
            }
            try await beginReading(context)
            let exchange = context.exchange
            let stream = context.downstream.stream
            do throws(RequestBody.Failure) {
                signing.form = try await exchange.body.content(
                    upTo: limit, in: context.room, from: stream, inbound: exchange.inbound,
                    idle: context.policy.timeouts.idle)
            } catch {
                if case .tooLarge = error { throw Self.formTooLarge }
                throw ExchangeFailure(error)
            }
        }
    }

    private static var formTooLarge: ExchangeFailure {
        .refused(
            Refusal(
                .contentTooLarge, .httpRequestError,
                "the signature covers the form in the request, which is larger than 1 MiB, or than this proxy keeps "
                    + "(limits replay-memory and replay-disk)"))
    }

    private mutating func begin(_ context: ForwardingContext, bodyDigest: [UInt8]?, parentDigest: [UInt8]?) {
        writeHead(context, bodyDigest: bodyDigest, parentDigest: parentDigest)
        // The CONNECT of another exchange has the buffers of that one.
        beginWait(context, isWhole: context.exchange.body.announcement == .made || context.exchange.opensTunnel)
        stage = .head
    }

    /// Begins the time in which the server must answer.
    private mutating func beginWait(_ context: ForwardingContext, isWhole: Bool = false) {
        isLong = false
        serverWait.begin(context.responseLimit, on: context.exchange.upstream.stream, isWhole: isWhole)
    }

    /// Sends what can be sent, and reads the bytes that have arrived, without waiting.
    ///
    /// - Throws: `upstreamFailed` if there is no response to pass on; a refusal if the client is at fault.
    mutating func advance(_ context: ForwardingContext) throws(ExchangeFailure) -> Step {
        do throws(ExchangeFailure) { return try go(context) } catch {
            if case .upstreamFailed(.timedOut) = error,
                serverWait.goesOn(to: context.responseLimit, on: context.exchange.upstream.stream)
            {
                isLong = true
                return awaitEvent(context)
            }
            context.exchange.takeBuffersBack()
            throw error
        }
    }

    private func awaitEvent(_ context: ForwardingContext) -> Step {
        if isLong, stage == .response { context.exchange.lendBuffers(to: context.downstream.loop.buffers) }
        return .awaitsEvent
    }

    private mutating func go(_ context: ForwardingContext) throws(ExchangeFailure) -> Step {
        guard let stream = context.exchange.upstream.stream else { throw .upstreamFailed(.died) }
        while true {
            if owesClient {
                guard try context.downstream.flush(context.exchange.outbound) else { return .awaitsEvent }
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
                // A late `100 Continue`, or early hints, require nothing but to proceed.
                passInterimHead(context)
                if context.exchange.upstream.inbound.isEmpty { stage = .body }
            case .response:
                if isLong { context.exchange.takeBuffersBack() }
                guard try context.exchange.receiveHead() else { return awaitEvent(context) }
                guard context.exchange.upstream.head.status.isInterim else {
                    stage = .answered
                    context.exchange.record.facts.wait = context.downstream.loop.now.nanoseconds(since: sentAt)
                    if expectation.hasWaitedInVain {
                        context.origin.ignoredExpectation(at: context.downstream.loop.now)
                    }
                    return .answered
                }
                // An interim response gives the origin no more time.
                let passed = context.downstream.loop.now.time(since: sentAt)
                let limit = context.responseLimit - passed
                guard limit > 0 else { throw .upstreamFailed(.timedOut) }
                passInterimHead(context)
                serverWait.begin(limit, on: stream, isWhole: true)
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
                // A server that responds without reading may close first: its response must still be read.
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
            context.downstream.stream.setDeadline(after: nil)
            beginWait(context)
        }
        context.downstream.notice(context.exchange)
        sentAt = context.downstream.loop.now
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
                ignored: context.origin.ignoresExpectation(at: context.downstream.loop.now),
                keepingCopy: context.exchange.body.isKept)
        head.rewrite.body = omitsBody ? .empty : .asReceived
        head.rewrite.expectation =
            omitsBody ? .dropped : expectation.hasAsked ? .added : expectation.hasContinued ? .dropped : .asReceived
        context.exchange.body.announcement = omitsBody || context.exchange.body.isEmpty ? .none : .made
        head.write(context.exchange, to: context.destination, bodyDigest: bodyDigest, parentDigest: parentDigest)
    }

    /// The digest of the whole body, if the answer needs it (`qop=auth-int`, a signature); see `RequestBody.digest`.
    private mutating func bodyDigest(
        _ context: ForwardingContext, _ algorithm: DigestAlgorithm, mayLeaveOut: Bool
    ) async throws(ExchangeFailure) -> [UInt8]? {
        if !context.exchange.body.isEmpty {
            // The client is not asked for a body that is known to be too large; its challenge stays unanswered.
            if case .length(let length) = context.exchange.body.framing, length > context.room.largest { return nil }
            try await beginReading(context)
        }
        do throws(RequestBody.Failure) {
            return try await context.exchange.body.digest(
                algorithm, in: context.room, from: context.downstream.stream, inbound: context.exchange.inbound,
                idle: context.policy.timeouts.idle, mayLeaveOut: mayLeaveOut)
        } catch { throw ExchangeFailure(error) }
    }

    /// Has the client send its body, which is read before the head is sent.
    private mutating func beginReading(_ context: ForwardingContext) async throws(ExchangeFailure) {
        letClientContinue(context)
        if owesClient {
            owesClient = false
            try await context.downstream.write(context.exchange.outbound)
        }
        (expectation.isAdded, expectation.isForIdentity) = (false, false)
    }

    // MARK: - Body

    /// Waits for the upstream's `100 Continue` before the body, at most a second. It does not wait if the client sends the
    /// body at once, or if the origin is known to send no `100 Continue`.
    private mutating func expect(_ context: ForwardingContext) {
        let clientWaits = context.exchange.request.expectsContinue && !expectation.hasContinued
        guard clientWaits || expectation.hasAsked else { return beginBody(context) }
        guard expectation.hasAsked || !context.origin.ignoresExpectation(at: context.downstream.loop.now) else {
            letClientContinue(context)
            return beginBody(context)
        }
        let alarm = Alarm(on: context.downstream.loop) { [wakeup = context.downstream.wakeup] in wakeup.signal() }
        alarm.set(after: Expectation.limit)
        self.alarm = alarm
        stage = .expecting
    }

    private mutating func beginBody(_ context: ForwardingContext) {
        alarm = nil
        // The deadline was for a step that is over.
        context.exchange.upstream.stream?.setDeadline(after: nil)
        stage = .body
    }

    /// - Returns: whether another step follows at once; if false, wait for an event or the alarm.
    private mutating func endsExpectation(
        _ context: ForwardingContext, of stream: ByteStream
    ) throws(ExchangeFailure) -> Bool {
        let clientWaits = context.exchange.request.expectsContinue && !expectation.hasContinued
        if stream.isReadable || !context.exchange.upstream.inbound.isEmpty {
            guard try context.exchange.receiveHead() else { return endsWait(context, clientWaits) }
            let status = context.exchange.upstream.head.status
            if !status.isInterim {
                // A server that accepts reads on (RFC 9110 section 10.1.1); after a refusal the body would be useless.
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
        let clientSends = clientWaits && (context.downstream.stream.isReadable || !context.exchange.inbound.isEmpty)
        let hasRung = alarm?.hasRung ?? true
        guard hasRung || clientSends else { return false }
        expectation.hasWaitedInVain = hasRung
        letClientContinue(context)
        beginBody(context)
        return true
    }

    /// Sends the body until the upstream responds.
    /// - Returns: nil if another stage follows.
    private mutating func advanceBody(
        _ context: ForwardingContext, to stream: ByteStream
    ) throws(ExchangeFailure) -> Step? {
        let client = context.downstream.stream
        while true {
            let step: RequestBody.Step
            do throws(RequestBody.Failure) {
                step = try context.exchange.body.advance(
                    from: client, to: stream, inbound: context.exchange.inbound, on: context.downstream.loop)
            } catch {
                // See `flushHead`.
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
            beginWait(context, isWhole: true)
            stage = .interrupted
            return nil
        }
    }

    /// Waits for one side. The deadline of the other side is suspended meanwhile.
    private func wait(
        _ context: ForwardingContext, for side: ByteStream, not other: ByteStream,
        _ failure: (IOError) -> RequestBody.Failure
    ) throws(ExchangeFailure) -> Step {
        do throws(IOError) { try side.check() } catch { throw ExchangeFailure(failure(error)) }
        other.setDeadline(after: nil)
        side.setDeadline(after: context.idleLimit)
        return .awaitsEvent
    }

    private mutating func letClientContinue(_ context: ForwardingContext) {
        guard context.exchange.request.expectsContinue, !expectation.hasContinued else { return }
        expectation.hasContinued = true
        if !context.exchange.inbound.isEmpty || context.downstream.stream.isReadable { return }
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
