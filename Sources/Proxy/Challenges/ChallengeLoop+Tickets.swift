import Authentication
import HTTP
import Rules
import Telemetry

/// Answers that need a ticket, which may be late: then the response's other challenges are turned to, and nothing is held
/// against the credential.
extension ChallengeLoop {
    /// How the rule that answers the space wants connections logged in.
    func loginTerms(for space: ProtectionSpace) -> LoginTerms {
        let terms = delegate.rule(for: space, failures: task.failureCount).terms
        return LoginTerms(
            servicePrincipal: terms?.servicePrincipal, delegates: terms?.delegates ?? false,
            canonicalises: terms?.canonicalises ?? false, patience: policy.timeouts.connect)
    }

    /// Gets what a login needs before a connection is spent on it.
    func prepareConnections(for space: ProtectionSpace) async throws(AuthenticationError) {
        guard case .connection(let connections)? = authenticator?.binding else { return }
        try await connections.prepare(under: loginTerms(for: space))
    }

    /// What the lack of a ticket means for the task; nil without one.
    mutating func takeSetback() -> Authentication.Refusal? {
        guard let refusal = trouble?.refusal else { return nil }
        setback = trouble
        trouble = nil
        record.details = setback.map { "\($0)" }
        return refusal
    }

    /// Who would not have the answer's credential, for the operator.
    func whoRefused(_ answer: Authentication.Answer) -> String {
        if answer.space.authenticationMethod == .negotiate, case .noTicket(_, _, .refused(let sentence))? = setback {
            return "was refused (\(sentence))"
        }
        return "was refused by \(origin.hostText):\(origin.port)"
    }

    /// What the client is told instead of a challenge that would be answered if there was a ticket.
    func lackOfTicket(after reason: PassReason) -> Refusal? {
        guard let setback, case .aborted = reason else { return nil }
        return Refusal(.badGateway, .httpRequestDenied, "\(origin.title) wants a login, and \(setback)")
    }

    /// What `Proxy-Status` says of a challenge that the client gets.
    func note(on reason: PassReason) -> String? {
        if case .attemptsUsed = reason, let setback { return "\(setback)" }
        return reason.note
    }

    /// What a server did not prove that should have.
    var missingProof: String {
        answered?.space.authenticationMethod == .negotiate
            ? "that it is the service of the ticket (its last token)" : "that it knows the password (rspauth)"
    }
}
