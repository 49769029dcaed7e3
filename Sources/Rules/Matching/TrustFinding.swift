/// What an evaluation of a server's certificate chain can find, as the rule file names it.
public enum TrustFinding: String, Sendable, CaseIterable {
    case unknownIssuer = "unknown-issuer"
    case selfSigned = "self-signed"
    case expired
    case notYetValid = "not-yet-valid"
    case wrongName = "wrong-name"
    case revoked
    case weak
}
