import Authentication
import Bytes
import Credentials
import IO
import Model
import Rules

/// The rule file as the delegate that challenges are put to.
public struct RuleDelegate: Sendable {
    public let policy: ChallengePolicy
    public let state: ChallengeState
    public let client: ClientIdentity

    public init(policy: ChallengePolicy, state: ChallengeState, client: ClientIdentity) {
        self.policy = policy
        self.state = state
        self.client = client
    }

    /// The delegate's decision with the rule that made it, for the record.
    public struct RuledDecision {
        public let decision: Decision
        public let rule: Ruling
        /// Why a credential that the rule names cannot be used; for the operator.
        public let trouble: CredentialError?
        /// Whether an operator rejected the challenge, for this request or for all to come.
        public var isRejectedByOperator = false

        /// Whether no other challenge of the response is asked about.
        var isEnd: Bool {
            if case .cancelAuthenticationChallenge = decision.disposition { true } else { decision.report != nil }
        }
    }

    /// The rules' word on a space, before any credential is looked at. Allocates nothing.
    public func rule(for space: ProtectionSpace, failures: Int) -> Ruling {
        policy.rules.decide(ChallengeQuery(space, client: client, failures: failures))
    }

    /// Whether the credentials have to be read again before the challenge is decided: the first that the rule names is
    /// parked, and its file may have a new value; or it could not be read.
    public func wantsFreshCredentials(for challenge: AuthenticationChallenge, by rule: Ruling) -> Bool {
        guard case .use(let names) = rule.action, let first = names.first else { return false }
        guard let known = try? policy.credentials.credential(named: first) else { return true }
        return isHeld(known, in: challenge.protectionSpace)
    }

    /// The first of the credentials that a rule names and that have not had their answers that is not parked for the
    /// space, or is to be tried again there; where all are, the last.
    ///
    /// - Parameters:
    ///   - refused: versions that are not chosen.
    ///   - now: milliseconds since 1970.
    func choice(
        among names: [String], for space: ProtectionSpace, besides refused: [CredentialVersion] = [],
        at now: @autoclosure () -> Int
    ) -> String {
        guard names.count > 1 else { return names.first ?? "" }
        let chosen = names.first { name in
            guard let known = try? policy.credentials.credential(named: name) else { return true }
            if isSpent(known, after: refused) { return false }
            return !isHeld(known, in: space, at: now())
        }
        if let chosen { return chosen }
        let open = names.last { name in
            (try? policy.credentials.credential(named: name)).map { !isSpent($0, after: refused) } ?? true
        }
        return open ?? names.last ?? ""
    }

    /// Whether a request has nothing to send any more with the credential, which is not read again here: its value was
    /// refused. For a grant another token is fetched once.
    private func isSpent(_ credential: Credential, after refused: [CredentialVersion]) -> Bool {
        if refused.contains(credential.version) { return true }
        guard credential.grant != nil else { return false }
        return refused.count { $0.key == credential.version.key } > 1
    }

    /// Whether a credential was refused, so that another one is the better choice for the space.
    ///
    /// - Parameter now: milliseconds since 1970.
    public func isHeld(_ credential: Credential, in space: ProtectionSpace, at now: Int = 0) -> Bool {
        // Mostly nothing is held against any credential, and no name of a server has to be made.
        guard state.spaces.accounts.troubledCount > 0, let server = judge(of: credential, in: space)
        else { return false }
        return state.spaces.accounts.isRefused(credential.version, at: server, now: now)
    }

    /// The name in accounts of the server that judges the credential before it can answer in the space: the space's own, or
    /// the KDC or token endpoint that gives what answers there; nil: there is a ticket or a token.
    func judge(of credential: Credential, in space: ProtectionSpace) -> String? {
        let now = SystemClock.epochMilliseconds
        if let grant = credential.grant { return state.current(credential, at: now) == nil ? grant.server : nil }
        guard space.authenticationMethod == .negotiate else { return space.origin.serverName }
        guard let principal = credential.principal, principal.ticketEnd ?? 0 <= now / 1000 else { return nil }
        return principal.kdc
    }

    /// The rules' word on a challenge.
    public func rule(for challenge: AuthenticationChallenge) -> Ruling {
        policy.rules.decide(ChallengeQuery(challenge, client: client))
    }

    /// Decides what to do about a challenge as its rule says, with the credentials as they were last read.
    ///
    /// - Parameter now: milliseconds since 1970.
    public func decide(
        _ challenge: AuthenticationChallenge, by rule: Ruling, at now: @autoclosure () -> Int
    ) -> RuledDecision {
        let ruled = enforced(challenge, by: rule, at: now())
        return rule.isReport ? reported(ruled, on: challenge) : ruled
    }

