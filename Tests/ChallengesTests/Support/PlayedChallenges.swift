import Authentication
import Bytes
import Credentials
import Crypto
import HTTP
import IO
import Model
import Rules
import Telemetry
import TestSupport
import Testing

@testable import Challenges

/// The server's side of a request's challenges: the responses, and the connection that they come on, played by a test.
final class PlayedServer: ChallengeResponse, LoginConnection, RequestPresence {
    var status = Status.ok
    var keepsConnection = true
    var persistsLogin = true
    /// The fields of the response, by name.
    var fields: [KnownField: [String]] = [:]
    var digest = BodyDigest.tooLarge
    var channelBinding: ChannelBinding?
    var isReused = false
    /// Versions that the client has other connections with.
    var otherLogins: [CredentialVersion] = []
    private(set) var claims: [CredentialVersion] = []
    /// Whether the connection serves every client.
    private(set) var isShared = false
    var login: (any SecurityContext)?
    var isOver = false
    private(set) var trials = 0

    var isClaimed: Bool { login != nil }

    func challenges(in name: KnownField) -> [HeaderChallenge] {
        var parser = ChallengeParser()
        for value in fields[name] ?? [] { parser.parse(value.utf8Span.span) }
        return parser.challenges
    }

    func withInformation<Result>(in name: KnownField, _ body: (Span<UInt8>?) -> Result) -> Result {
        guard let value = fields[name]?.first else { return body(nil) }
        return body(value.utf8Span.span)
    }

    /// The text of the response; a late text is there once it was waited for.
    var text: String?
    var lateText: String?

    func excerpt(hiding mask: EchoMask) -> ResponseExcerpt? {
        var excerpt = ResponseExcerpt(status: Int(status.rawValue), fields: [("Server", "played")], hiding: mask)
        if let text { excerpt.take(Array(text.utf8), mediaType: "text/plain", hiding: mask) }
        return excerpt
    }

    func awaitText() async -> Bool {
        guard text == nil, let late = lateText else { return false }
        text = late
        return true
    }

    func digestBody(_ algorithm: DigestAlgorithm) async -> BodyDigest { digest }

    func claim(for credential: Credential, in context: any SecurityContext, isShared: Bool) {
        claims.append(credential.version)
        self.isShared = isShared
        login = context
    }

    func holdsLogin(with version: CredentialVersion) -> Bool { otherLogins.contains(version) }
    func beginTrial(_ trial: AnyObject) { trials += 1 }
    func beginLogin(_ lease: FlightLease) { trials += 1 }
}

/// A login that takes as many tokens as a test says.
final class PlayedLogin: SecurityContext {
    var isEstablished = false
    var isOpening = true
    var trouble: AuthenticationError?
    var refusal = RepeatedChallenge.proceed
    var fault: AuthenticationError?

    func authorize(at time: WallTime, into value: ByteBuffer) throws(AuthenticationError) {
        if let fault { throw fault }
        value.append("NTLM token" as StaticString)
    }

    func refused(by challenges: [HeaderChallenge]) -> RepeatedChallenge { refusal }

    func accepted(by challenges: [HeaderChallenge], persists: Bool) -> Acceptance {
        isEstablished = persists
        return .unverified
    }
}

/// No token endpoint answers.
struct SilentEndpoint: TokenFetching {
    func fetch(_ grant: TokenGrant) async throws(TokenError) -> TokenResponse {
        throw .unreachable(endpoint: "", "nobody is there")
    }

    func read(_ document: HTTPEndpoint) async throws(TokenError) -> (status: Int, content: [UInt8]) {
        throw .unreachable(endpoint: "\(document)", "nobody is there")
    }
}

/// One request to `http://h/a`, and the server that it goes to.
final class PlayedRequest {
    let server = PlayedServer()
    let record = ExchangeRecord(keeping: [])
    let state: ChallengeState
    let context: ChallengeContext
    let loop: ChallengeLoop
    static let origin = Origin(host: "h", port: 80, protocol: .http)

