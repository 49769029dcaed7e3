import Authentication

/// The connections to close. One in use finishes its request first.
public enum Retirement: Sendable {
    /// The connections that are logged in with another version of the credential; nil: with any version.
    case logins(String, but: CredentialVersion?)
    /// The connections made before certificates or exceptions changed.
    case tlsPolicyEpoch
}
