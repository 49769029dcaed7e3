import Authentication
import Bytes
import Challenges
import HTTP
import IO
import Rules
import Telemetry
import Transport
import Upstream

/// One request and its response: buffers, heads and the record.
///
/// A loop keeps a few and lends them out for as long as a client has something to say, so that an idle connection
/// holds none and a busy one allocates nothing.
public final class Exchange {
    /// The policy that rules it: taken when it was lent out, kept to its end whatever is reloaded meanwhile.
    public let policy: Policy
    /// The requests of the proxy's own that its challenges may need.
    let requests: any AnswerRequests.Type
    /// Bytes that came from the client behind the head.
    public let inbound: ByteBuffer
    /// The head as it came. Apart from `inbound`, because a challenge may make us send it again.
    public let headBytes = ByteBuffer(capacity: 2048)
    public let request: RequestHead
    public let body = RequestBody()
    /// Bytes that are being written, to either side.
    public let outbound: ByteBuffer
    public let upstream: UpstreamConnection
    /// The request target as the origin sees it. Written when somebody first asks for it: nothing of a plain request does.
    public var target: ByteBuffer {
        if texts.target.isEmpty {
            let head = headBytes
            request.target.appendOriginForm(head.readable, to: texts.target)
        }
        return texts.target
    }
    public let texts = Texts()
    /// Which way the request goes.
    public var way = Way.direct
    public var credentials: Credentials
    /// The credentials of the request that are being stored.
    public let storage: PendingStorage
    /// Nil for a client's.
    public var own: OwnRequest?
    /// The probe that the request is; nil for all others.
    var probe: Probe?
    /// Whether it is the CONNECT by which another exchange gets a tunnel.
    var opensTunnel: Bool { whole != nil }
    /// The exchange with the request as it came.
    var asked: Exchange { whole ?? self }
    /// Whether it is the proxy's own request, and no client's.
    var isOwn: Bool { own != nil || probe != nil }
    /// Where the request goes; nil until that is known.
    public var destination: Destination?
    public let record: ExchangeRecord
    public var times: Times
    /// The exchange that gets a tunnel by this one, which is its CONNECT; nil for all others.
    private let whole: Exchange?
    /// The pool that has the memory of the empty buffers; nil while the buffers have it.
    private var borrower: BufferPool?

    /// Texts that are made on the way.
    public struct Texts {
        /// As `Exchange.target`, where that was asked for.
        fileprivate let target = ByteBuffer(capacity: 512)
        /// The request target as the parent sees it that makes the request.
        let parentTarget = ByteBuffer(capacity: 16)
        /// The value of a field that is being made.
        public let fieldValue = ByteBuffer(capacity: 512)

        fileprivate func clear() {
            target.clear()
            parentTarget.clear()
            fieldValue.clear()
        }
    }

    /// The field by which a client's own login is answered, in the response to its request.
    public struct LoginAnswer {
        public let name: StaticString
        public let value: String

        public init(name: StaticString, value: String) {
            self.name = name
            self.value = value
        }
    }

    /// Moments on the loop's clock, in nanoseconds.
    public struct Times {
        /// When the first byte of the request was seen.
        public var start: UInt64 = 0
        /// When the connection was begun that is on its way.
        var connecting: UInt64 = 0
        /// When the first challenge was there that is answered; nil: there was none.
        var challenge: UInt64?
        /// Until when it may wait for other requests before anything is at stake.
        public let waiting: WaitingTime

        fileprivate init(waiting: WaitingTime = WaitingTime()) { self.waiting = waiting }

        fileprivate mutating func forget() {
            challenge = nil
            waiting.reset()
        }
    }

    init(policy: Policy, on loop: EventLoop, answering requests: any AnswerRequests.Type) {
        self.policy = policy
        self.requests = requests
        inbound = loop.buffers.take()
        outbound = loop.buffers.take()
        request = RequestHead(limits: policy.limits.request)
        upstream = UpstreamConnection(limits: policy.limits.response, on: loop)
        record = ExchangeRecord(keeping: policy.recordedParts)
        credentials = Credentials()
        storage = PendingStorage()
        times = Times()
        whole = nil
    }

    /// The CONNECT by which `other` has a parent open a tunnel. It shares the record and the client's buffers of that one.
    init(openingTunnelFor other: Exchange, by parent: Parent, on loop: EventLoop) {
        (policy, requests) = (other.policy, other.requests)
        (inbound, outbound) = (other.inbound, other.outbound)
        request = RequestHead(limits: policy.limits.request)
        upstream = UpstreamConnection(limits: policy.limits.response, on: loop)
        (record, storage, own, probe) = (other.record, other.storage, other.own, other.probe)
        credentials = Credentials(identities: other.credentials.beginIdentities())
        times = Times(waiting: other.times.waiting)
        whole = other
        way = .relayed(parent)
    }

