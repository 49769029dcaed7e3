import Authentication
import Bytes
import Credentials
import IO
import Model
import Rules

/// The delegate that decides about challenges by the rule file. A class, because a request passes it on a dozen times.
public final class RuleDelegate: Sendable {
    public let policy: ChallengePolicy
    public let state: ChallengeState
    public let client: ClientIdentity
    /// The path of the request, for helpers that are asked for it; nil for others.
    public let path: String?

    public init(policy: ChallengePolicy, state: ChallengeState, client: ClientIdentity, path: String? = nil) {
        self.policy = policy
        self.state = state
        self.client = client
        self.path = path
    }

    /// The credential of the rule file, for that server and the path of the request.
    func configured(_ name: String, for origin: Origin) throws(CredentialError) -> Credential {
        try policy.credentials.credential(named: name, for: origin, path: path)
    }

    /// The delegate's decision with the rule that made it, for the record.
    public struct DelegateDecision {
        public let decision: Decision
        public let rule: RuleDecision
        /// The reason why a credential that the rule names cannot be used, for the operator.
        public let trouble: CredentialError?
        /// Whether an operator rejected the challenge, for this request or for later ones too.
        public var isRejectedByOperator = false

        /// Whether no other challenge of the response is considered.
        var isEnd: Bool {
            if case .cancelAuthenticationChallenge = decision.disposition { true } else { decision.report != nil }
        }
    }

    /// The rule for a space, before any credential is considered. Allocates nothing.
    public func rule(for space: ProtectionSpace, failures: Int) -> RuleDecision {
        policy.rules.decide(ChallengeQuery(space, client: client, failures: failures))
    }

    /// Whether the credentials must be read again before the challenge is decided: the first that the rule names is
    /// parked and its file may have a new value, or it could not be read.
    public func wantsFreshCredentials(for challenge: AuthenticationChallenge, by rule: RuleDecision) -> Bool {
        guard case .use(let names) = rule.action, let first = names.first, !policy.credentials.isGiven(first) else {
            return false
        }
        guard let known = try? policy.credentials.credential(named: first) else { return true }
        return isHeld(known, in: challenge.protectionSpace)
    }

    /// The question to the program that gives the rule's credential, if it should run before the challenge is decided.
    func helperQuestion(
        for challenge: AuthenticationChallenge, by rule: RuleDecision, at now: @autoclosure () -> WallTime
    ) -> HelperQuestion? {
        guard policy.credentials.hasHelpers, !rule.isReport else { return nil }
        let lines = challenge.failureResponse?.challenges.map { "\($0)" } ?? []
        return helperQuestion(
            for: challenge.protectionSpace, by: rule, besides: challenge.refused, challenges: lines, at: now())
    }

    /// - Parameter refused: versions that are not chosen.
    func helperQuestion(
        for space: ProtectionSpace, by rule: RuleDecision, besides refused: [CredentialVersion] = [],
        challenges: [String] = [], at now: WallTime
    ) -> HelperQuestion? {
        guard policy.credentials.hasHelpers, case .use(let names) = rule.action else { return nil }
        let name = choice(among: names, for: space, besides: refused, at: now)
        guard policy.credentials.isGiven(name) else { return nil }
        if let spent = policy.credentials.spent(name, for: space.origin, path: path) {
            // It is asked for each challenge, which it must see. One that a server refuses is on hold.
            if refused.contains(spent.version) || challenges.isEmpty || isHeld(spent, in: space) { return nil }
        }
        let known = try? configured(name, for: space.origin)
        // A value that this request has sent was read again already.
        if let known, refused.contains(known.version) { return nil }
        let held = known.flatMap { isHeld($0, in: space) ? $0.version : nil }
        return policy.credentials.question(
            name, for: space.origin, path: path, besides: held, challenges: challenges, at: now)
    }

