import Authentication
import Bytes
import Challenges
import Crypto
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
    /// The policy of this request. It is set when the exchange is lent out; a reload does not change it.
    public let policy: Policy
    /// The proxy's own requests that its challenges may need.
    let requests: any AnswerRequests.Type
    /// The bytes from the client that follow the head.
    public let inbound: ByteBuffer
    /// The head as received. It is kept apart from `inbound`, because a challenge may make the proxy send it again.
    public let headBytes = ByteBuffer(capacity: 512)
    public let request: RequestHead
    public let body = RequestBody()
    /// The bytes to be written, to either side.
    public let outbound: ByteBuffer
    public let upstream: UpstreamConnection
    /// The request target as the origin sees it. It is made on first use; a plain request does not need it.
    public var target: ByteBuffer {
        if texts.target.isEmpty {
            let head = headBytes
            request.target.appendOriginForm(head.readable, to: texts.target)
        }
        return texts.target
    }
    public let texts = Texts()
    /// The path that the request takes upstream.
    public var way = UpstreamPath.direct
    public var credentials: Credentials
    /// The request's credentials that are being stored.
    public let storage: Learning.PendingStorage
    /// The data of the proxy's own request; nil for a client's request.
    public var own: InternalRequest?
    /// The probe that this request carries out; nil for all other requests.
    var probe: Evidence.Probe?
    /// Whether it is the CONNECT by which another exchange gets a tunnel.
    var opensTunnel: Bool { whole != nil }
    /// The exchange with the request as it came.
    var asked: Exchange { whole ?? self }
    /// Whether this is the proxy's own request, not a client's.
    var isOwn: Bool { own != nil || probe != nil }
    /// The destination of the request; nil until it is known.
    public var destination: Destination?
    /// Whether the request cannot be said by HTTP/2.
    var needsHTTP11 = false
    public let record: ExchangeRecord
    public var times: Times
    /// The exchange that gets a tunnel by this one, which is its CONNECT; nil for all others.
    private let whole: Exchange?
    /// The pool that took back the memory of the empty buffers; nil while the buffers have their memory.
    private var borrower: BufferPool?

    /// Texts that are made during the exchange.
    public struct Texts {
        /// The text of `Exchange.target`; empty until first used.
        fileprivate let target = ByteBuffer(capacity: 64)
        /// The request target as seen by the parent that makes the request.
        let parentTarget = ByteBuffer(capacity: 16)
        /// The value of a field that is being written.
        public let fieldValue = ByteBuffer(capacity: 64)

        fileprivate func clear() {
            target.clear()
            parentTarget.clear()
            fieldValue.clear()
        }
    }

    /// Times on the loop's clock.
    public struct Times {
        /// The time when the first byte of the request was seen.
        public var start = LoopInstant.zero
        /// The time when the pending connection was begun.
        var connecting = LoopInstant.zero
        /// The time of the first challenge that is being answered; nil if none.
        var challenge: LoopInstant?
        /// The limit of the wait for other requests that costs nothing.
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
        storage = Learning.PendingStorage()
        times = Times()
        whole = nil
    }

    /// Creates the CONNECT by which `other` has a parent open a tunnel. It shares the record and the client's buffers
    /// of `other`.
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

    /// Records the response's head, which is in `outbound` in the form that the client gets, if a log needs it.
    func recordResponse() {
        guard record.parts.contains(.response) else { return }
        record.facts.headBytesOut = outbound.count
        record.facts.server = upstream.peerAddress
        upstream.withHeadBytes { bytes in
            if let type = upstream.head.fields.first(.contentType) { record.setType(bytes.extracting(type.value)) }
        }
    }

    /// Whether the exchange can be reused. False if a long head has enlarged its buffers.
    public var isWorthKeeping: Bool {
        inbound.capacity == BufferPool.regular && outbound.capacity == BufferPool.regular
            && upstream.inbound.capacity == BufferPool.regular && headBytes.capacity <= BufferPool.regular
    }

    /// Returns the memory of empty buffers to the pool while the client does not read its response, or the server does
    /// not answer, so that a slow party holds none.
    func lendBuffers(to pool: BufferPool) {
        borrower = pool
        for buffer in [inbound, outbound, upstream.inbound] { pool.reclaim(from: buffer) }
        headBytes.shrink()
    }

    /// Takes the memory back, to read more or for the next request.
    func takeBuffersBack() {
        guard let pool = borrower.take() else { return }
        for buffer in [inbound, outbound, upstream.inbound] { pool.refill(buffer) }
    }

    /// Returns the buffers to the loop. The exchange is not used again; its record stays as it is.
    public func dissolve(into pool: BufferPool) {
        if opensTunnel {
            outbound.clear()
            upstream.reset()
            return pool.give(upstream.inbound)
        }
        forget()
        for buffer in [inbound, outbound, upstream.inbound] { pool.give(buffer) }
    }

    /// Clears the request; bytes of the client's next one stay.
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
        needsHTTP11 = false
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

    /// Reads the bytes of the next response head that are there.
    /// - Returns: whether one is there.
    public func receiveHead() throws(ExchangeFailure) -> Bool {
        do throws(UpstreamConnection.Failure) { return try upstream.advanceHead(answering: request.method) } catch {
            throw .upstreamFailed(error)
        }
    }

    /// Writes the `1xx` head that has arrived to `outbound`, in the form that the client gets.
    func writeInterimHead(upgrade: UpgradedOrigin?) {
        let upstream = upstream
        let out = outbound
        out.clear()
        var interim = ResponseRewrite()
        // Clients do not need cookies here (RFC 6265 section 3), and they may belong to the session that answers.
        if credentials.challenges?.origin.loop?.answersByCookies == true { interim.dropping = FieldSet(.setCookie) }
        upstream.withHeadBytes { bytes in
            upstream.head.write(bytes, as: interim, through: upgrade, via: .ours, into: out).end()
        }
        if credentials.challenges != nil, policy.rules.speaks(of: .places) { hidePlacedCredential() }
    }

    /// Whether the request is for a practice page of the admin listener. That listener decodes nothing, so no other
    /// page of it has such a path.
    public var asksForPractice: Bool {
        let head = headBytes
        let path = head.readable.extracting(request.target.path)
        return path.count >= 10 && path.extracting(first: 10).equals("/practice/")
    }

    // MARK: - The parties to it

    /// The client's application, as named in `User-Agent`, of limited length; nil if absent.
    public var application: String? {
        let head = asked.headBytes
        return asked.request.fields.first(.userAgent).map { field in
            JournalText.printable(head.readable.extracting(field.value).text, longest: 80)
        }
    }

    /// Reading a response before it is passed on must not wait for a body that does not go on. The body of a
    /// challenge is not read.
    var mayReadAhead: Bool {
        upstream.head.status != .proxyAuthenticationRequired && judgedStatus != .unauthorized
    }

    /// Whether the request is sent without its body, because it can only bring the next challenge.
    public var omitsBody: Bool {
        credentials.challenges?.origin.loop?.omitsBody == true || credentials.challenges?.parent.loop?.omitsBody == true
    }

    /// Whether the next request can only bring the parent's next challenge.
    var isLoggingInAtParent: Bool { upstream.parentLogin?.context?.isOpening ?? false }

    /// Whether the parent that makes the request challenges the proxy with this response, also with its own `401`.
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

    /// Whether the response asks the client to log in on the connection. The client must not answer through a proxy
    /// that does not promise to keep their connections together.
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

    /// The credentials of one request. Most requests have none.
    public struct Credentials {
        /// The challenges that the proxy may answer; nil if it may answer none.
        private(set) var challenges: ExchangeChallenges?
        /// The object for `challenges`; reused for later requests.
        private lazy var ownChallenges = ExchangeChallenges()
        /// The certificate requests of the servers on the path; nil if no connection was made for this request.
        public private(set) var identities: IdentityChallenges?
        /// Whether a placed credential is to be the only one in the request's fields, cookies apart.
        var replacesOwn = false
        /// Signs the request; nil if no rule has it signed.
        var signing: RequestSigning?
        /// The reason why the request is not signed although a rule says so; nil for others.
        var unsigned: String?
        /// Whether the program that gives the key was run for this request.
        var hasSoughtKey = false
        /// The placeholder in the request, which a credential replaces; nil if the request has no placeholder.
        public var placeholder: WrittenPlaceholder?
        /// The client's own answer, if a rule learns from it.
        var learnableAnswer: LearnableAnswer?
        /// The field that answers the client's own login, when it is complete; it is sent with the response.
        public var loginAnswer: (name: StaticString, value: String)?

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
            replacesOwn = false
            identities.forget()
            signing.forget()
            unsigned.forget()
            hasSoughtKey = false
            placeholder.forget()
            learnableAnswer.forget()
            loginAnswer.forget()
        }
    }

    /// A client's own answer in its `Authorization`, which the rules leave alone. It is stored as a rule with `learn`
    /// says, if the server accepts it. Only Basic contains user and password; other schemes teach nothing.
    final class LearnableAnswer {
        private let credential: Credential
        private let learning: Learning

        /// Creates the answer; nil if the value is not a Basic answer.
        ///
        /// - Parameters:
        ///   - value: the content of `Authorization`.
        ///   - pair: an empty buffer; it is empty again afterwards.
        init?(_ value: Span<UInt8>, in pair: ByteBuffer, learning: @autoclosure () -> Learning) {
            // RFC 7617 section 2.
            guard value.count > 6, value.extracting(first: 6).equalsIgnoringCase("basic " as StaticString) else {
                return nil
            }
            pair.clear()
            defer { pair.clear() }
            guard Base64.decode(value.extracting(value.trimmingBlanks(6..<value.count)), into: pair),
                let colon = pair.readable.firstIndex(of: .colon), colon > 0,
                let user = String(validating: pair.readable.extracting(first: colon).array, as: UTF8.self)
            else { return nil }
            let password = Secret(pair.readable.extracting(colon + 1..<pair.count))
            credential = Credential(name: "learned", user: user, password: password)
            self.learning = learning()
        }

        /// Learns from the response's head.
        func judge(_ upstream: UpstreamConnection) {
            let status = upstream.head.status.rawValue
            if status == 401 {
                learning.sawChallenges(upstream.challenges(in: .wwwAuthenticate))
                learning.sawRefusal(of: credential)
            } else if (200..<300).contains(status) {
                learning.sawAcceptance(of: credential)
            }
        }
    }
}

