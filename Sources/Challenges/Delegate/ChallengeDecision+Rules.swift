import Authentication
import Model
import Rules
import Telemetry

extension ChallengeDecision {
    init(_ decision: Decision, about challenge: AuthenticationChallenge, by rule: RuleDecision) {
        let space = challenge.protectionSpace
        self.init(
            method: space.authenticationMethod.rawValue, realm: space.realm, rule: rule.rule,
            disposition: decision.report == nil ? decision.disposition.word : "report")
    }
}

extension Disposition {
    /// The word of the rule file.
    fileprivate var word: String {
        switch self {
        case .useCredential: "use"
        case .performDefaultHandling: "default"
        case .rejectProtectionSpace: "reject"
        case .cancelAuthenticationChallenge: "cancel"
        }
    }
}

extension AnswerResult {
    init(_ refusal: RepeatedChallenge) {
        switch refusal {
        case .retry, .renewed: self = .stale
        case .proceed: self = .continues
        case .refused: self = .refused
        case .aborted, .denied, .unrelated: self = .unjudged
        }
    }
}
