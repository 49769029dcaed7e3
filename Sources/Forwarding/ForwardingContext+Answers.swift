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
        guard isConcerned else { return false }
        return !request.fields.present.contains(.authorization) || !keepsClientsWord
    }

    private var isConcerned: Bool {
        let request = exchange.request
        return (request.target.userinfo != nil || destination.isConcerned(in: requester.shared.challenges))
            && request.method != .trace
    }

    /// Whether what the client itself says in the place of a credential goes on.
    private var keepsClientsWord: Bool {
        let host = origin.host
        return rules.authorization(
            host: host.span, port: origin.port, protocol: origin.authority.protocol,
            isSecure: origin.isSecure, client: requester.identity(in: exchange)) == .keep
    }

    /// Whether a credential may go in a place of its own beside a client's `Authorization` that is kept. Not beside a login
    /// of the client's own, whose connection is nobody else's.
    var mayPlace: Bool { rules.speaksOfPlaces && isConcerned && !exchange.bringsOwnLogin }

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
    ///
    /// - Parameter keepsAuthorization: whether the client's own goes on, and nothing is answered beside it.
    /// - Returns: whether it is known what answer is given, if any; else the loop waits for its work.
    func beginAnswering(keepsAuthorization: Bool = false) throws(Refusal) -> Bool {
        if !rules.speaksOfForms, !rules.speaksOfPlaces,
            let known = latestAnswer(of: destination.challenger, to: exchange.target)
        {
            exchange.begin(.known(known))
            return true
        }
        let source = originSource(keepsAuthorization: keepsAuthorization)
        let finding = find(by: source, at: origin, exchange.target)
        if case .unusable(let reason, let credential) = finding { throw unusable(credential, reason) }
        if case .open = finding, keepsAuthorization { return true }
        // A page has to be looked at that may ask for a login.
        if !rules.speaksOfForms || keepsAuthorization,
            let known = KnownAnswer(finding, to: source.challenger, noting: exchange.record)
        {
            exchange.begin(.known(known))
            return true
        }
        let loop = ChallengeLoop(challengeContext(by: source))
        exchange.begin(.met(loop))
        return loop.prepare(with: finding)
    }

    private func originSource(keepsAuthorization: Bool) -> AnswerSource {
        let source = AnswerSource(of: destination.challenger, for: exchange, of: requester)
        source.terms.keepsAuthorization = keepsAuthorization
        source.terms.isReadOnTheWay = !origin.isSecure && !destination.hops.isEmpty
        if rules.speaksOfPlaces { source.terms.keeps = { self.keeps($0) } }
        return source
    }

    /// Whether the client itself says something in that place, which goes on in the place of a credential's.
    private func keeps(_ placement: CredentialPlacement) -> Bool {
        let (head, target) = (exchange.headBytes, exchange.target)
        switch placement.place {
        case .field(let name):
            let isSaid = exchange.request.fields.contains { field in
                !field.isNominated && head.readable.extracting(field.name).equalsIgnoringCase(name.utf8Span.span)
            }
            return isSaid && keepsClientsWord
        case .parameter(let name):
            guard QueryParameters.contain(name.utf8Span.span, in: target.readable) else { return false }
            exchange.record.hideParameter(name.utf8Span.span)
            return keepsClientsWord
        }
    }

    /// The refusal of a request that a rule's credential is to go with, and cannot.
    private func unusable(_ credential: String, _ reason: String) -> Refusal {
        exchange.record.details = reason
        requester.shared.report(reason)
        return Refusal(
            .badGateway, .httpRequestDenied,
            "credential \(credential) goes with every request to this origin, and cannot be used; the operator's log says why"
        )
    }

    private func challengeContext(by source: AnswerSource) -> ChallengeContext {
        let readsPages = !source.terms.keepsAuthorization
        return ChallengeContext(
            by: source, on: connection(at: origin), for: exchange, target: exchange.target,
            hasBody: !exchange.body.isEmpty,
            pages: readsPages ? LoginForms.of(requester: requester, exchange: exchange, destination: destination) : nil)
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
    ///
    /// - Parameter behindOrigin: whether the origin's loop waits for its work. Nobody waits for another request while one of
    ///   his is the first at the parent.
    func beginAnswering(at parent: Parent, behindOrigin waits: Bool) -> Bool {
        if let known = latestAnswer(of: parent.challenger, to: exchange.parentTarget) {
            exchange.beginAtParent(.known(known))
            return true
        }
        let source = AnswerSource(of: parent.challenger, for: exchange, of: requester)
        let finding = find(by: source, at: parent.origin, exchange.parentTarget)
        if let known = KnownAnswer(finding, to: source.challenger, noting: exchange.record) {
            exchange.beginAtParent(.known(known))
            return true
        }
        let loop = ChallengeLoop(challengeContext(by: source, at: parent))
        exchange.beginAtParent(.met(loop))
        return !waits && loop.prepare(with: finding)
    }

    private func challengeContext(by source: AnswerSource, at parent: Parent) -> ChallengeContext {
        ChallengeContext(
            by: source, on: connection(at: parent.origin), for: exchange, target: exchange.parentTarget,
            hasBody: !exchange.body.isEmpty)
    }

    // MARK: - Both

    /// The answer to the request before, if it is that to this one too.
    private func latestAnswer(of challenger: Challenger, to target: ByteBuffer) -> KnownAnswer? {
        let (requester, exchange) = (requester, exchange)
        return KnownAnswer(
            again: target.readable, of: { requester.identity(in: exchange) }, to: challenger, by: policy.challenges,
            in: requester.shared.challenges, noting: exchange.record)
    }

    private func connection(at server: UpstreamServer) -> ChallengedConnection {
        ChallengedConnection(exchange.upstream, at: server, for: requester, by: policy)
    }

    private func find(by source: AnswerSource, at server: UpstreamServer, _ target: ByteBuffer) -> AnswerSource.Finding
    {
        let requester = requester
        return source.find(for: target) { requester.holdsLogin($0, to: server) }
    }

    /// Has loops go on where the answers were known: a login is due, or a response is to be looked at.
    public func meetChallenges() {
        guard let challenges = exchange.challenges else { return }
        if let known = challenges.origin.known {
            let source = originSource(keepsAuthorization: !mayAnswer)
            challenges.origin = .met(ChallengeLoop(challengeContext(by: source), after: known))
        }
        if let known = challenges.parent.known, let parent = exchange.way.relay {
            let source = AnswerSource(of: parent.challenger, for: exchange, of: requester)
            challenges.parent = .met(ChallengeLoop(challengeContext(by: source, at: parent), after: known))
        }
    }
}