    /// Writes the request's head as it goes on into `outbound`, up to the caller's own fields.
    ///
    /// - Parameters:
    ///   - target: in place of the client's.
    ///   - upgrade: as `RequestHead.write` has it.
    func beginHead(as rewrite: RequestRewrite, to target: ByteBuffer?, through upgrade: UpgradedOrigin?) -> HeadWriter {
        let head = headBytes
        return request.write(
            head.readable, as: rewrite, to: target, through: upgrade, via: .ours, into: outbound)
    }

    /// Takes note of the response's head, which stands in `outbound` as the client gets it, where a log will ask for it.
    func recordResponse() {
        guard record.parts.contains(.response) else { return }
        record.headBytesOut = outbound.count
        record.server = upstream.stream?.peerAddress?.address
        upstream.withHeadBytes { bytes in
            if let type = upstream.head.fields.first(.contentType) { record.setType(bytes.extracting(type.value)) }
        }
    }

    /// One whose buffers a long head has enlarged is not.
    public var isWorthKeeping: Bool {
        inbound.capacity == BufferPool.regular && outbound.capacity == BufferPool.regular
            && upstream.inbound.capacity == BufferPool.regular && headBytes.capacity <= BufferPool.regular
    }

    /// Gives the memory of empty buffers back while the client takes no more of its response, so that a slow one holds none
    /// of them.
    func lendBuffers(to pool: BufferPool) {
        borrower = pool
        for buffer in [inbound, outbound, upstream.inbound] { pool.reclaim(from: buffer) }
        headBytes.shrink()
    }

    /// Takes it back, to read on or for the next request.
    func takeBuffersBack() {
        guard let pool = borrower.take() else { return }
        for buffer in [inbound, outbound, upstream.inbound] { pool.refill(buffer) }
    }

    /// Gives the buffers back to the loop. The exchange is not used again; its record is as it was.
    public func dissolve(into pool: BufferPool) {
        if opensTunnel {
            outbound.clear()
            upstream.reset()
            return pool.give(upstream.inbound)
        }
        forget()
        for buffer in [inbound, outbound, upstream.inbound] { pool.give(buffer) }
    }

    /// Forgets the request; bytes of the client's next one stay.
    public func reset() {
        forget()
        takeBuffersBack()
        record.reset()
    }

    private func forget() {
        destination.forget()
        way = .direct
        times.forget()
        if storage.isPending { storage.reset() }
        credentials.forget()
        own.forget()
        probe.forget()
        headBytes.clear()
        texts.clear()
        outbound.clear()
        request.reset()
        body.reset()
        upstream.reset()
    }

    /// Begins with the head of a request of the proxy's own, which was written to `headBytes`.
    func beginOwn() throws(HTTPError) {
        let head = headBytes
        guard case .complete = try request.parse(head.readable) else { throw HTTPError(.client, .incomplete) }
        body.begin(request.framing, limits: policy.limits.request)
    }

    // MARK: - Heads

    /// Reads what has come of the next response head.
    /// - Returns: whether one is there.
    public func receiveHead() throws(ExchangeFailure) -> Bool {
        do throws(UpstreamConnection.Failure) { return try upstream.advanceHead(answering: request.method) } catch {
            throw .upstreamFailed(error)
        }
    }

    /// Writes the `1xx` head that has come to `outbound`, as the client gets it.
    func writeInterimHead(upgrade: UpgradedOrigin?) {
        let (upstream, out) = (upstream, outbound)
        out.clear()
        var interim = ResponseRewrite()
        // No client needs them here (RFC 6265 section 3), and they may be those of the session that answers.
        if credentials.challenges?.origin.loop?.answersByCookies == true { interim.dropping = FieldSet(.setCookie) }
        upstream.withHeadBytes { bytes in
            upstream.head.write(bytes, as: interim, through: upgrade, via: .ours, into: out).end()
        }
        if policy.rules.speaks(of: .places) { hidePlacedCredential() }
    }

    /// Whether a practice page of the admin listener is asked for. That listener decodes nothing, so that no other page of
    /// it has a path like this.
    public var asksForPractice: Bool {
        let head = headBytes
        let path = head.readable.extracting(request.target.path)
        return path.count >= 10 && path.extracting(first: 10).equals("/practice/")
    }

    // MARK: - The parties to it

    /// Reading a response before it is passed on must not wait for a body that does not go on. The body of a
    /// challenge is not read.
    var mayReadAhead: Bool {
        upstream.head.status != .unauthorized && upstream.head.status != .proxyAuthenticationRequired
    }

