import COpenSSL

/// One thing that OpenSSL's path validation did not like.
struct Complaint {
    /// `X509_V_ERR_…`
    let code: Int32
    /// Of the certificate in the path; 0 is the server's own.
    let depth: Int
    let certificate: Certificate?
    /// Set when a revocation list was being looked at.
    var listed: ListedRevocation?
    /// Whether nothing can be said of that list, since the authority that signed it is not at hand.
    var lacksListIssuer = false
    /// Whether no issuer was looked for, since the path is too long already.
    var isCutOff = false

    init(code: Int32, depth: Int, certificate: Certificate?) {
        self.code = code
        self.depth = depth
        self.certificate = certificate
    }

    /// Whether a list names the certificate, or is no good.
    var isOfList: Bool {
        switch code {
        case X509_V_ERR_CERT_REVOKED, X509_V_ERR_UNABLE_TO_DECRYPT_CRL_SIGNATURE, X509_V_ERR_CRL_SIGNATURE_FAILURE,
            X509_V_ERR_CRL_NOT_YET_VALID, X509_V_ERR_CRL_HAS_EXPIRED, X509_V_ERR_ERROR_IN_CRL_LAST_UPDATE_FIELD,
            X509_V_ERR_ERROR_IN_CRL_NEXT_UPDATE_FIELD, X509_V_ERR_KEYUSAGE_NO_CRL_SIGN,
            X509_V_ERR_UNHANDLED_CRITICAL_CRL_EXTENSION, X509_V_ERR_CRL_PATH_VALIDATION_ERROR:
            true
        default: false
        }
    }

    /// Whether no list speaks for the certificate. That is no finding: it passes for one that is not revoked.
    var isUnlisted: Bool {
        if lacksListIssuer { return true }
        return switch code {
        case X509_V_ERR_UNABLE_TO_GET_CRL, X509_V_ERR_DIFFERENT_CRL_SCOPE, X509_V_ERR_UNABLE_TO_GET_CRL_ISSUER: true
        default: false
        }
    }

    /// Whether a list that cannot be used leaves open if the certificate is revoked.
    var isDoubt: Bool { kind == .revoked && code != X509_V_ERR_CERT_REVOKED }

    /// Whether it says that the path ends in no anchor.
    var deniesAnchor: Bool {
        [.selfSigned, .unknownIssuer, .incompleteChain].contains(kind)
    }

    /// Nil for what is no finding: no list speaks for this certificate. Whatever is not named here is `invalid`, so
    /// that nothing OpenSSL refuses is without a finding.
    var kind: TrustFinding? {
        if isUnlisted { return nil }
        if isOfList { return .revoked }
        return switch code {
        case X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN, X509_V_ERR_CERT_UNTRUSTED, X509_V_ERR_CERT_REJECTED: .unknownIssuer
        case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT: .selfSigned
        case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT, X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY,
            X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE:
            .incompleteChain
        case X509_V_ERR_CERT_HAS_EXPIRED: .expired
        case X509_V_ERR_CERT_NOT_YET_VALID: .notYetValid
        case X509_V_ERR_EE_KEY_TOO_SMALL, X509_V_ERR_CA_KEY_TOO_SMALL: hasReadableKey ? .weakKey : .invalid
        case X509_V_ERR_CA_MD_TOO_WEAK: hasKnownSignature ? .weakSignature : .invalid
        case X509_V_ERR_INVALID_CA, X509_V_ERR_INVALID_NON_CA, X509_V_ERR_INVALID_PURPOSE,
            X509_V_ERR_KEYUSAGE_NO_CERTSIGN, X509_V_ERR_KEYUSAGE_NO_DIGITAL_SIGNATURE,
            X509_V_ERR_PROXY_CERTIFICATES_NOT_ALLOWED:
            certificate?.hasUnreadableExtension == true ? .invalid : .wrongUsage
        case X509_V_ERR_PERMITTED_VIOLATION, X509_V_ERR_EXCLUDED_VIOLATION, X509_V_ERR_SUBTREE_MINMAX,
            X509_V_ERR_UNSUPPORTED_CONSTRAINT_TYPE, X509_V_ERR_UNSUPPORTED_CONSTRAINT_SYNTAX,
            X509_V_ERR_UNSUPPORTED_NAME_SYNTAX, X509_V_ERR_UNNESTED_RESOURCE:
            .nameConstraints
        case X509_V_ERR_PATH_LENGTH_EXCEEDED, X509_V_ERR_CERT_CHAIN_TOO_LONG, X509_V_ERR_PROXY_PATH_LENGTH_EXCEEDED:
            .pathLength
        case X509_V_ERR_UNHANDLED_CRITICAL_EXTENSION, X509_V_ERR_UNSUPPORTED_EXTENSION_FEATURE: .unknownExtension
        default: .invalid
        }
    }

    private var hasReadableKey: Bool { certificate.map { X509_get0_pubkey($0.handle) != nil } ?? true }
    private var hasKnownSignature: Bool { certificate.map { SignatureStrength($0) != .unknown } ?? true }
}
