import Crypto

/// What a response that is no challenge says about the server.
public enum Acceptance: Sendable, Hashable {
    /// The server proved that it knows the credential too.
    case verified
    /// Its proof covers the response's content, whose digest is needed to check it (RFC 7616 section 3.5, `auth-int`).
    case needsBody(DigestAlgorithm)
    /// It offered no proof, or none that can be checked here.
    case unverified
    /// It answered without having seen the credential: nothing is said about it.
    case ignored
    /// Its proof is wrong: this is not the server that the credential was made for.
    case mismatch
}
