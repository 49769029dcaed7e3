import Model

/// A challenge, as a question to the delegate: should it be answered, and with which credential?
public struct AuthenticationChallenge: Sendable {
    public let protectionSpace: ProtectionSpace
    /// The credential that was just refused, else the one in the request's URL, else the storage's default.
    public let proposedCredential: Credential?
    /// The number of definite refusals so far, over all schemes of this request.
    public let previousFailureCount: Int
    /// The problems of a server's certificate, all of them.
    public var findings: TrustFindings = []
    /// The response with the challenge; nil for a challenge without a response.
    public let failureResponse: FailureResponse?
    /// The versions that the server refused in this request, or that are known to be refused there.
    public let refused: [CredentialVersion]
    /// The reasons of the decisions for the refused versions, in order; empty for a version that was sent preemptively.
    var refusedRules: [String] = []
    /// The issuers that the server accepts in a request for a client certificate, as RFC 4514 text; empty: any.
    public var distinguishedNames: [String] = []

    public init(
        protectionSpace: ProtectionSpace, proposedCredential: Credential?, previousFailureCount: Int,
        failureResponse: FailureResponse?, refused: [CredentialVersion] = []
    ) {
        self.refused = refused
        self.protectionSpace = protectionSpace
        self.proposedCredential = proposedCredential
        self.previousFailureCount = previousFailureCount
        self.failureResponse = failureResponse
    }

    /// The number of answers that were refused, or counted as refused, after a decision with that reason.
    public func refusals(by reason: String) -> Int { refusedRules.count { $0 == reason } }

    /// Creates the challenge of a server's certificate that was evaluated.
    ///
    /// - Parameter findings: all problems, not only the first.
    public init(trustOf origin: Origin, findings: TrustFindings) {
        self.init(
            protectionSpace: ProtectionSpace(origin: origin, realm: nil, authenticationMethod: .serverTrust),
            proposedCredential: nil, previousFailureCount: 0, failureResponse: nil)
        self.findings = findings
    }

    /// The main parts of the `401` or `407`.
    public struct FailureResponse: Sendable {
        /// All readable challenges, also those that no supported scheme can answer.
        public let challenges: [HeaderChallenge]
        /// The text of the response for people; nil unless it refused an answer.
        public var excerpt: ResponseExcerpt?

        public init(challenges: [HeaderChallenge]) { self.challenges = challenges }
    }
}

/// The delegate's answer to a challenge.
public struct Decision: Sendable {
    public let disposition: Disposition
    /// The number of refusals of the delegate's credential that one request may cause; 0: it is not sent at all.
    public let attempts: Int
    /// How long the credential of default handling is kept; nil: as its own persistence says.
    public let persistence: Persistence?
    /// The rule's name and line, or "no rule"; for a cancellation a clause with the reason. The client may read it.
    public let reason: String
    /// The answer that a rule with `mode report` would have given, in words; nil: the decision is carried out.
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
    /// Answer with the proposed credential if it has not failed; else pass the response to the client.
    case performDefaultHandling
    /// Continue with the response's next challenge.
    case rejectProtectionSpace
    /// Fail the request, with the reason.
    case cancelAuthenticationChallenge
}
