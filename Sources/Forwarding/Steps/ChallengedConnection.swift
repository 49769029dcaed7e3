import Authentication
import Bytes
import Challenges
import Crypto
import HTTP
import TLS
import Telemetry
import Transport
import Upstream

/// An upstream connection as the challenges see it: its responses, and the login that belongs to it.
final class ChallengedConnection: ChallengeResponse, LoginConnection {
    private let upstream: UpstreamConnection
    private unowned let exchange: Exchange
    /// The server that a login on the connection belongs to: the origin or a parent.
    private let origin: UpstreamServer
    let downstream: Downstream
    private let policy: Policy

    /// The time limit for a text to arrive.
    private static let textPatience: Milliseconds = 100

    /// - Parameter exchange: the exchange whose request is sent on the connection. It must outlive this object.
    init(
        _ upstream: UpstreamConnection, at origin: UpstreamServer, for downstream: Downstream, in exchange: Exchange
    ) {
        self.upstream = upstream
        self.exchange = exchange
        self.origin = origin
        self.downstream = downstream
        policy = exchange.policy
    }

    // MARK: - The response

    var status: Status { exchange.judgedStatus }
    var keepsConnection: Bool { upstream.head.keepAlive }

    var persistsLogin: Bool {
        upstream.withHeadBytes { bytes in
            guard let field = upstream.head.fields.first(named: "persistent-auth", in: bytes) else { return true }
            return !bytes.extracting(field.value).equalsIgnoringCase("false")
        }
    }

    func challenges(in name: KnownField) -> [HeaderChallenge] { upstream.challenges(in: name) }

    func withInformation<Result>(in name: KnownField, _ body: (Span<UInt8>?) -> Result) -> Result {
        upstream.withValue(of: name, body)
    }

    func excerpt(hiding mask: EchoMask) -> ResponseExcerpt? {
        upstream.excerpt(hiding: exchange.mask(mask), by: policy.limits.response)
    }

    func awaitText() async -> Bool {
        guard upstream.awaitsContent, let stream = upstream.stream else { return false }
        if upstream.inbound.writableCount == 0 { upstream.inbound.reserve(1) }
        let count = try? await upstream.readBody(into: upstream.inbound, within: Self.textPatience)
        stream.setDeadline(after: nil)
        return count ?? 0 > 0
    }

    func digestBody(_ algorithm: DigestAlgorithm) async -> BodyDigest {
        await upstream.digestBody(
            algorithm, in: ReplayRoom(policy.limits, in: downstream.shared.spool), limits: policy.limits.response,
            within: policy.timeouts.idle)
    }

    // MARK: - The login

    private var ownership: ConnectionLogin? { upstream.login(to: origin) }

    var isClaimed: Bool { ownership != nil }
    var login: (any SecurityContext)? { ownership?.context }
    var isReused: Bool { upstream.isReused }

    var channelBinding: ChannelBinding? {
        // The TLS of a connection ends at the server that it was opened to.
        guard origin.isSecure else { return nil }
        return upstream.stream?.tls?.serverEndPointBinding.map { ChannelBinding(tlsServerEndPoint: $0) }
    }

    func claim(for credential: Credential, in context: any SecurityContext, isShared: Bool) {
        let login = ConnectionLogin(to: origin, with: credential, in: context, isShared: isShared)
        downstream.begin(login)
        upstream.claim(for: login)
    }

    func holdsLogin(with version: CredentialVersion) -> Bool { downstream.holdsLogin(version, to: origin) }
}

extension UpstreamConnection {
    /// The challenges that the response makes in `fields`.
    func challenges(in fields: ChallengeFields) -> [HeaderChallenge] {
        fields.challenging(in: head.status) { challenges(in: $0) }
    }

    /// The readable challenges in the response's fields of this name. An unreadable field hides no other.
    public func challenges(in name: KnownField) -> [HeaderChallenge] {
        withHeadBytes { bytes in
            var parser = ChallengeParser()
            for field in head.fields where field.known == name {
                parser.parse(bytes.extracting(field.value))
            }
            return parser.challenges
        }
    }

    /// Lends the value of the response's first field of this name; nil if absent.
    func withValue<Result>(of name: KnownField, _ body: (Span<UInt8>?) -> Result) -> Result {
        withHeadBytes { bytes in
            guard let field = head.fields.first(name) else { return body(nil) }
            return body(bytes.extracting(field.value))
        }
    }
}

extension ChallengeContext {
    /// - Parameters:
    ///   - connection: the connection that the request is sent on.
    ///   - exchange: the exchange that the request is sent for.
    ///   - target: the request target as the challenger sees it.
    ///   - pages: the origin's login pages, if a rule has a form for it.
    convenience init(
        by source: AnswerSource, on connection: ChallengedConnection, for exchange: Exchange, target: ByteBuffer,
        pages: (any LoginPages)? = nil
    ) {
        let downstream = connection.downstream
        var request = Request(
            target: target, hasBody: !exchange.body.isEmpty,
            isOwn: exchange.isOwn, record: exchange.record,
            presence: downstream.presence, waiting: exchange.times.waiting)
        request.opensTunnel = exchange.opensTunnel
        request.answersOrigin = { exchange.credentials.challenges?.origin.hasAnswered ?? false }
        request.sample = { exchange.sample(at: target) }
        request.application = { exchange.application }
        self.init(
            source: source, request: request, connection: connection, pages: pages,
            fetcher: exchange.requests.tokens(over: downstream.upstreams, by: exchange.policy),
            metrics: downstream.metrics)
        probe = exchange.probe.flatMap { $0.attempt.evidence.server == source.challenger.serverName ? $0 : nil }
    }
}
