import Authentication
import Credentials
import Rules

/// The part of a policy that decides about challenges. Immutable; swapped whole on a reload, with the rest of the policy.
final class ChallengePolicy: Sendable {
    /// Milliseconds.
    struct Timeouts: Sendable {
        let connect: Int
        let response: Int
        /// For which a client's session outlives its last request.
        let session: Int
    }

    let rules: RuleSet
    let credentials: ConfiguredCredentials
    let timeouts: Timeouts
    let order = ChallengeOrder()

    init(rules: RuleSet, credentials: ConfiguredCredentials, timeouts: Timeouts) {
        self.rules = rules
        self.credentials = credentials
        self.timeouts = timeouts
    }
}
