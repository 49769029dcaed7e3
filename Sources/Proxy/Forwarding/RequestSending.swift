import Bytes
import Crypto
import HTTP
import IO
import Telemetry
import Transport

/// Sends a request upstream, head and body, as often as its challenges want, and reads the response's head each time.
struct RequestSending: ~Copyable {
    let requester: Requester
    let exchange: Exchange
    private var policy: Policy { exchange.policy }
    private var rewrite = RequestRewrite()
    private let origin: Origin
    /// The proxy asks for `100 Continue` where the client did not.
    private var addsExpectation = false
    /// The same, for an origin that may want a certificate once it has seen the request.
    private var asksForIdentity = false
    /// The request went out with an `Expect` of the proxy's own.
    private var hasAsked = false
    /// The origin refused that.
    private var mayNotAsk = false
    /// The origin let this request wait for `100 Continue` in vain.
    private var hasWaitedInVain = false
    /// The client was told to send its body, or sends it unasked.
    private var hasContinued = false

    /// RFC 9110 section 10.1.1 wants no endless wait for `100 Continue`; curl waits as long.
    private static let continueMilliseconds = 1000

    /// Bytes of a body that every server keeps while it asks for a certificate.
    private static let heldByOrigins = 64 * 1024

    init(requester: Requester, exchange: Exchange, origin: Origin, upgrade: UpgradedOrigin?) {
        self.requester = requester
        self.exchange = exchange
        self.origin = origin
        rewrite.upgrade = upgrade
        if exchange.request.upgrade == .webSocket { rewrite.connection = .upgrade }
    }

    /// Sees to it that the body can be sent again after a challenge: it is copied, and for a larger one the origin is
    /// asked before it is sent. That is so too where an answer goes with the request, since any may be refused: a nonce
    /// grows stale, a password changes.
    mutating func prepareForChallenge() {
        rewrite.dropping.insert(.authorization)
        prepareBody()
    }

    /// The same for a challenge of the parent's; what the client says to the origin stays.
    mutating func prepareForParent() { prepareBody() }

    private mutating func prepareBody() {
        let body = exchange.body
        guard !body.isEmpty else { return }
        body.keepCopy(in: room)
        var isSmall = false
        if case .length(let length) = body.framing { isSmall = length <= policy.limits.replayMemory }
        addsExpectation = !isSmall && !exchange.request.expectsContinue
    }

    private var room: ReplayRoom { ReplayRoom(policy.limits, in: requester.shared.spool) }

    /// Sees to it that a small body can be sent again where the connection turns out to be dead.
    func prepareForReuse() {
        guard !exchange.body.isEmpty, exchange.request.method.isIdempotent,
            case .length(let length) = exchange.body.framing, length <= policy.limits.replayMemory
        else { return }
        exchange.body.keepCopy(in: room)
    }

    /// Whether the origin is asked before the body is sent. One that does not answer that is not asked again, unless there
    /// would be nothing to send again after a challenge.
    private var asksFirst: Bool {
        guard addsExpectation || asksForIdentity, !mayNotAsk else { return false }
        return !origin.ignoresExpectation(at: requester.loop.now) || addsExpectation && !exchange.body.isKept
    }

    /// Whether the origin refused the request for the proxy's own `Expect` (RFC 9110 section 15.5.18). It is not asked again.
    mutating func dropsRefusedExpectation() -> Bool {
        guard hasAsked, exchange.upstream.head.status == .expectationFailed, exchange.body.canBeSent else {
            return false
        }
        mayNotAsk = true
        origin.ignoredExpectation(at: requester.loop.now)
        return true
    }

    /// Has the origin look at the request before it gets a large body: one that asks for a certificate only then would
    /// have to keep the whole body until it has seen it (`SSLRenegBufferSize` of Apache: 128 KiB).
    mutating func prepareForIdentity() {
        guard !exchange.upstream.hasShownIdentity, !exchange.body.isEmpty, !exchange.request.expectsContinue else {
            return
        }
        if case .length(let length) = exchange.body.framing, length <= Self.heldByOrigins { return }
        asksForIdentity = true
    }

    /// The signature that the request gets is the only one.
    mutating func prepareForSignature() { rewrite.dropping.insert(.authorization) }

