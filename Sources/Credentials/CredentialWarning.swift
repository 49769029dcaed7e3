import Authentication

/// What is to be known of a credential that is used all the same.
public enum CredentialWarning: Sendable, Hashable, CustomStringConvertible {
    /// The last day of its validity, such as `2026-11-21`, has passed: a peer will refuse it.
    case expired(credential: String, day: String)
    case expiresSoon(credential: String, day: String)
    case notYetValid(credential: String, day: String)
    /// A ticket was needed, and there is none, or no other in time.
    case noTicket(credential: String, TicketError)

    public var description: String {
        switch self {
        case .expired(let credential, let day): "credential \(credential): the certificate expired on \(day)"
        case .expiresSoon(let credential, let day): "credential \(credential): the certificate expires on \(day)"
        case .notYetValid(let credential, let day):
            "credential \(credential): the certificate is not valid before \(day)"
        case .noTicket(let credential, let error): "credential \(credential) gets no ticket: \(error)"
        }
    }
}