    /// The first credential that is not parked for the space or is due for a retry there, among those that a rule names
    /// and that have answers left. If all are parked, the last.
    ///
    /// - Parameter refused: versions that are not chosen.
    func choice(
        among names: [String], for space: ProtectionSpace, besides refused: [CredentialVersion] = [],
        at now: @autoclosure () -> WallTime
    ) -> String {
        guard names.count > 1 else { return names.first ?? "" }
        let chosen = names.first { name in
            guard let known = try? configured(name, for: space.origin) else {
                // A program that has failed is not run again for a while.
                return !policy.credentials.isGiven(name)
                    || policy.credentials.question(name, for: space.origin, path: path, at: now()) != nil
            }
            if isSpent(known, after: refused) { return false }
            return !isHeld(known, in: space, at: now())
        }
        if let chosen { return chosen }
        let open = names.last { name in
            (try? configured(name, for: space.origin)).map { !isSpent($0, after: refused) } ?? true
        }
        return open ?? names.last ?? ""
    }

    /// Whether the request has no further value of the credential, which is not read again here: its value was refused.
    /// For a grant, another token is fetched once.
    private func isSpent(_ credential: Credential, after refused: [CredentialVersion]) -> Bool {
        if refused.contains(credential.version) { return true }
        guard credential.grant != nil else { return false }
        return refused.count { $0.key == credential.version.key } > 1
    }

    /// Whether a credential was refused, so that another one is the better choice for the space.
    public func isHeld(_ credential: Credential, in space: ProtectionSpace, at now: WallTime = 0) -> Bool {
        // Mostly there are no doubts about any credential, and no server name must be made.
        guard state.spaces.accounts.troubledCount > 0 else { return false }
        let credential = credential.answering(in: space)
        guard let server = judge(of: credential, in: space) else { return false }
        return state.spaces.accounts.isRefused(credential.version, at: server, now: now)
    }

    /// The account name of the server that judges the credential before it can answer in the space: the space's own, or
    /// the KDC or token endpoint. Nil if there is already a ticket or a token.
    func judge(of credential: Credential, in space: ProtectionSpace) -> String? {
        let now = SystemClock.wallTime
        if let grant = credential.grant {
            return state.current(credential, at: now) == nil ? grant.serverName ?? space.origin.serverName : nil
        }
        guard space.authenticationMethod == .negotiate else { return space.origin.serverName }
        guard let principal = credential.principal, principal.ticketEnd ?? 0 <= now else { return nil }
        return principal.kdc
    }

    /// The rule for a challenge.
    public func rule(for challenge: AuthenticationChallenge) -> RuleDecision {
        policy.rules.decide(ChallengeQuery(challenge, client: client))
    }

    /// Decides about a challenge as its rule says, with the credentials as they were last read.
    public func decide(
        _ challenge: AuthenticationChallenge, by rule: RuleDecision, at now: @autoclosure () -> WallTime
    ) -> DelegateDecision {
        let ruled = enforced(challenge, by: rule, at: now())
        return rule.isReport ? reported(ruled, on: challenge) : ruled
    }

    private func enforced(
        _ challenge: AuthenticationChallenge, by rule: RuleDecision, at now: @autoclosure () -> WallTime
    ) -> DelegateDecision {
        switch rule.action {
        case .performDefault where !isMeant(challenge, by: rule):
            // The rule has no credential for this challenge, but the next challenge may have its own: a server offers
            // Negotiate beside NTLM, and the store has a password for NTLM.
            return ruled(.rejectProtectionSpace, by: rule)
        // `trust` answers no challenge of a response.
        case .performDefault, .trust: return ruled(.performDefaultHandling, by: rule, kept: rule.persistence)
        case .reject: return ruled(.rejectProtectionSpace, by: rule)
        case .cancel: return ruled(.cancelAuthenticationChallenge, by: rule, " refuses")
        case .use(let names):
            let name = choice(among: names, for: challenge.protectionSpace, besides: challenge.refused, at: now())
            return use(name, for: challenge.protectionSpace, kept: rule.persistence, by: rule)
        case .ask: return decideWithoutOperator(challenge, by: rule)
        }
    }

    /// The decision of a rule that only reports.
    private func reported(_ ruled: DelegateDecision, on challenge: AuthenticationChallenge) -> DelegateDecision {
        let decision = ruled.decision
        let words: String
        switch decision.disposition {
        case .useCredential(let credential): words = "use \(credential.version.name)"
        case .performDefaultHandling:
            if let name = challenge.proposedCredential?.version.name {
                words = "default, with credential \(name)"
            } else if ruled.rule.action == .ask {
                words = "ask"
            } else {
                return ruled
            }
        case .cancelAuthenticationChallenge: words = "cancel"
        case .rejectProtectionSpace: return ruled
        }
        return DelegateDecision(
            decision: Decision(decision.disposition, reason: decision.reason, report: words),
            rule: ruled.rule, trouble: ruled.trouble)
    }