    private func enforced(
        _ challenge: AuthenticationChallenge, by rule: Ruling, at now: @autoclosure () -> Int
    ) -> RuledDecision {
        let reason = rule.reason
        let decision = { (disposition: Disposition, reason: String) in
            Decision(
                disposition, attempts: rule.answers, persistence: .init(rule.persistence), reason: reason)
        }
        switch rule.action {
        case .performDefault where !isMeant(challenge, by: rule):
            // Nobody meant a credential for this challenge, and the next may have its own: a server offers Negotiate
            // beside NTLM, and the store has a password for the latter.
            return RuledDecision(decision: decision(.rejectProtectionSpace, reason), rule: rule, trouble: nil)
        // `trust` answers no challenge of a response.
        case .performDefault, .trust:
            return RuledDecision(decision: decision(.performDefaultHandling, reason), rule: rule, trouble: nil)
        case .reject: return RuledDecision(decision: decision(.rejectProtectionSpace, reason), rule: rule, trouble: nil)
        case .cancel:
            return RuledDecision(
                decision: decision(.cancelAuthenticationChallenge, "\(reason) refuses"), rule: rule, trouble: nil)
        case .use(let names):
            let name = choice(among: names, for: challenge.protectionSpace, besides: challenge.refused, at: now())
            return use(name, kept: rule.persistence, by: rule)
        case .ask: return decideUnasked(challenge, by: rule)
        }
    }

    /// The decision of a rule that only reports.
    private func reported(_ ruled: RuledDecision, on challenge: AuthenticationChallenge) -> RuledDecision {
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
        return RuledDecision(
            decision: Decision(decision.disposition, reason: decision.reason, report: words),
            rule: ruled.rule, trouble: ruled.trouble)
    }

    /// The decision for a credential of the rule file.
    ///
    /// - Parameter space: set where an operator has named it, who may mean one that is stored for that space.
    func use(
        _ name: String, storedFor space: ProtectionSpace? = nil, kept persistence: Persistence, by rule: Ruling
    ) -> RuledDecision {
        let reason = rule.reason
        do throws(CredentialError) {
            let named: Credential
            if let space {
                named = try state.credential(named: name, for: space, by: policy)
            } else {
                named = try policy.credentials.credential(named: name)
            }
            let kept = named.with(persistence)
            return RuledDecision(
                decision: Decision(.useCredential(kept), attempts: rule.answers, reason: reason),
                rule: rule, trouble: nil)
        } catch {
            return RuledDecision(
                decision: Decision(
                    .cancelAuthenticationChallenge,
                    reason: "credential \(name) of \(reason) cannot be read; the proxy's log says why"),
                rule: rule, trouble: error)
        }
    }

    /// Whether `default` says something about the challenge. A password is taken to a KDC only where a rule says so, and to
    /// a scheme that is not known never.
    func isMeant(_ challenge: AuthenticationChallenge, by rule: Ruling) -> Bool {
        let method = challenge.protectionSpace.authenticationMethod
        if method == .other { return false }
        if method == .negotiate { return rule.namesMethod }
        return rule.rule != nil || challenge.proposedCredential?.canAnswer(challenge.protectionSpace) == true
    }
}

/// `ask`: an operator decides where nothing is known. A credential that is kept for the space answers as it does for
/// `default`, and an operator's earlier answer still applies.
extension RuleDelegate {
    /// The question that a challenge is to an operator; nil: its rule asks none, or there is an answer.
    public func question(about challenge: AuthenticationChallenge, by rule: Ruling) -> OperatorQuestion.Subject? {
        guard rule.action == .ask, !rule.isReport, isForPeople(challenge.protectionSpace, rule),
            challenge.refusals(by: rule.reason) < rule.answers
        else { return nil }
        let subject = OperatorQuestion.Subject(challenge, by: rule.rule)
        guard challenge.refusals(by: rule.reason) == 0 else { return subject }
        if isKept(for: challenge) { return nil }
        return state.questions.standing(for: subject.key) == nil ? subject : nil
    }

    /// Whether a person can say something about a challenge of that method. A password is taken to a KDC only where a
    /// rule says so, and of a method that is not known, or a page, a rule has to speak.
    private func isForPeople(_ space: ProtectionSpace, _ rule: Ruling) -> Bool {
        switch space.authenticationMethod.traits.consent {
        case .none: true
        case .method: rule.namesMethod
        case .form: rule.terms?.form != nil
        case .never: false
        }
    }

    /// The operator's earlier answer, where it holds for requests to come.
    public func standingAct(for challenge: AuthenticationChallenge, by rule: Ruling) -> OperatorAnswer.Act? {
        guard challenge.refusals(by: rule.reason) == 0 else { return nil }
        return state.questions.standing(for: OperatorQuestion.Subject(challenge, by: rule.rule).key)
    }

