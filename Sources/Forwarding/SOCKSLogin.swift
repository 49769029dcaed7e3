import Authentication
import Bytes
import Challenges
import Crypto
import HTTP
import Rules
import Telemetry
import Upstream

/// The login of one request at a SOCKS server. A `ChallengeLoop` answers a refusal by the server as it answers a parent's `407`.
///
/// A client offers a password before the server says whether it wants one. So the challenge is met before a connection is made.
/// The server's protection space has no realm; its method is `basic`, since RFC 1929 sends the password as it is.
struct SOCKSLogin: ~Copyable {
    private let connector: ParentConnector
    private let response = SOCKSResponse()
    /// Nil where no rule answers the server.
    private let challenges: ChallengeLoop?
    private var verdict = ResponseVerdict.pass(note: nil)
    /// Whether the server asked for the password, and so judges it.
    private var isSent = false

    private var exchange: Exchange { connector.exchange }
    private var parent: Parent { connector.parent }

    /// Whether the login is all that the connection is for: the proxy asks whether the server still accepts a password.
    let isProbe: Bool

    /// - Parameter origin: the server to which the connection is to lead.
    init(by connector: ParentConnector, to origin: UpstreamServer) {
        self.connector = connector
        let probe = connector.exchange.probe.flatMap {
            $0.attempt.evidence.server == connector.parent.challenger.serverName ? $0 : nil
        }
        isProbe = probe != nil
        let (requester, exchange, parent) = (connector.requester, connector.exchange, connector.parent)
        guard parent.server.scheme == .socks5, parent.mayBeAnswered(by: exchange.policy, in: requester.shared) else {
            challenges = nil
            return
        }
        // The server judges the password before it hears of a target.
        var request = ChallengedRequest(
            target: ByteBuffer(capacity: 1), hasBody: false, isOwn: exchange.isOwn,
            record: exchange.record, presence: requester.presence, waiting: exchange.times.waiting)
        request.sample = { RequestSample.login(of: exchange, to: origin) }
        let context = ChallengeContext(
            source: AnswerSource(of: parent.challenger, for: exchange, of: requester), request: request,
            connection: response, pages: nil,
            fetcher: TokenClient(upstreams: requester.upstreams, policy: exchange.policy), metrics: requester.metrics)
        context.probe = probe
        challenges = ChallengeLoop(context)
    }

    /// Whether the next connection begins with the offer of a password.
    var offersPassword: Bool { if case .again = verdict { true } else { false } }

    /// Finds the password to offer. To be called before the first connection, and after a refusal.
    mutating func meetChallenge() async {
        isSent = false
        response.status = .proxyAuthenticationRequired
        if let challenges { verdict = ResponseVerdict(await challenges.judged()) }
    }

    mutating func append(to buffer: ByteBuffer) throws(SOCKSError) {
        let nothing = [UInt8]()
        isSent =
            challenges?.authorize(method: nothing.span, target: nothing.span, bodyDigest: nil, into: buffer) ?? false
        guard isSent else { throw .malformed }
    }

    /// The server has nothing against the login, or wanted none.
    mutating func accepted() async {
        guard isSent, let challenges else {
            // No answer was given.
            if let answer = exchange.record.parentAnswer {
                exchange.record.parentAnswer = AnswerRecord(
                    scheme: nil, credential: nil, dated: [], rule: answer.rule, ruleLine: answer.ruleLine)
            }
            return
        }
        response.status = .ok
        _ = await challenges.judged()
    }

    /// The server wants a password, and gets none that it takes. Takes note of that.
    func unanswered() -> Refusal {
        switch verdict {
        case .cancel(let refusal):
            takeNote(refusal.sentence)
            return refusal
        case .pass(let note): return unanswered(note)
        case .again: return unanswered("it takes neither a user with a password nor a connection without a login")
        }
    }

    private func unanswered(_ note: String?) -> Refusal {
        takeNote(note)
        return .unanswered(by: parent, challenges: [.socksPassword], note: note ?? challenges?.rejection)
    }

    private func takeNote(_ note: String?) {
        parent.refusedLogin()
        UnansweredNote(requester: connector.requester, exchange: exchange, upstream: nil)
            .take(of: parent.challenger, challenges, note, .cancelled)
    }
}

/// The word of a SOCKS server on a login, as a response of HTTP. It has no fields and no text.
private final class SOCKSResponse: ChallengeResponse, LoginConnection {
    var status = Status.proxyAuthenticationRequired

    let keepsConnection = false
    let persistsLogin = false

    func challenges(in name: KnownField) -> [HeaderChallenge] {
        status == .proxyAuthenticationRequired ? [.socksPassword] : []
    }

    func withInformation<Result>(in name: KnownField, _ body: (Span<UInt8>?) -> Result) -> Result { body(nil) }
    func excerpt(hiding mask: EchoMask) -> ResponseExcerpt? { nil }
    func awaitText() async -> Bool { false }
    func digestBody(_ algorithm: DigestAlgorithm) async -> BodyDigest { .whole([]) }

    // A login is no more than the beginning of a connection.
    let isClaimed = false
    let login: (any SecurityContext)? = nil
    let channelBinding: ChannelBinding? = nil
    let isReused = false

    func claim(for credential: Credential, in context: any SecurityContext, isShared: Bool) {}
    func holdsLogin(with version: CredentialVersion) -> Bool { false }
}
