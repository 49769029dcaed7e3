import Authentication
import Bytes
import Crypto
import HTTP
import TLS
import Transport

/// An upstream connection as challenges see it: the responses that come on it, and the login that belongs to it.
final class ChallengedConnection: ChallengeResponse, LoginConnection {
    private let upstream: UpstreamConnection
    /// The server that a login on the connection would be at: the origin or a parent.
    private let origin: UpstreamServer
    let requester: Requester
    private let policy: Policy

    init(_ upstream: UpstreamConnection, at origin: UpstreamServer, for requester: Requester, by policy: Policy) {
        self.upstream = upstream
        self.origin = origin
        self.requester = requester
        self.policy = policy
    }

    // MARK: - The response

    var status: Status { upstream.head.status }
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

    func digestBody(_ algorithm: DigestAlgorithm) async -> BodyDigest {
        await upstream.digestBody(
            algorithm, in: ReplayRoom(policy.limits, in: requester.shared.spool), limits: policy.limits.response,
            within: policy.timeouts.idle)
    }

    // MARK: - The login

    private var ownership: ConnectionLogin? { upstream.login(to: origin) }

    var isClaimed: Bool { ownership != nil }
    var login: (any SecurityContext)? { ownership?.context }
    var isReused: Bool { upstream.isReused }

    var channelBinding: ChannelBinding? {
        // The TLS of a connection ends at the server that it was made to.
        guard origin.isSecure else { return nil }
        return upstream.stream?.tls?.serverEndPointBinding.map { ChannelBinding(tlsServerEndPoint: $0) }
    }

    func claim(for credential: Credential, in context: any SecurityContext) {
        upstream.claim(
            for: ConnectionLogin(to: origin, with: credential, in: context, heldBy: requester.logins))
    }

    func holdsLogin(with version: CredentialVersion) -> Bool { requester.logins.holds(version, to: origin) }
}

extension UpstreamConnection {
    /// Every challenge of the response in fields of that name that can be read. A field that cannot be hides no other.
    func challenges(in name: KnownField) -> [HeaderChallenge] {
        withHeadBytes { bytes in
            var parser = ChallengeParser()
            for field in head.fields where field.known == name {
                parser.parse(bytes.extracting(field.value))
            }
            return parser.challenges
        }
    }

    /// Lends the value of the response's first field of that name; nil: it has none.
    func withValue<Result>(of name: KnownField, _ body: (Span<UInt8>?) -> Result) -> Result {
        withHeadBytes { bytes in
            guard let field = head.fields.first(name) else { return body(nil) }
            return body(bytes.extracting(field.value))
        }
    }
}