/// The proxy's own requests that an answer to a challenge may need.
protocol AnswerRequests {
    /// Fetches tokens from their endpoints.
    static func tokens(over upstreams: Upstreams, by policy: Policy) -> any TokenFetching

    /// The form that a rule has for the destination; nil if none.
    static func pages(of exchange: Exchange, to destination: Destination, for downstream: Downstream) -> (
        any LoginPages
    )?
}

/// Calls of gRPC.
extension Exchange {
    /// Whether the request is a call of gRPC, whose body may be endless.
    var asksByGRPC: Bool {
        guard let type = request.fields.first(.contentType) else { return false }
        let head = headBytes
        return GRPC.isMediaType(head.readable.extracting(type.value))
    }

    /// The time that the client of a call waits for it; nil if it does not say.
    public var callTimeout: Milliseconds? {
        let head = headBytes
        let field = request.fields.first(named: "grpc-timeout", in: head.readable)
        return field.flatMap { GRPC.timeout(head.readable.extracting($0.value)) }
    }

    /// The status by which the response is judged. A server of gRPC that wants another credential answers 200, with the code
    /// of its refusal in the fields: that is a `401` without a challenge. Another code says nothing about the credential.
    var judgedStatus: Status {
        let upstream = upstream
        guard upstream.isStream, asksByGRPC else { return upstream.head.status }
        switch upstream.refusalOfCall {
        case nil: return upstream.head.status
        case .unauthenticated: return .unauthorized
        default: return .serviceUnavailable
        }
    }
}

extension UpstreamConnection {
    /// The code by which the server refuses a call at once, `unknown` for all that the proxy does not use; nil if the response
    /// has content, or trailers behind its head.
    fileprivate var refusalOfCall: GRPC.Code? {
        // A stream of this type that does not end with its head has chunks.
        guard head.status == .ok, head.framing == .none || head.framing == .length(0) else { return nil }
        return withHeadBytes { bytes in
            guard let type = head.fields.first(.contentType), GRPC.isMediaType(bytes.extracting(type.value)),
                let field = head.fields.first(named: "grpc-status", in: bytes)
            else { return nil }
            let code = GRPC.Code(bytes.extracting(field.value)) ?? .unknown
            return code == .ok ? nil : code
        }
    }
}
