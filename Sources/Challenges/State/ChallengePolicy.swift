import Authentication
import Credentials
import Rules

/// The part of a policy that concerns challenges. Immutable; replaced as a whole on a reload, with the rest of the
/// policy.
public final class ChallengePolicy: Sendable {
    public let rules: RuleSet
    public let credentials: ConfiguredCredentials
    public let timeouts: Configuration.Timeouts
    public let order = ChallengeOrder()

    public init(rules: RuleSet, credentials: ConfiguredCredentials) {
        self.rules = rules
        self.credentials = credentials
        timeouts = rules.configuration.timeouts
    }
}
