/// What the rule file can say and this version may not be able to do. The grammar is whole; a directive whose machinery
/// has not landed is refused, so that nobody relies on it.
public enum Feature: Sendable, CaseIterable {
    /// `kerberos`, `keytab`, `ccache`; `spn`, `delegate`, `canonicalise`; answering `negotiate`.
    case kerberos
    /// Answering `ntlm`.
    case ntlm
    /// `token`; answering `bearer`.
    case bearer
    /// `oauth2` and what goes with it.
    case oauth
    /// `aws` and what goes with it.
    case signatures
    /// `form`; answering `html-form`.
    case forms
    /// `parent` and `via`.
    case parents
    /// `pac` and `credentials` in a parent.
    case automaticParents
    /// `authenticate digest`, and `nonce-key`.
    case clientDigest
    /// `authenticate negotiate`, and `keytab` of clients.
    case clientNegotiate
    /// `authenticate bearer`, and `tokens`.
    case clientBearer
    /// `learn`.
    case learning
    /// `store`, and the time of a session.
    case storage
    /// `ask`.
    case asking

    /// What this version can do. Whoever lands a machinery adds its feature here, and its words to the example.
    public static let landed: Set<Feature> = [
        .kerberos, .bearer, .oauth, .signatures, .forms, .parents, .automaticParents, .clientDigest, .clientNegotiate,
        .clientBearer, .learning, .storage,
    ]
}

extension ChallengeMethod {
    /// What answering it needs, apart from what `isSupported` says.
    var feature: Feature? {
        switch self {
        case .ntlm: .ntlm
        case .negotiate: .kerberos
        case .bearer: .bearer
        case .htmlForm: .forms
        case .basic, .digest, .clientCertificate, .serverTrust, .unknown: nil
        }
    }
}
