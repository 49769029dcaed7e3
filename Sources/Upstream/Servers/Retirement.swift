import Authentication

/// Which connections have had their time: they serve the request that they have, and no other.
public enum Retirement: Sendable {
    /// Those that are logged in with another version of the credential; nil: with any.
    case logins(String, but: CredentialVersion?)
    /// Those that were made when TLS had other answers.
    case tlsAnswers
}
