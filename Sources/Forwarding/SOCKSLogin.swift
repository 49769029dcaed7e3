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
    /// How long a version that was accepted before is parked, as `ParkedCredentials.park`.
    private var retry: [Int] = []
    /// Nil: none is offered.
    public private(set) var credential: Credential?
    /// Why none is offered, where there is one.
    private var reason: String?
    /// Whether the server asked for the password, and so has judged it.
    private var isSent = false
    /// The right to be the one that is judged for all.
    private var lease: Lease?

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
        retry = rule.retry
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
        if parent.accepted != credential.version, await !awaitTurn(for: credential) {
            reason = PassReason.undecided(credential: credential.version.name).description
            self.credential = nil
            return
        }
        // Another loop may have found out what has become of it since.
        if await isParked(credential.version) {
            requester.metrics.add(to: .credentialsParked)
            reason = PassReason.parked(credential: credential.version.name).description
            self.credential = nil
        }
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

    /// Whether it is not sent: it was refused, and this request is not the one that tries it again.
    private func isParked(_ version: CredentialVersion) async -> Bool {
        let (parked, now) = (state.spaces.parked, requester.loop.epochMilliseconds)
        if parked.contains(version, at: parent.challenger.sharesAccountsWith) { return true }
        switch parked.standing(of: version, in: space, at: now) {
        case .free: return false
        case .parked: return true
        case .due(let term):
            let entry = ParkedCredentials.Entry(space: space, version: version)
            return await !parked.claim(entry, seen: term, retry: retry, at: now)
        }
    }

    /// Becomes the one request that is judged for all, or waits for it.
    /// - Returns: false when there was no verdict in time.
    private mutating func awaitTurn(for credential: Credential) async -> Bool {
        switch state.spaces.admit(to: space, version: credential.version) {
        case .proceed, .overtake: break
        case .lead(let lease): self.lease = lease
        case .wait(let waiter):
            switch await waiter.verdict(within: exchange.policy.timeouts.connect, on: requester.loop) {
            case .lead(let lease): self.lease = lease
            case .settled: break
            case .expired: return false
            }
        }
        return true
    }

    public mutating func append(to buffer: ByteBuffer) throws(SOCKSError) {
        guard let credential, let user = credential.user, let password = credential.password else {
            throw .unusableCredential
        }
        try SOCKS5Handshake.append(user: user, password: password, to: buffer)
        isSent = true
        if let lease { requester.presence.beginTrial(lease) }
        let rule = exchange.record.parentAnswer
        exchange.record.parentAnswer = AnswerRecord(
            scheme: .basic, credential: credential.version.name, dated: .passwordInClear, rule: rule?.rule,
            ruleLine: rule?.ruleLine ?? 0)
    }

    /// The server has nothing against the login, or wanted none.
    public mutating func accepted() {
        lease?.settle(isSent ? .accepted : .open)
        lease = nil
        guard isSent, let version = credential?.version, parent.accepted != version else { return }
        parent.accepted = version
        let wasParked = state.spaces.noteAccepted(version, for: space)
        if wasParked { state.noteLifted(version, for: space, by: delegate.client) }
    }

    /// The server has judged, and nobody sends this version again.
    public mutating func refused() -> Refusal {
        guard let credential else { return unanswered }
        parent.accepted = nil
        state.refuse(
            DefiniteRefusal(of: credential, in: space, retry: retry), of: delegate.client,
            countedBy: requester.metrics, at: requester.loop.epochMilliseconds)
        lease?.settle(.unanswered)
        lease = nil
        return .unanswered(
            by: parent, challenges: [HeaderChallenge(scheme: "password")],
            note: PassReason.alreadyRefused(credential: credential.version.name).description)
    }

    /// The server wants a password that it does not get.
    public var unanswered: Refusal {
        .unanswered(by: parent, challenges: [HeaderChallenge(scheme: "password")], note: reason)
    }
}
