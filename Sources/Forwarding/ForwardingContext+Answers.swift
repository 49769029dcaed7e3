import Authentication
import Bytes
import Challenges
import HTTP
import Model
import Rules
import Telemetry
import Upstream

/// The challenges of a request that are ours to answer, by its rules, its URL and the storage of its origin.
extension ForwardingContext {
    private var rules: RuleSet { policy.rules }

    /// Whether a challenge of this origin is ours to answer: a rule speaks of it, or the URL or the storage has a
    /// credential, and the client brings no `Authorization` of its own that is to be kept. A TRACE response would show the
    /// credential.
    public var mayAnswer: Bool {
        let request = exchange.request
        guard
            request.target.userinfo != nil
                || destination.isConcerned(in: requester.shared.challenges),
            request.method != .trace
        else { return false }
        guard request.fields.present.contains(.authorization) else { return true }
        let host = origin.host
        return rules.authorization(
            host: host.span, port: origin.port, protocol: origin.authority.protocol,
            isSecure: origin.isSecure, client: requester.identity(in: exchange)) == .replace
    }

    /// The signing of the request; nil where no rule has it signed.
    func signing() throws(Refusal) -> RequestSigning? {
        try RequestSigning(
            exchange, to: origin, from: requester.identity(in: exchange), requester.shared)
    }

    /// The client's own answer that goes to the origin in `Authorization`, where a rule wants to learn from it.
    var learnableAnswer: LearnableAnswer? {
        guard exchange.challenges?.origin.isOurs != true, exchange.signing == nil,
            destination.challenger.mayLearn(by: rules)
        else { return nil }
        return LearnableAnswer(in: exchange, of: requester, to: destination.challenger)
    }

    // MARK: - The origin's challenges

    /// Has the origin's challenges answered from now on.
    /// - Returns: whether the answer to give, or that none is to be given, could be found without waiting.
    func beginAnsweringAtOnce() -> Bool {
        // A page has to be looked at that may ask for a login.
        if !rules.speaksOfForms, let known = known(destination.challenger, at: origin, exchange.target) {
            exchange.begin(.known(known))
            return true
        }
        let loop = ChallengeLoop(challengeContext)
        exchange.begin(.met(loop))
        return loop.prepareAtOnce()
    }

    private var challengeContext: ChallengeContext {
        ChallengeContext(
            of: destination.challenger, on: connection(at: origin), for: exchange, target: exchange.target,
            hasBody: !exchange.body.isEmpty,
            pages: LoginForms.of(requester: requester, exchange: exchange, destination: destination))
    }

    // MARK: - The parent's challenges

    /// The parent that makes the request, if a challenge of it could be answered.
    var answerableParent: Parent? {
        guard let parent = exchange.way.relay, parent.mayBeAnswered(by: policy, in: requester.shared)
        else { return nil }
        let head = exchange.headBytes
        exchange.parentTarget.clear()
        exchange.request.appendTarget(head.readable, form: .absolute(.http), to: exchange.parentTarget)
        return parent
    }

    /// As above, of the parent.
    func beginAnsweringAtOnce(at parent: Parent) -> Bool {
        if let known = known(parent.challenger, at: parent.origin, exchange.parentTarget) {
            exchange.beginAtParent(.known(known))
            return true
        }
        let loop = ChallengeLoop(challengeContext(of: parent))
        exchange.beginAtParent(.met(loop))
        return loop.prepareAtOnce()
    }

    /// Has the parent's challenges answered from now on, and finds the answer to give.
    func beginAnswering(at parent: Parent) async {
        let loop = ChallengeLoop(challengeContext(of: parent))
        exchange.beginAtParent(.met(loop))
        await loop.prepare()
    }

    private func challengeContext(of parent: Parent) -> ChallengeContext {
        ChallengeContext(
            of: parent.challenger, on: connection(at: parent.origin), for: exchange, target: exchange.parentTarget,
            hasBody: !exchange.body.isEmpty)
    }

    // MARK: - Both

    private func connection(at server: UpstreamServer) -> ChallengedConnection {
        ChallengedConnection(exchange.upstream, at: server, for: requester, by: policy)
    }

    private func known(_ challenger: Challenger, at server: UpstreamServer, _ target: ByteBuffer) -> KnownAnswer? {
        let logins = requester.logins
        let source = AnswerSource(of: challenger, for: exchange, of: requester)
        return KnownAnswer(source, to: target, noting: exchange.record) { logins.holds($0, to: server) }
    }

    /// Has loops go on where the answers were known: a login is due, or a response is to be looked at.
    public func meetChallenges() {
        guard let challenges = exchange.challenges else { return }
        if let known = challenges.origin.known {
            challenges.origin = .met(ChallengeLoop(challengeContext, after: known))
        }
        if let known = challenges.parent.known, let parent = exchange.way.relay {
            challenges.parent = .met(ChallengeLoop(challengeContext(of: parent), after: known))
        }
    }
}
