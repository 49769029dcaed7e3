import Authentication
import Bytes
import Challenges
import HTTP
import IO
import Model
import Rules
import Telemetry
import Upstream

/// The credential of one connection to a SOCKS server: which one, whether it may be sent, and what came of it. The server's
/// protection space has no realm; its method is `basic`, since RFC 1929 sends the password as it is.
struct SOCKSLogin: ~Copyable {
    private let requester: Requester
    private let exchange: Exchange
    private let parent: Parent
    private let delegate: RuleDelegate
    private let space: ProtectionSpace
    /// Nil: none is offered.
    public private(set) var credential: Credential?
    /// Why none is offered, where there is one.
    private var reason: String?
    /// Whether the server asked for the password, and so has judged it.
    private var isSent = false
    /// The answer that is under way, until the server's verdict.
    private var attempt: Attempt?

    private var state: ChallengeState { requester.shared.challenges }

    public init(requester: Requester, exchange: Exchange, parent: Parent) {
        self.requester = requester
        self.exchange = exchange
        self.parent = parent
        delegate = requester.delegate(in: exchange)
        space = ProtectionSpace(origin: parent.origin.authority, realm: nil, authenticationMethod: .basic)
    }

    /// Asks the rules, and waits for the verdict on the same credential where another request is being judged.
    public mutating func prepare() async {
        guard parent.mayBeAnswered(by: exchange.policy, in: requester.shared) else { return }
        let stored = state.storage.defaultCredential(for: space)
        let challenge = AuthenticationChallenge(
            protectionSpace: space, proposedCredential: stored, previousFailureCount: 0, failureResponse: nil)
        let rule = delegate.rule(for: challenge)
        if delegate.wantsFreshCredentials(for: challenge, by: rule) {
            await state.refresh(exchange.policy.challenges.credentials)
        }
        let ruled: RuleDelegate.RuledDecision
        do throws(UnansweredQuestion) { ruled = try await decide(challenge, by: rule) } catch {
            reason = error.reason
            return
        }
        exchange.record.note(ruled.rule.rule, about: parent.challenger)
        if let trouble = ruled.trouble {
            exchange.record.details = "\(trouble)"
            state.report("\(trouble)")
        }
        if let report = ruled.decision.report {
            reason = PassReason.reported(answer: report, reason: ruled.decision.reason).description
            return
        }
        switch ruled.decision.disposition {
        case .useCredential(let credential): self.credential = credential
        case .performDefaultHandling: credential = stored
        case .rejectProtectionSpace: break
        case .cancelAuthenticationChallenge: reason = ruled.decision.reason
        }
        guard let credential else { return }
        guard credential.user != nil, credential.password != nil else {
            reason = "credential \(credential.version.name) has no user and password"
            self.credential = nil
            return
        }
        await seekAdmission(of: credential, under: RetryTerms(retry: rule.retry))
    }

    /// The decision of the rules, or of the operator whom they ask.
    private func decide(
        _ challenge: AuthenticationChallenge, by rule: Ruling
    ) async throws(UnansweredQuestion) -> RuleDelegate.RuledDecision {
        let now = requester.loop.epochMilliseconds
        guard let question = delegate.question(about: challenge, by: rule) else {
            return delegate.decide(challenge, by: rule, at: now)
        }
        return delegate.decide(by: try await delegate.ask(question, at: now), in: challenge.protectionSpace, rule)
    }

    /// Asks the account of the credential whether it may be sent.
    private mutating func seekAdmission(of credential: Credential, under terms: RetryTerms) async {
        let evidence = state.spaces.accounts.evidence(of: credential, at: parent.challenger.serverName)
        var terms = terms
        terms.mayProbe = false
        var admission = AnswerAdmission?.some(
            evidence.admit([UInt8]().span, under: terms, now: requester.loop.epochMilliseconds))
        if case .wait(let waiter)? = admission {
            let alarm = Alarm(on: requester.loop) { waiter.expire() }
            alarm.set(after: exchange.policy.timeouts.connect)
            defer { alarm.cancel() }
            admission = await waiter.admission()
        }
        switch admission {
        case .send(let attempt)?:
            self.attempt = attempt
            return
        case .refused(_, let nextTry)?:
            requester.metrics.add(to: .credentialsParked)
            let pause = nextTry.map { max(0, $0 - requester.loop.epochMilliseconds) }
            reason = PassReason.parked(credential: credential.version.name, pause: pause).description
        case .wait?, nil: reason = PassReason.undecided(credential: credential.version.name).description
        }
        self.credential = nil
    }

    public mutating func append(to buffer: ByteBuffer) throws(SOCKSError) {
        guard let credential, let user = credential.user, let password = credential.password else {
            throw .unusableCredential
        }
        try SOCKS5Handshake.append(user: user, password: password, to: buffer)
        isSent = true
        if let attempt, attempt.leads { requester.presence.beginTrial(attempt) }
        let rule = exchange.record.parentAnswer
        exchange.record.parentAnswer = AnswerRecord(
            scheme: .basic, credential: credential.version.name, dated: .passwordInClear, rule: rule?.rule,
            ruleLine: rule?.ruleLine ?? 0)
    }

    /// The server has nothing against the login, or wanted none.
    public mutating func accepted() {
        defer { attempt = nil }
        if isSent { attempt?.settle(.accepted, now: requester.loop.epochMilliseconds) }
        guard isSent, let version = credential?.version, parent.accepted != version else { return }
        parent.accepted = version
        state.spaces.noteAccepted(version, for: space)
    }

    /// The server has judged, and nobody sends this version again.
    public mutating func refused() -> Refusal {
        guard let credential else { return unanswered }
        parent.accepted = nil
        let why = "was refused by \(space.host):\(space.port)"
        attempt?.settle(.refused, because: why, now: requester.loop.epochMilliseconds)
        attempt = nil
        state.refuse(
            DefiniteRefusal(of: credential, in: space, because: why), of: delegate.client,
            countedBy: requester.metrics)
        return .unanswered(
            by: parent, challenges: [HeaderChallenge(scheme: "password")],
            note: PassReason.alreadyRefused(credential: credential.version.name).description)
    }

    /// The server wants a password that it does not get.
    public var unanswered: Refusal {
        .unanswered(by: parent, challenges: [HeaderChallenge(scheme: "password")], note: reason)
    }
}