    /// - Parameters:
    ///   - rules: the credential `a` is user `u` with the password of `password`.
    ///   - state: what other requests have learned; nil: nothing.
    init(
        _ rules: String, password: String = "p", state: ChallengeState? = nil,
        client: ClientIdentity = ClientIdentity(address: IPAddress(v4: 0x7F00_0001)), on loop: EventLoop,
        hasBody: Bool = false, after known: ((AnswerSource) -> PreemptiveAnswer?)? = nil
    ) throws {
        let policy = try Self.policy(rules, password: password)
        self.state = state ?? Self.freshState()
        let target = ByteBuffer(capacity: 16)
        target.append("/a" as StaticString)
        let source = AnswerSource(
            delegate: RuleDelegate(policy: policy, state: self.state, client: client),
            challenger: Challenger(Self.origin, title: "the origin"), urlCredential: nil, learning: nil, loop: loop)
        context = ChallengeContext(
            source: source,
            request: ChallengeContext.Request(
                target: target, hasBody: hasBody, isOwn: false, record: record, presence: server,
                waiting: WaitingTime()),
            connection: server, pages: nil, fetcher: SilentEndpoint(), metrics: Metrics())
        let context = context
        self.loop = known?(source).map { ChallengeLoop(context, after: $0) } ?? ChallengeLoop(context)
    }

    /// Returns a state that has learned and stored nothing.
    static func freshState() -> ChallengeState {
        ChallengeState(
            storage: StoredCredentials(), spaces: ProtectionSpaces(), tokens: TokenStore(), report: { _ in })
    }

    static func policy(_ rules: String, password: String = "p") throws -> ChallengePolicy {
        let text = "listen 127.0.0.1:3128\nlog off\ncredential a { user u; password \"\(password)\" }\n\(rules)\n"
        let file = try RuleFile("proxy.conf", from: RuleText(text))
        var configuration = try #require(file.configuration, Comment(rawValue: file.report))
        configuration.timeouts.session = .seconds(1800)
        let credentials = ConfiguredCredentials(
            [
                ConfiguredCredential(
                    name: "a", user: .literal(RedactedText("u")), password: .literal(RedactedText(password)))
            ], environment: [:])
        credentials.refresh()
        return ChallengePolicy(rules: RuleSet(configuration), credentials: credentials)
    }

    /// The value of `Authorization` that the request goes out with; nil without one.
    func send() async -> String? {
        await loop.prepareLogin()
        let value = ByteBuffer(capacity: 256)
        let target = context.request.target
        let isAnswered = loop.authorize(
            method: "GET".utf8Span.span, target: target.readable, bodyDigest: nil, into: value)
        return isAnswered ? value.readable.text : nil
    }

    /// The decision about a response, in a word.
    func receive(_ status: Status, challenges: [String] = [], information: String? = nil) async -> String {
        server.status = status
        server.fields = [.wwwAuthenticate: challenges]
        server.fields[.authenticationInfo] = information.map { [$0] }
        return switch await loop.judged() {
        case .pass(let note): note.map { "pass: \($0)" } ?? "pass"
        case .again: "again"
        case .cancel(let failure): "cancel: \(failure.sentence)"
        }
    }
}

extension FlightTurn {
    /// Goes ahead with news of the origin, or waits for them.
    mutating func awaitNews(of origin: Origin, target: ByteBuffer, in spaces: ProtectionSpaces, on loop: EventLoop)
        async
    {
        guard let waiter = seekNews(of: origin, target: target, in: spaces) else { return }
        hearNews(await waiter.news(until: loop.now + 1000, on: loop))
    }

    /// Becomes the request that is judged for all, or waits for it.
    /// - Returns: false when there was no verdict within `limit`.
    mutating func awaitVerdict(
        on answer: Answer, in spaces: ProtectionSpaces, within limit: Milliseconds, on loop: EventLoop
    ) async -> Bool {
        guard let waiter = seekVerdict(on: answer, in: spaces) else { return true }
        return hearVerdict(await waiter.verdict(within: limit, on: loop))
    }
}