    /// The decision for a credential of the rule file.
    ///
    /// - Parameter isStored: whether an operator has named the credential, who may mean one stored for that space.
    func use(
        _ name: String, for space: ProtectionSpace, orStored isStored: Bool = false, kept persistence: Persistence,
        by rule: RuleDecision
    ) -> DelegateDecision {
        do throws(CredentialError) {
            let named =
                try isStored
                ? state.credential(named: name, for: space, by: policy)
                : configured(name, for: space.origin)
            return ruled(.useCredential(named.with(persistence)), by: rule)
        } catch {
            if let spent = policy.credentials.spent(name, for: space.origin, path: path), isHeld(spent, in: space) {
                return use(spent, by: rule)
            }
            if policy.credentials.isGiven(name) { return unread(error, by: rule) }
            return DelegateDecision(
                decision: Decision(
                    .cancelAuthenticationChallenge,
                    reason: "credential \(name) of \(rule.reason) cannot be read; the proxy's log says why"),
                rule: rule, trouble: error)
        }
    }

    /// The decision where the program has given no value: the client gets the challenge, with the reason.
    func unread(_ error: CredentialError, by rule: RuleDecision) -> DelegateDecision {
        DelegateDecision(decision: Decision(.rejectProtectionSpace, reason: rule.reason), rule: rule, trouble: error)
    }

    /// The decision for a value that a program has just given.
    func use(_ credential: Credential, by rule: RuleDecision) -> DelegateDecision {
        ruled(.useCredential(credential.with(rule.persistence)), by: rule)
    }

    /// Whether `default` covers the challenge. A password is used for a KDC only if a rule says so, and never for an
    /// unknown scheme.
    func isMeant(_ challenge: AuthenticationChallenge, by rule: RuleDecision) -> Bool {
        let method = challenge.protectionSpace.authenticationMethod
        if method == .other { return false }
        if method == .negotiate { return rule.namesMethod }
        return rule.rule != nil || challenge.proposedCredential?.canAnswer(challenge.protectionSpace) == true
    }
}

/// The answer `ask`: an operator decides if nothing is known. A stored credential for the space answers as for
/// `default`, and an operator's saved answer applies.
extension RuleDelegate {
    /// The question about a challenge for an operator; nil if its rule asks none, or there is an answer.
    public func question(about challenge: AuthenticationChallenge, by rule: RuleDecision) -> OperatorQuestion.Subject? {
        guard rule.action == .ask, !rule.isReport, isForPeople(challenge.protectionSpace, rule),
            challenge.refusals(by: rule.reason) < rule.answers
        else { return nil }
        let subject = OperatorQuestion.Subject(challenge, by: rule.rule)
        guard challenge.refusals(by: rule.reason) == 0 else { return subject }
        if isKept(for: challenge) { return nil }
        return state.questions.standing(for: subject.key) == nil ? subject : nil
    }

    /// Whether an operator can answer a challenge of that method. A rule must name the method to use a password for a
    /// KDC, an unknown scheme or a page.
    private func isForPeople(_ space: ProtectionSpace, _ rule: RuleDecision) -> Bool {
        switch space.authenticationMethod.traits.consent {
        case .none: true
        case .method: rule.namesMethod
        case .form: rule.terms?.form != nil
        case .never: false
        }
    }

    /// The operator's saved answer, if it applies to later requests.
    public func standingAct(for challenge: AuthenticationChallenge, by rule: RuleDecision) -> OperatorAnswer.Act? {
        guard challenge.refusals(by: rule.reason) == 0 else { return nil }
        return state.questions.standing(for: OperatorQuestion.Subject(challenge, by: rule.rule).key)
    }