    /// Sends a request without a body in one call, where nothing has to be waited for.
    mutating func sendAtOnce() {
        guard let stream = exchange.upstream.stream else { return }
        writeHead(bodyDigest: exchange.signing.map { _ in MessageDigest(.sha256).finish().array })
        stream.setDeadline(after: policy.timeouts.response)
        // What is left is written by the task that finds it.
        _ = stream.writeAtOnce(exchange.outbound)
    }

    /// Reads the final response head to a request that was sent already.
    mutating func receive() async throws(ExchangeFailure) {
        guard let stream = exchange.upstream.stream else { throw .upstreamFailed(.died) }
        // The time began with the request, and may have been over before a task was there to see it.
        do throws(IOError) { try stream.check() } catch {
            throw .upstreamFailed(error == .timedOut ? .timedOut : .died)
        }
        if !exchange.outbound.isEmpty { try await flush(to: stream) }
        try await receiveFinalHead()
    }

    /// - Throws: `upstreamFailed` when there is no response to pass on; what is the client's fault as its refusal.
    mutating func send() async throws(ExchangeFailure) {
        guard let stream = exchange.upstream.stream else { throw .upstreamFailed(.died) }
        exchange.body.rewind(exchange.inbound)
        var digest: [UInt8]?
        var parentDigest: [UInt8]?
        if let algorithm = exchange.challengers?.parent?.bodyDigest {
            parentDigest = try await bodyDigest(algorithm, mayLeaveOut: false)
        }
        if let algorithm = exchange.challengers?.origin?.bodyDigest {
            digest = try await bodyDigest(algorithm, mayLeaveOut: false)
        } else if let signing = exchange.signing, signing.needsDigest {
            digest = try await bodyDigest(.sha256, mayLeaveOut: signing.mayLeaveUnsigned)
            if digest == nil, !signing.mayLeaveUnsigned { throw ExchangeFailure(.tooLarge) }
        }
        await exchange.challengers?.parent?.prepareLogin()
        if !exchange.isLoggingInAtParent { await exchange.challengers?.origin?.prepareLogin() }
        writeHead(bodyDigest: digest, parentDigest: parentDigest)
        stream.setDeadline(after: policy.timeouts.response)
        if !stream.writeAtOnce(exchange.outbound) { try await flush(to: stream) }
        if exchange.body.announcement == .made {
            if try await awaitsFinalHead(from: stream) { return }
            try await sendBody(to: stream)
        }
        let sent = requester.loop.now
        try await receiveFinalHead()
        exchange.record.waitMilliseconds = Int(clamping: requester.loop.now &- sent)
        if hasWaitedInVain { origin.ignoredExpectation(at: requester.loop.now) }
    }

    // MARK: - Head

    private mutating func writeHead(bodyDigest: [UInt8]?, parentDigest: [UInt8]? = nil) {
        let omitsBody = exchange.omitsBody
        rewrite.form = exchange.way.relay == nil ? .origin : .absolute(.http)
        rewrite.body = omitsBody ? .empty : .asReceived
        hasAsked = asksFirst && !omitsBody
        rewrite.expectation = omitsBody ? .dropped : hasAsked ? .added : hasContinued ? .dropped : .asReceived
        exchange.body.announcement = omitsBody || exchange.body.isEmpty ? .none : .made
        let (request, head, out, value) = (exchange.request, exchange.headBytes, exchange.outbound, exchange.fieldValue)
        out.clear()
        value.clear()
        let field = prepareAnswer()
        let writer = request.write(head.readable, as: rewrite, via: .ours, into: out)
        let method = request.methodName
        let target = exchange.target
        let isLoggingIn = exchange.challengers?.hasParent == true && authorizeAtParent(parentDigest, with: writer)
        if !isLoggingIn,
            exchange.challengers?.origin?.authorize(
                method: head.readable.extracting(method), target: target.readable, bodyDigest: bodyDigest, into: value)
                == true
        {
            writer.field(field, value.readable)
        }
        if rewrite.dropping.contains(.acceptEncoding) {
            writer.field("Accept-Encoding", acceptsGzip ? "gzip" as StaticString : "identity")
        }
        if let signing = exchange.signing {
            signing.append(out.readable, digest: bodyDigest, at: SystemClock.epochMilliseconds, to: writer)
            exchange.record.attempts += 1
        }
        writer.end()
    }

