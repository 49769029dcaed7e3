/// What an evaluation of a server's certificate chain can find, as the rule file names it: the findings of `TLS`, word
/// for word, and `weak` for those two that say so.
public enum TrustFinding: String, Sendable, CaseIterable {
    case unknownIssuer = "unknown-issuer"
    case selfSigned = "self-signed"
    case incompleteChain = "incomplete-chain"
    case expired
    case notYetValid = "not-yet-valid"
    case wrongName = "wrong-name"
    case revoked
    case missingStaple = "missing-staple"
    case weakKey = "weak-key"
    case weakSignature = "weak-signature"
    case wrongUsage = "wrong-usage"
    case nameConstraints = "name-constraints"
    case pathLength = "path-length"
    case unknownExtension = "unknown-extension"
    case invalid
    /// `weak-key` and `weak-signature`. No evaluation finds it.
    case weak

    /// Whether a stranger on the way can present a chain with this finding, in the server's place.
    var isForgeable: Bool {
        switch self {
        case .unknownIssuer, .selfSigned, .incompleteChain, .wrongName, .invalid: true
        default: false
        }
    }
}
