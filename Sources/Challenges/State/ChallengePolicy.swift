import Authentication
import Credentials
import Rules

/// The part of a policy that concerns challenges. Immutable; replaced as a whole on a reload, with the rest of the
/// policy.
public final class ChallengePolicy: Sendable {
    /// Times in milliseconds.
    public struct Timeouts: Sendable {
        public let connect: Int
        public let response: Int
        /// The time that a client's session outlives its last request.
        public let session: Int
        /// The time that a request is held for an operator's answer.
        public let ask: Int

        public init(connect: Int, response: Int, session: Int, ask: Int) {
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