    /// Whether the request goes out without its body, since it can only bring the next challenge.
    public var omitsBody: Bool {
        credentials.challenges?.origin.loop?.omitsBody == true || credentials.challenges?.parent.loop?.omitsBody == true
    }

    /// Whether the next request can only bring the parent's next challenge.
    var isLoggingInAtParent: Bool { upstream.parentLogin?.context?.isOpening ?? false }

    /// Whether the parent that makes the request wants something of us with the response, also with a `401` of its own.
    var isChallengedByParent: Bool {
        guard way.relay != nil else { return false }
        return upstream.head.status == .proxyAuthenticationRequired
            || credentials.challenges?.parent.loop?.isChallenge == true
    }

    // MARK: - A login of the client's own

    // It is relayed, on a connection that is the client's alone (RFC 4559 section 6).

    /// Whether the request goes out with a token of the client's own for the connection that it is sent on.
    var bringsOwnLogin: Bool {
        guard credentials.challenges?.origin.isOurs != true, credentials.signing == nil,
            let field = request.fields.first(.authorization)
        else {
            return false
        }
        let head = headBytes
        return Self.isOfConnection(head.readable.extracting(field.value))
    }

    /// Whether the response asks the client for one. It must not answer through a proxy that does not say that it keeps
    /// their connections together.
    var asksForOwnLogin: Bool {
        guard upstream.head.status == .unauthorized else { return false }
        return upstream.withHeadBytes { bytes in
            upstream.head.fields.contains { field in
                field.known == .wwwAuthenticate && Self.isOfConnection(bytes.extracting(field.value))
            }
        }
    }

    private static func isOfConnection(_ value: Span<UInt8>) -> Bool {
        begins(value, with: "ntlm") || begins(value, with: "negotiate")
    }

    private static func begins(_ value: Span<UInt8>, with scheme: StaticString) -> Bool {
        let length = scheme.utf8CodeUnitCount
        guard value.count >= length, value.extracting(first: length).equalsIgnoringCase(scheme) else { return false }
        return value.count == length || value[length].isBlank || value[length] == .comma
    }
}

extension Exchange {
    /// How one request answers the servers that want to know whose it is. Most requests have nothing of it.
    public struct Credentials {
        /// The challenges that are ours to answer; nil if there are none.
        private(set) var challenges: ExchangeChallenges?
        /// Kept from request to request.
        private lazy var ownChallenges = ExchangeChallenges()
        /// The requests for certificates that the servers on its way have made; nil: no connection was made for it.
        public private(set) var identities: IdentityChallenges?
        /// Signs the request; nil if no rule has it signed.
        var signing: RequestSigning?
        /// The client's own answer, where a rule wants to learn from it.
        var learnableAnswer: LearnableAnswer?
        /// The answer to the client's own login, when it has come to its end; goes with the response.
        public var loginAnswer: LoginAnswer?

        init(identities: IdentityChallenges? = nil) { self.identities = identities }

        /// Answers the origin's challenges.
        mutating func begin(_ server: ExchangeChallenges.Server) {
            let own = ownChallenges
            own.origin = server
            challenges = own
        }

        /// Answers the challenges of the parent that makes the request.
        mutating func beginAtParent(_ server: ExchangeChallenges.Server) {
            let own = ownChallenges
            own.parent = server
            challenges = own
        }

        /// Begins to note what servers say to certificates, for the next connections.
        mutating func beginIdentities() -> IdentityChallenges {
            let begun = identities ?? IdentityChallenges()
            identities = begun
            return begun
        }

        mutating func forget() {
            if let challenges {
                challenges.origin = .ignored
                challenges.parent = .ignored
                challenges.cookies.forget()
                self.challenges = nil
            }
            identities.forget()
            signing.forget()
            learnableAnswer.forget()
            loginAnswer.forget()
        }
    }
}

/// The requests of the proxy's own that an answer to a challenge may need.
protocol AnswerRequests {
    /// Fetches tokens from their endpoints.
    static func tokens(over upstreams: Upstreams, by policy: Policy) -> any TokenFetching

    /// The form that a rule has for the destination; nil: none has.
    static func pages(of exchange: Exchange, to destination: Destination, for requester: Requester) -> (any LoginPages)?
}

extension Exchange {
    /// The client's application, as it names itself in `User-Agent`, cut; nil: it does not.
    public var application: String? {
        let head = asked.headBytes
        return asked.request.fields.first(.userAgent).map { field in
            JournalText.printable(head.readable.extracting(field.value).text, longest: 80)
        }
    }
}
