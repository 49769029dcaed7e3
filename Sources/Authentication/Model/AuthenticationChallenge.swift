import Model

/// A question to the delegate: may this space be answered, and with what?
public struct AuthenticationChallenge: Sendable {
    public let protectionSpace: ProtectionSpace
    /// The credential that was just refused, else the one in the request's URL, else the storage's default.
    public let proposedCredential: Credential?
    /// Definite refusals so far, over all schemes of this request.
    public let previousFailureCount: Int
    /// The response that challenged; nil for a challenge that no response made.
    public let failureResponse: FailureResponse?
    public let error: AuthenticationError?
    /// The versions that this request was refused with, or that are known to be refused there.
    public let refused: [CredentialVersion]
    /// The reasons of the decisions that gave the refused versions, in their order; empty for one that was sent unasked.
    var refusedRules: [String] = []
    /// Of a request for a client certificate the issuers that the server accepts, as RFC 4514 text; empty: any.
    public var distinguishedNames: [String] = []
    /// Of a server's certificate all that was found.
    public var findings: TrustFindings = []

    public init(
        protectionSpace: ProtectionSpace, proposedCredential: Credential?, previousFailureCount: Int,
        failureResponse: FailureResponse?, error: AuthenticationError? = nil, refused: [CredentialVersion] = []
    ) {
        self.refused = refused
        self.protectionSpace = protectionSpace
        self.proposedCredential = proposedCredential
        self.previousFailureCount = previousFailureCount
        self.failureResponse = failureResponse
        self.error = error
    }

    /// The number of answers that were refused, or counted as refused, after a decision for that reason.
    public func refusals(by reason: String) -> Int { refusedRules.count { $0 == reason } }

    /// A server's certificate was evaluated.
    ///
    /// - Parameter findings: all of them, not only the first.
    public init(trustOf origin: Origin, findings: TrustFindings) {
        self.init(
            protectionSpace: ProtectionSpace(origin: origin, realm: nil, authenticationMethod: .serverTrust),
            proposedCredential: nil, previousFailureCount: 0, failureResponse: nil)
        self.findings = findings
    }

    /// The `401` or `407` in short.
    public struct FailureResponse: Sendable {
        public let status: Int
        /// Every challenge of it that could be read, also those that no scheme here can answer.
        public let challenges: [HeaderChallenge]
        /// What the response says for people; nil unless it refused an answer.
        public var excerpt: ResponseExcerpt?

        public init(status: Int, challenges: [HeaderChallenge]) {
            self.status = status
            self.challenges = challenges
        }
    }
}

/// The delegate's answer to a challenge.
public struct Decision: Sendable {
    public let disposition: Disposition
    /// How many refusals of the delegate's credential one request may cost; 0: it is not sent at all.
    public let attempts: Int
    /// How long what default handling answers with is kept; nil: as long as it says itself.
    public let persistence: Persistence?
    /// The rule's name and line, or "no rule"; of a cancellation, a clause that says why. Fit for the client to read.
    public let reason: String
    /// Of a rule that only reports, the answer that it would have given, in words; nil: the decision is carried out.
    public let report: String?

    public init(
        _ disposition: Disposition, attempts: Int = 1, persistence: Persistence? = nil, reason: String,
        report: String? = nil
    ) {
        self.report = report
        self.persistence = persistence
        self.disposition = disposition
        self.attempts = max(0, attempts)
        self.reason = reason
    }
}

/// The delegate's decision about a challenge.
public enum Disposition: Sendable {
    case useCredential(Credential)
    /// Answer with the proposed credential if it has not failed, else let the client have the response.
    case performDefaultHandling
    /// Go on to the response's next challenge.
    case rejectProtectionSpace
    /// Fail the request, and say why.
    case cancelAuthenticationChallenge
}