    /// Makes room for what is answered, and for what has to be read.
    /// - Returns: the field that the answer stands in.
    private mutating func prepareAnswer() -> StaticString {
        rewrite.dropping.subtract(FieldSet(.cookie).union(FieldSet(.acceptEncoding)))
        guard exchange.challengers?.hasOrigin == true else { return "Authorization" }
        let field = exchange.challengers?.origin?.answerField ?? "Authorization"
        if exchange.challengers?.origin?.answersByCookies == true { rewrite.dropping.insert(.cookie) }
        if exchange.challengers?.origin?.readsPages == true, exchange.request.fields.present.contains(.acceptEncoding) {
            rewrite.dropping.insert(.acceptEncoding)
        }
        return field
    }

    /// Whether the client takes the one coding that pages are read in and that every server has.
    private var acceptsGzip: Bool {
        let head = exchange.headBytes
        return exchange.request.fields.contains { field in
            guard field.known == .acceptEncoding else { return false }
            let value = head.readable.extracting(field.value)
            var start = 0
            while start < value.count {
                let end = value.firstIndex(of: .comma, in: start..<value.count) ?? value.count
                if value.extracting(value.trimmingBlanks(start..<end)).equalsIgnoringCase("gzip") { return true }
                start = end + 1
            }
            return false
        }
    }

    /// Answers the parent, before anybody behind it reads the request.
    /// - Returns: whether the parent, in the middle of a login, will not pass the request on.
    private func authorizeAtParent(_ bodyDigest: [UInt8]?, with writer: borrowing HeadWriter) -> Bool {
        let (head, value, target) = (exchange.headBytes, exchange.fieldValue, exchange.parentTarget)
        let isLoggingIn = exchange.isLoggingInAtParent
        let method = head.readable.extracting(exchange.request.methodName)
        if exchange.challengers?.parent?.authorize(
            method: method, target: target.readable, bodyDigest: bodyDigest, into: value) == true
        {
            writer.field("Proxy-Authorization", value.readable)
        }
        value.clear()
        return isLoggingIn
    }

    /// The digest of the whole body, where the answer is made over it (`qop=auth-int`, a signature). Nil when the body is
    /// known to be too large to be kept: then the challenge stays unanswered.
    ///
    /// - Parameter mayLeaveOut: whether nil will do for a body that turns out to be too large, too.
    private mutating func bodyDigest(
        _ algorithm: DigestAlgorithm, mayLeaveOut: Bool
    ) async throws(ExchangeFailure) -> [UInt8]? {
        var digest = MessageDigest(algorithm)
        let body = exchange.body
        if !body.isEmpty {
            if case .length(let length) = body.framing, length > room.largest { return nil }
            try await letClientContinue()
            do throws(RequestBody.Failure) {
                body.keepCopy(in: room)
                let isWhole = try await body.readAll(
                    from: requester.stream, inbound: exchange.inbound, limits: policy.limits.request,
                    idle: policy.timeouts.idle, each: { digest.update($0) })
                if !isWhole {
                    guard mayLeaveOut, body.canBeSent else { throw body.isCrowdedOut ? .crowdedOut : .tooLarge }
                    return nil
                }
            } catch { throw ExchangeFailure(error) }
            addsExpectation = false
            asksForIdentity = false
        }
        return digest.finish().array
    }

    private func flush(to stream: ByteStream) async throws(ExchangeFailure) {
        do throws(IOError) {
            try await stream.write(from: exchange.outbound)
        } catch {
            // A server that answers without reading may close first: whatever it said is still to be read.
            if error == .timedOut { throw .upstreamFailed(.timedOut) }
        }
    }

    // MARK: - Body

    /// Sends the body, as long as the upstream has nothing final to say.
    private mutating func sendBody(to stream: ByteStream) async throws(ExchangeFailure) {
        sending: while case .interrupted = try await passOnBody(to: stream) {
            // A `100 Continue` that comes late, or early hints, ask for nothing but to go on.
            repeat {
                try await receiveHead()
                guard exchange.upstream.head.status.isInterim else { break sending }
                try await passInterimHead()
            } while !exchange.upstream.inbound.isEmpty
        }
        exchange.record.bytesIn = exchange.body.count
        stream.setDeadline(after: policy.timeouts.response)
    }

