import Authentication
import Bytes
import Challenges
import HTTP
import IO
import Telemetry
import Upstream

/// The challenges of the servers on the way of one request.
///
/// It stands apart from the exchange, which keeps it from request to request: most requests have none, and to see that
/// takes a look at one reference.
public final class ExchangeChallenges {
    /// How the challenges of one server are met.
    public enum Server {
        /// Should any come, they are the client's own affair.
        case ignored
        /// The request goes out with that answer, and no challenge has come. Becomes `.met` when one does.
        case known(KnownAnswer)
        case met(ChallengeLoop)

        /// Whether they are ours to answer.
        public var isOurs: Bool {
            if case .ignored = self { false } else { true }
        }

        public var loop: ChallengeLoop? {
            if case .met(let loop) = self { loop } else { nil }
        }

        public var known: KnownAnswer? {
            if case .known(let known) = self { known } else { nil }
        }

        /// The credential whose login the connection must have, or be free for; nil when requests may share it.
        public var loginVersion: CredentialVersion? {
            switch self {
            case .ignored: nil
            case .known(let known): known.loginVersion
            case .met(let loop): loop.loginVersion
            }
        }

        /// Whether the latest request went out with an answer.
        var hasAnswered: Bool {
            switch self {
            case .ignored: false
            case .known(let known): known.state.ticket != nil
            case .met(let loop): loop.hasAnswered
            }
        }

        /// Whether there is one.
        var wantsLogin: Bool {
            switch self {
            case .ignored: false
            case .known(let known): known.wantsLogin
            case .met(let loop): loop.loginVersion != nil
            }
        }

        /// The places of a credential that is sent unasked, if not in the field of answers.
        var placement: RequestPlacement? {
            switch self {
            case .ignored: nil
            case .known(let known): known.placement
            case .met(let loop): loop.placement
            }
        }

        /// Whether the client gets the response without more.
        ///
        /// - Parameter target: of the request, as the server sees it.
        func passes(_ response: UpstreamConnection, _ fields: ChallengeFields, at target: ByteBuffer) -> Bool {
            switch self {
            case .ignored: true
            case .known(let known):
                response.withValue(of: fields.information) {
                    known.passes(response.head.status, information: $0, target: target.readable, from: fields)
                }
            case .met: false
            }
        }

        /// Tells the account of a known answer that the server has accepted it, with a response that `passes`, where that is
        /// news.
        ///
        /// - Parameter target: as above.
        func noteAcceptance(_ exchange: Exchange, at target: ByteBuffer, for requester: Requester) {
            guard case .known(let known) = self, known.isNews(exchange.upstream.head.status) else { return }
            known.noteAcceptance(
                at: target.readable, sample: RequestSample.request.content(of: exchange, to: target),
                of: exchange.isOwn ? nil : requester.identity(in: exchange), now: requester.loop.epochMilliseconds)
        }

        /// The decision about a response's head, which is as the known answer had led to expect.
        /// - Returns: nil where work is to be done first.
        public func judge() -> ChallengeVerdict? {
            if case .met(let loop) = self { loop.judge() } else { .pass(note: nil) }
        }

        /// Appends the value of the field that answers; false when there is none to send.
        ///
        /// - Parameter record: nil for a parent, whose answers are not counted.
        public mutating func authorize(
            method: Span<UInt8>, target: Span<UInt8>, bodyDigest: [UInt8]?, into value: ByteBuffer,
            countedBy record: ExchangeRecord?
        ) -> Bool {
            switch self {
            case .ignored: return false
            case .known(var known):
                // Moved out and back, so that nobody counts it.
                self = .ignored
                let isAnswered = known.authorize(method: method, target: target, into: value)
                self = .known(known)
                if isAnswered { record?.attempts += 1 }
                return isAnswered
            case .met(let loop):
                return loop.authorize(method: method, target: target, bodyDigest: bodyDigest, into: value)
            }
        }
    }

    public var origin = Server.ignored
    /// The parent that makes the request.
    public var parent = Server.ignored
    /// Those of the challenges that were met; nil: there were none.
    var cookies: ChallengeCookies?

    /// The credentials whose logins the connection must have, or be free for, at the origin and at the parent.
    var loginVersions: (CredentialVersion?, CredentialVersion?) { (origin.loginVersion, parent.loginVersion) }

    /// Does the work that they wait for.
    public func performWork() async {
        await parent.loop?.performWork()
        await origin.loop?.performWork()
    }

    /// Whether an answer needs a digest of the body, or a login's next token.
    func wantsPreparation(over upstream: UpstreamConnection) -> Bool {
        if origin.loop?.bodyDigest != nil || parent.loop?.bodyDigest != nil { return true }
        if origin.wantsLogin, upstream.login?.context?.isEstablished != true { return true }
        return parent.wantsLogin && upstream.parentLogin?.context?.isEstablished != true
    }
}

extension ChallengeContext {
    /// - Parameters:
    ///   - connection: the one that the request goes out on.
    ///   - exchange: the one that the request is sent for.
    ///   - target: as the challenger sees it.
    ///   - pages: the origin's, if a rule has a form for it.
    ///   - sample: how the request may be repeated.
    convenience init(
        by source: AnswerSource, on connection: ChallengedConnection, for exchange: Exchange, target: ByteBuffer,
        pages: LoginForms? = nil, as sample: RequestSample = .request
    ) {
        let requester = connection.requester
        var request = ChallengedRequest(
            target: target, hasBody: sample == .request && !exchange.body.isEmpty,
            isOwn: exchange.isOwn, record: exchange.record,
            presence: requester.presence, waiting: exchange.times.waiting)
        request.opensTunnel = sample == .tunnel
        request.answersOrigin = { exchange.credentials.challenges?.origin.hasAnswered ?? false }
        request.sample = { sample.content(of: exchange, to: target) }
        self.init(
            source: source, request: request, connection: connection, pages: pages,
            fetcher: TokenClient(upstreams: requester.upstreams, policy: exchange.policy),
            metrics: requester.metrics)
        probe = exchange.probe.flatMap { $0.attempt.evidence.server == source.challenger.serverName ? $0 : nil }
    }
}

extension AnswerSource {
    public convenience init(of challenger: Challenger, for exchange: Exchange, of requester: Requester) {
        let head = exchange.headBytes
        let learns = challenger.mayLearn(by: exchange.policy.rules)
        self.init(
            delegate: requester.delegate(in: exchange), challenger: challenger,
            urlCredential: challenger.isProxy ? nil : URLCredential.of(exchange.request, in: head.readable),
            learning: learns ? Learning(from: exchange, of: requester, at: challenger) : nil, loop: requester.loop,
            storage: exchange.storage)
    }
}

extension Requester {
    /// The rules as they speak to this client.
    public func delegate(in exchange: Exchange) -> RuleDelegate {
        RuleDelegate(
            policy: exchange.policy.challenges, state: shared.challenges, client: identity(in: exchange))
    }
}

extension Learning {
    public init(from exchange: Exchange, of requester: Requester, at challenger: Challenger) {
        let (head, target) = (exchange.headBytes, exchange.target)
        self.init(
            delegate: requester.delegate(in: exchange), origin: challenger.origin,
            request: LearningEvidence.Request(
                challenger.origin, method: head.readable.extracting(exchange.request.methodName),
                target: target.readable),
            loop: requester.loop, storage: exchange.storage)
    }
}

extension ClientPresence: RequestPresence {}
extension TokenClient: TokenFetching {}
