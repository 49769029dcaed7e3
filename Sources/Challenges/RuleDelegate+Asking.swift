import Authentication
import Credentials
import Model
import Rules

/// `ask`: an operator decides where nothing is known. A credential that is kept for the space answers as it does for
/// `default`, and an operator's earlier answer goes on to hold.
extension RuleDelegate {
    /// The question that a challenge is to an operator; nil: its rule asks none, or there is an answer.
    public func question(about challenge: AuthenticationChallenge, by rule: Ruling) -> QuestionSubject? {
        guard rule.action == .ask, !rule.isReport, isForPeople(challenge.protectionSpace, rule),
            challenge.refusals(by: rule.reason) < rule.answers
        else { return nil }
        let subject = QuestionSubject(challenge, by: rule.rule)
        guard challenge.refusals(by: rule.reason) == 0 else { return subject }
        if isKept(for: challenge) { return nil }
        return state.questions.standing(for: subject.key) == nil ? subject : nil
    }

    /// Whether a person can say something about a challenge of that method. A password is taken to a KDC only where a rule says
    /// so, and of a method that is not known, or a page, a rule has to speak.
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
        return state.questions.standing(for: QuestionSubject(challenge, by: rule.rule).key)
    }

    /// Holds a request until an operator answers.
    ///
    /// - Parameter now: milliseconds since 1970.
    /// - Throws: why nobody did: the rest of a sentence about the challenger.
    public func ask(_ subject: QuestionSubject, at now: Int) async throws(UnansweredQuestion) -> OperatorAnswer {
        let outcome = await state.questions.hold(subject, of: self, at: now)
        guard case .answered(let answer) = outcome else {
            let challenge = subject.key.rule.isEmpty ? "a rule" : "rule \(subject.key.rule)"
            throw UnansweredQuestion(reason: outcome.reason(challenge, within: policy.timeouts.ask))
        }
        return answer
    }

    /// The decision of `ask` where no operator is asked.
    func decideUnasked(_ challenge: AuthenticationChallenge, by rule: Ruling) -> RuledDecision {
        let subject = QuestionSubject(challenge, by: rule.rule)
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

/// Nobody has answered a challenge in time.
public struct UnansweredQuestion: Error {
    public let reason: String
}

extension HeldOutcome {
    /// Why nobody has answered: the rest of a sentence about the rule.
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
