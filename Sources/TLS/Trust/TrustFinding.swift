/// What an evaluation of a server's certificate chain can find, by the words of the rule file.
public enum TrustFinding: String, Sendable, Hashable, CaseIterable {
    /// The chain is whole, and ends in a root that is no anchor.
    case unknownIssuer = "unknown-issuer"
    /// The server's own certificate is its own issuer, and is no anchor.
    case selfSigned = "self-signed"
    /// An issuer was not sent and is not known.
    case incompleteChain = "incomplete-chain"
    case expired
    case notYetValid = "not-yet-valid"
    /// No subject alternative name fits (RFC 9525 section 6); the common name is not looked at.
    case wrongName = "wrong-name"
    /// By a stapled response or a list; also where a list speaks for the certificate but cannot be relied on.
    case revoked
    /// A stapled OCSP response must come (RFC 7633) and none came, or one came that is not to be relied on (RFC 6066
    /// section 8).
    case missingStaple = "missing-staple"
    case weakKey = "weak-key"
    case weakSignature = "weak-signature"
    /// Key usage or extended key usage do not allow what the certificate is used for.
    case wrongUsage = "wrong-usage"
    case nameConstraints = "name-constraints"
    case pathLength = "path-length"
    /// An extension that is critical and not understood.
    case unknownExtension = "unknown-extension"
    /// A signature that does not fit, or a certificate that breaks RFC 5280 in another way.
    case invalid
}