    private func passOnBody(to stream: ByteStream) async throws(ExchangeFailure) -> RequestBody.Outcome {
        do throws(RequestBody.Failure) {
            return try await exchange.body.send(
                to: stream, from: requester.stream, inbound: exchange.inbound, idle: policy.timeouts.idle,
                on: requester.loop)
        } catch {
            // As in `flush`.
            if case .upstream(let error) = error, error != .timedOut { return .sent }
            throw ExchangeFailure(error)
        }
    }

    /// Where `100 Continue` was asked for: waits until the upstream wants the body, answers without it, or says nothing
    /// for a second, or the client sends it unasked. For an origin that is known to say nothing there is no wait.
    /// - Returns: whether the final response's head is there.
    private mutating func awaitsFinalHead(from stream: ByteStream) async throws(ExchangeFailure) -> Bool {
        let clientWaits = exchange.request.expectsContinue && !hasContinued
        guard clientWaits || hasAsked else { return false }
        guard hasAsked || !origin.ignoresExpectation(at: requester.loop.now) else {
            try await letClientContinue()
            return false
        }
        let alarm = Alarm(on: requester.loop) { [wakeup = requester.wakeup] in wakeup.signal() }
        alarm.set(after: Self.continueMilliseconds)
        while true {
            if stream.isReadable || !exchange.upstream.inbound.isEmpty {
                try await receiveHead()
                let status = exchange.upstream.head.status
                if !status.isInterim {
                    // One that is content reads on (RFC 9110 section 10.1.1); after a refusal the body would be waste.
                    let isRefused = status.rawValue >= 400
                    exchange.body.announcement = isRefused ? .declined : clientWaits ? .optional : .made
                    return true
                }
                if status == .continue {
                    origin.heardExpectation()
                    exchange.upstream.forgetHead()
                    break
                }
                try await passInterimHead()
                continue
            }
            let clientSends = clientWaits && (requester.stream.isReadable || !exchange.inbound.isEmpty)
            if alarm.hasRung || clientSends {
                hasWaitedInVain = alarm.hasRung
                break
            }
            await requester.wakeup.wait()
            do throws(IOError) { try stream.check() } catch { throw .upstreamFailed(.timedOut) }
        }
        try await letClientContinue()
        return false
    }

    /// Tells a client that waits to send its body.
    private mutating func letClientContinue() async throws(ExchangeFailure) {
        guard exchange.request.expectsContinue, !hasContinued else { return }
        hasContinued = true
        if !exchange.inbound.isEmpty || requester.stream.isReadable { return }
        let out = exchange.outbound
        out.clear()
        out.append("HTTP/1.1 100 Continue\r\n\r\n" as StaticString)
        try await requester.write(out)
    }

    // MARK: - Response

    private func receiveHead() async throws(ExchangeFailure) {
        do throws(UpstreamConnection.Failure) {
            try await exchange.upstream.receiveHead(
                answering: exchange.request.method, within: policy.timeouts.response)
        } catch { throw .upstreamFailed(error) }
    }

    private mutating func receiveFinalHead() async throws(ExchangeFailure) {
        // Its end may have come while its body stood before it.
        requester.notice(exchange)
        let loop = requester.loop
        let end = loop.now &+ UInt64(clamping: policy.timeouts.response)
        while true {
            try await receiveHead()
            if !exchange.upstream.head.status.isInterim { return }
            // A sign of life that nobody gets gives the origin no more time.
            if exchange.request.version < .http11, loop.now >= end { throw .upstreamFailed(.timedOut) }
            try await passInterimHead()
        }
    }

    /// Passes a `1xx` on (RFC 9110 section 15.2), unless the client knows none, or the proxy itself asked for it.
    private mutating func passInterimHead() async throws(ExchangeFailure) {
        let upstream = exchange.upstream
        defer { upstream.forgetHead() }
        if upstream.head.status == .continue {
            hasWaitedInVain = false
            origin.heardExpectation()
        }
        guard exchange.request.version >= .http11, upstream.head.status != .continue else { return }
        let out = exchange.outbound
        out.clear()
        var interim = ResponseRewrite()
        interim.upgrade = rewrite.upgrade
        // No client needs them here (RFC 6265 section 3), and they may be those of the session that answers.
        if exchange.challengers?.origin?.answersByCookies == true { interim.dropping = FieldSet(.setCookie) }
        upstream.withHeadBytes { bytes in
            upstream.head.write(bytes, as: interim, via: .ours, into: out).end()
        }
        try await requester.write(out)
    }
}