    /// Holds a request until an operator answers.
    ///
    /// - Parameter now: milliseconds since 1970.
    /// - Throws: the reason why there is no answer: the rest of a sentence about the challenger.
    public func ask(_ subject: OperatorQuestion.Subject, at now: Int) async throws(OperatorQuestion.Unanswered)
        -> OperatorAnswer
    {
        let outcome = await state.questions.hold(subject, of: client, under: policy, at: now, naming: credentials(for:))
        guard case .answered(let answer) = outcome else {
            let challenge = subject.key.rule.isEmpty ? "a rule" : "rule \(subject.key.rule)"
            throw OperatorQuestion.Unanswered(reason: outcome.reason(challenge, within: policy.timeouts.ask))
        }
        return answer
    }

    /// The decision of `ask` where no operator is asked.
    func decideUnasked(_ challenge: AuthenticationChallenge, by rule: Ruling) -> RuledDecision {
        let subject = OperatorQuestion.Subject(challenge, by: rule.rule)
        if !isKept(for: challenge), challenge.refusals(by: rule.reason) == 0,
            let standing = state.questions.standing(for: subject.key)
        {
            return decide(
                by: OperatorAnswer(standing, persistence: .session), in: challenge.protectionSpace, rule)
        }
        return ruled(isMeant(challenge, by: rule) ? .performDefaultHandling : .rejectProtectionSpace, by: rule)
    }

    /// Whether a credential is proposed or stored that can answer, and that this request was not refused with.
    private func isKept(for challenge: AuthenticationChallenge) -> Bool {
        let space = challenge.protectionSpace
        let isOpen = { (credential: Credential?) in
            credential.map { $0.canAnswer(space) && !challenge.refused.contains($0.version) } ?? false
        }
        if isOpen(challenge.proposedCredential) { return true }
        return isOpen(state.storage.proposedCredential(for: space))
    }

    /// The names of credentials that could answer a challenge of that space: those of the rule file, in its order, and
    /// behind them those that are stored for the space.
    func credentials(for space: ProtectionSpace) -> [String] {
        let configured = policy.rules.configuration.credentials.map(\.name).filter { name in
            (try? policy.credentials.credential(named: name))?.canAnswer(space) == true
        }
        let stored = state.storage.credentials(for: space).values.filter { $0.canAnswer(space) }.map(\.version.name)
        return Array((configured + stored.sorted()).prefix(Self.nameLimit))
    }

    private static let nameLimit = 100

    /// The decision that an operator's answer to a challenge of that space stands for.
    public func decide(
        by operatorAnswer: OperatorAnswer, in space: ProtectionSpace, _ rule: Ruling
    ) -> RuledDecision {
        let persistence = operatorAnswer.persistence
        switch operatorAnswer.act {
        case .use(let name): return use(name, storedFor: space, kept: persistence, by: rule)
        case .password(let user, let password):
            let name = "ask:\(JournalText.printable(user, longest: 64))"
            let credential = Credential(name: name, user: user, password: password, persistence: persistence)
            return ruled(.useCredential(credential), by: rule)
        case .reject, .trust:
            var rejected = ruled(.rejectProtectionSpace, by: rule)
            rejected.isRejectedByOperator = true
            return rejected
        case .cancel: return cancelled(by: rule)
        }
    }

    private func cancelled(by rule: Ruling) -> RuledDecision {
        ruled(.cancelAuthenticationChallenge, by: rule, " the operator, who refused")
    }

    private func ruled(_ disposition: Disposition, by rule: Ruling, _ rest: String = "") -> RuledDecision {
        let reason = rule.reason + (rest.isEmpty ? "" : " asks\(rest)")
        return RuledDecision(
            decision: Decision(disposition, attempts: rule.answers, reason: reason), rule: rule,
            trouble: nil)
    }
}

extension OperatorQuestion {
    /// The error where an operator did not answer in time.
    public struct Unanswered: Error {
        public let reason: String
    }
}

extension OperatorQuestions.Outcome {
    /// The reason why there is no answer: the rest of a sentence about the rule.
    func reason(_ rule: String, within limit: Int) -> String {
        switch self {
        case .answered: return "\(rule) asks the operator"
        case .unanswered: return "\(rule) asks the operator, who did not answer within \(Self.words(limit))"
        case .displaced: return "\(rule) asks the operator, but too many challenges wait"
        case .crowded: return "\(rule) asks the operator, but too many requests wait for the answer"
        }
    }

    private static func words(_ milliseconds: Int) -> String {
        milliseconds % 1000 == 0 ? "\(milliseconds / 1000) s" : "\(milliseconds) ms"
    }
}
