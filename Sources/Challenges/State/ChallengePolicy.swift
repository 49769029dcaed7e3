import Authentication
import Bytes
import Credentials
import Rules

/// The part of a policy that concerns challenges. Immutable; replaced as a whole on a reload, with the rest of the
/// policy.
public final class ChallengePolicy: Sendable {
    /// Some of the rule file's `timeouts`.
    public struct Timeouts: Sendable {
        public let connect: Milliseconds
        public let response: Milliseconds
        /// The time that a client's session outlives its last request.
        public let session: Milliseconds
        /// The time that a request is held for an operator's answer.
        public let ask: Milliseconds

        public init(connect: Milliseconds, response: Milliseconds, session: Milliseconds, ask: Milliseconds) {
            self.connect = connect
            self.response = response
            self.session = session
            self.ask = ask
        }
    }

    public let rules: RuleSet
    public let credentials: ConfiguredCredentials
    public let timeouts: Timeouts
    public let order = ChallengeOrder()

    public init(rules: RuleSet, credentials: ConfiguredCredentials, timeouts: Timeouts) {
        self.rules = rules
        self.credentials = credentials
        self.timeouts = timeouts
    }
}