    /// Holds a request until an operator answers.
    ///
    /// - Throws: the reason why there is no answer: the rest of a sentence about the challenger.
    public func ask(_ subject: OperatorQuestion.Subject, at now: WallTime) async throws(OperatorQuestion.Unanswered)
        -> OperatorAnswer
    {
        let outcome = await state.questions.hold(subject, of: client, under: policy, at: now, naming: credentials(for:))
        guard case .answered(let answer) = outcome else {
            let challenge = subject.key.rule.map { "rule \($0)" } ?? "a rule"
            throw OperatorQuestion.Unanswered(reason: outcome.reason(challenge, within: policy.timeouts.ask))
        }
        return answer
    }

    /// The decision of `ask` if no operator is asked.
    func decideWithoutOperator(_ challenge: AuthenticationChallenge, by rule: RuleDecision) -> DelegateDecision {
        let subject = OperatorQuestion.Subject(challenge, by: rule.rule)
        if !isKept(for: challenge), challenge.refusals(by: rule.reason) == 0,
            let standing = state.questions.standing(for: subject.key)
        {
            return decide(by: OperatorAnswer(standing, persistence: .session), in: challenge.protectionSpace, rule)
        }
        return ruled(isMeant(challenge, by: rule) ? .performDefaultHandling : .rejectProtectionSpace, by: rule)
    }

    /// Whether a proposed or stored credential can answer and was not refused for this request.
    private func isKept(for challenge: AuthenticationChallenge) -> Bool {
        let space = challenge.protectionSpace
        let isOpen = { (credential: Credential?) in
            credential.map { $0.canAnswer(space) && !challenge.refused.contains($0.version) } ?? false
        }
        if isOpen(challenge.proposedCredential) { return true }
        return isOpen(state.storage.proposedCredential(for: space))
    }

    /// The names of credentials that could answer a challenge of that space: first those of the rule file, in its
    /// order, then those stored for the space.
    func credentials(for space: ProtectionSpace) -> [String] {
        let named = policy.rules.configuration.credentials.map(\.name).filter { name in
            (try? configured(name, for: space.origin))?.canAnswer(space) == true
        }
        let stored = state.storage.credentials(for: space).values.filter { $0.canAnswer(space) }.map(\.version.name)
        return Array((named + stored.sorted()).prefix(Self.nameLimit))
    }

    private static let nameLimit = 100

    /// The decision that corresponds to an operator's answer to a challenge of that space.
    public func decide(
        by operatorAnswer: OperatorAnswer, in space: ProtectionSpace, _ rule: RuleDecision
    ) -> DelegateDecision {
        let persistence = operatorAnswer.persistence
        switch operatorAnswer.act {
        case .use(let name): return use(name, for: space, orStored: true, kept: persistence, by: rule)
        case .password(let user, let password):
            let name = "ask:\(JournalText.printable(user, longest: 64))"
            let credential = Credential(name: name, user: user, password: password, persistence: persistence)
            return ruled(.useCredential(credential), by: rule)
        case .reject, .trust:
            var rejected = ruled(.rejectProtectionSpace, by: rule)
            rejected.isRejectedByOperator = true
            return rejected
        case .cancel: return ruled(.cancelAuthenticationChallenge, by: rule, " asks the operator, who refused")
        }
    }

    /// - Parameter rest: the end of the reason, which begins with the rule.
    private func ruled(
        _ disposition: Disposition, by rule: RuleDecision, kept persistence: Persistence? = nil, _ rest: String = ""
    ) -> DelegateDecision {
        DelegateDecision(
            decision: Decision(
                disposition, attempts: rule.answers, persistence: persistence, reason: rule.reason + rest),
            rule: rule, trouble: nil)
    }
}

extension OperatorQuestions.Outcome {
    /// The reason why there is no answer, as the end of a sentence about the rule.
    func reason(_ rule: String, within limit: Milliseconds) -> String {
        switch self {
        case .answered: return "\(rule) asks the operator"
        case .unanswered: return "\(rule) asks the operator, who did not answer within \(Self.words(limit))"
        case .displaced: return "\(rule) asks the operator, but too many challenges wait"
        case .crowded: return "\(rule) asks the operator, but too many requests wait for the answer"
        }
    }

    private static func words(_ limit: Milliseconds) -> String {
        limit.count % 1000 == 0 ? "\(limit.seconds) s" : "\(limit.count) ms"
    }
}
