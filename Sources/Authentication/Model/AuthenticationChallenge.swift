/// A question to the delegate: may this space be answered, and with what?
public struct AuthenticationChallenge: Sendable {
    public let protectionSpace: ProtectionSpace
    /// The credential that was just refused, else the one in the request's URL, else the storage's default.
    public let proposedCredential: Credential?
    /// Definite refusals so far, over all schemes of this request.
    public let previousFailureCount: Int
    /// What was challenged with; nil for a challenge that no response made.
    public let failureResponse: FailureResponse?
    public let error: AuthenticationError?

    public init(
        protectionSpace: ProtectionSpace, proposedCredential: Credential?, previousFailureCount: Int,
        failureResponse: FailureResponse?, error: AuthenticationError? = nil
    ) {
        self.protectionSpace = protectionSpace
        self.proposedCredential = proposedCredential
        self.previousFailureCount = previousFailureCount
        self.failureResponse = failureResponse
        self.error = error
    }

    /// The `401` or `407` in short.
    public struct FailureResponse: Sendable {
        public let status: Int
        /// Every challenge of it that could be read, also those that no scheme here can answer.
        public let challenges: [HeaderChallenge]

        public init(status: Int, challenges: [HeaderChallenge]) {
            self.status = status
            self.challenges = challenges
        }
    }
}
