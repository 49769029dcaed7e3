import Bytes
import COpenSSL
import Model

/// A problem that OpenSSL's path validation reports.
struct Complaint {
    /// An `X509_V_ERR_…`
    let code: Int32
    /// The position of the certificate in the path; 0 is the server's own.
    let depth: Int
    let certificate: Certificate?
    /// Set if the problem concerns a revocation list.
    var listed: RevocationLists.Entry?
    /// Whether the list cannot be checked because the CA that signed it is missing.
    var lacksListIssuer = false
    /// Whether no issuer was searched because the path is already too long.
    var isCutOff = false

    /// Whether a list names the certificate, or the list is invalid.
    var isOfList: Bool {
        [
            X509_V_ERR_CERT_REVOKED, X509_V_ERR_UNABLE_TO_DECRYPT_CRL_SIGNATURE, X509_V_ERR_CRL_SIGNATURE_FAILURE,
            X509_V_ERR_CRL_NOT_YET_VALID, X509_V_ERR_CRL_HAS_EXPIRED, X509_V_ERR_ERROR_IN_CRL_LAST_UPDATE_FIELD,
            X509_V_ERR_ERROR_IN_CRL_NEXT_UPDATE_FIELD, X509_V_ERR_KEYUSAGE_NO_CRL_SIGN,
            X509_V_ERR_UNHANDLED_CRITICAL_CRL_EXTENSION, X509_V_ERR_CRL_PATH_VALIDATION_ERROR,
        ].contains(code)
    }

    /// Whether no list covers the certificate. That is not a problem: the certificate counts as not revoked.
    var isUnlisted: Bool {
        lacksListIssuer
            || [X509_V_ERR_UNABLE_TO_GET_CRL, X509_V_ERR_DIFFERENT_CRL_SCOPE, X509_V_ERR_UNABLE_TO_GET_CRL_ISSUER]
                .contains(code)
    }

    /// Whether an unusable list leaves it uncertain if the certificate is revoked.
    var isDoubt: Bool { kind == .revoked && code != X509_V_ERR_CERT_REVOKED }

    /// Whether the problem is that the path ends in no root.
    var deniesAnchor: Bool {
        [.selfSigned, .unknownIssuer, .incompleteChain].contains(kind)
    }

    /// The kind of problem; nil if the only complaint is that no list covers the certificate. Errors that are not
    /// listed here are `invalid`, so that everything OpenSSL refuses is a problem.
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

    /// Whether only the strict checks report the problem, and it concerns the form of the certificate (RFC 5280 section
    /// 4) and not its permissions. A CA whose basic constraints or key usage forbid issuing is refused without the
    /// strict checks too. Explicit curves are not a matter of form.
    var isOfForm: Bool {
        switch code {
        case X509_V_ERR_CA_BCONS_NOT_CRITICAL, X509_V_ERR_CA_CERT_MISSING_KEY_USAGE,
            X509_V_ERR_PATHLEN_WITHOUT_KU_KEY_CERT_SIGN, X509_V_ERR_KU_KEY_CERT_SIGN_INVALID_FOR_NON_CA,
            X509_V_ERR_MISSING_SUBJECT_KEY_IDENTIFIER, X509_V_ERR_SUBJECT_KEY_IDENTIFIER_CRITICAL,
            X509_V_ERR_AUTHORITY_KEY_IDENTIFIER_CRITICAL, X509_V_ERR_EMPTY_SUBJECT_ALT_NAME,
            X509_V_ERR_EMPTY_SUBJECT_SAN_NOT_CRITICAL, X509_V_ERR_SIGNATURE_ALGORITHM_INCONSISTENCY,
            X509_V_ERR_EXTENSIONS_REQUIRE_VERSION_3:
            true
        // A certificate of version 1, or from before basic constraints.
        case X509_V_ERR_INVALID_CA: certificate.map { X509_check_ca($0.handle) > 1 } ?? false
        case X509_V_ERR_INVALID_PURPOSE:
            certificate.map { X509_check_purpose($0.handle, X509_PURPOSE_SSL_SERVER, 1) > 1 } ?? false
        default: false
        }
    }

    /// The problem in words, to follow the certificate's name.
    var words: String {
        guard let certificate else { return Self.message(code) }
        if certificate.hasUnreadableExtension, kind == .invalid {
            return Complaint.FindingWords.unreadableExtension(certificate)
        }
        if let listed, kind == .revoked { return words(of: listed, certificate) }
        switch code {
        case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT: return "\(certificate) is its own issuer"
        case X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN: return "the chain ends in \(certificate), which is not a known root"
        case X509_V_ERR_CERT_UNTRUSTED, X509_V_ERR_CERT_REJECTED:
            return "the known roots do not allow \(certificate) for servers"
        case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT, X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY,
            X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE:
            if isCutOff { return "the issuer of \(certificate) was not looked for" }
            return Complaint.FindingWords.incompleteChain(certificate)
        case X509_V_ERR_CERT_HAS_EXPIRED:
            return "\(certificate) expired on \(Certificate.Time.date(certificate.notAfter))"
        case X509_V_ERR_CERT_NOT_YET_VALID:
            return "\(certificate) is valid from \(Certificate.Time.date(certificate.notBefore)) on"
        case X509_V_ERR_EE_KEY_TOO_SMALL, X509_V_ERR_CA_KEY_TOO_SMALL:
            return kind == .weakKey
                ? Complaint.FindingWords.weakKey(certificate) : "the key of \(certificate) cannot be read"
        case X509_V_ERR_CA_MD_TOO_WEAK: return Complaint.FindingWords.weakSignature(certificate)
        case X509_V_ERR_INVALID_CA: return "\(certificate) is not a CA"
        case X509_V_ERR_INVALID_PURPOSE:
            return "\(certificate) is not for \(depth == 0 ? "servers" : "issuing certificates of servers")"
        case X509_V_ERR_KEYUSAGE_NO_CERTSIGN:
            return "the key usage of \(certificate) does not allow it to sign certificates"
        case X509_V_ERR_PERMITTED_VIOLATION: return "a CA does not permit the names of \(certificate)"
        case X509_V_ERR_EXCLUDED_VIOLATION: return "a CA excludes a name of \(certificate)"
        case X509_V_ERR_PATH_LENGTH_EXCEEDED:
            let allowed = X509_get_pathlen(certificate.handle)
            return "\(certificate) allows \(allowed) CAs below it, and there are more"
        case X509_V_ERR_CERT_CHAIN_TOO_LONG: return "more than \(TrustAnchors.depth) CAs"
        case X509_V_ERR_UNHANDLED_CRITICAL_EXTENSION:
            let numbers = certificate.unknownCriticalExtensions.prefix(5).joined(separator: ", ")
            return "\(certificate) has an unknown critical extension: \(numbers)"
        case X509_V_ERR_CERT_SIGNATURE_FAILURE: return "the signature of \(certificate) is wrong"
        case X509_V_ERR_UNSPECIFIED where X509_get0_pubkey(certificate.handle) == nil:
            return "the key of \(certificate) cannot be read"
        default: return breach(by: certificate)
        }
    }

    /// The most common problems of OpenSSL's strict checks, with the rule that is broken.
    private func breach(by certificate: Certificate) -> String {
        switch code {
        case X509_V_ERR_MISSING_AUTHORITY_KEY_IDENTIFIER:
            "\(certificate) does not identify its issuer's key (RFC 5280 section 4.2.1.1)"
        case X509_V_ERR_MISSING_SUBJECT_KEY_IDENTIFIER:
            "\(certificate) does not identify its key (RFC 5280 section 4.2.1.2)"
        case X509_V_ERR_CA_CERT_MISSING_KEY_USAGE: "\(certificate) has no key usage (RFC 5280 section 4.2.1.3)"
        case X509_V_ERR_KU_KEY_CERT_SIGN_INVALID_FOR_NON_CA:
            "\(certificate) may sign certificates but is not a CA (RFC 5280 section 4.2.1.3)"
        case X509_V_ERR_CA_BCONS_NOT_CRITICAL:
            "the basic constraints of \(certificate) are not critical (RFC 5280 section 4.2.1.9)"
        case X509_V_ERR_EMPTY_SUBJECT_SAN_NOT_CRITICAL:
            "\(certificate) has no subject, and its alternative names are not critical (RFC 5280 section 4.2.1.6)"
        default: "\(certificate): \(Self.message(code))"
        }
    }

    private func words(of listed: RevocationLists.Entry, _ certificate: Certificate) -> String {
        switch code {
        case X509_V_ERR_CERT_REVOKED: return Complaint.FindingWords.revoked(certificate, listed.date, listed.reason)
        case X509_V_ERR_CRL_HAS_EXPIRED:
            let date = listed.nextUpdate.map { " on \(Certificate.Time.date($0))" } ?? ""
            return "\(certificate) may be revoked: the list of \(listed.issuer) expired\(date)"
        default:
            return "\(certificate) may be revoked, the list of \(listed.issuer) is not usable: \(Self.message(code))"
        }
    }

    private static func message(_ code: Int32) -> String {
        let message = X509_verify_cert_error_string(Int(code)).map { String(cString: $0) } ?? "error \(code)"
        return message.prefix(1).lowercased() + message.dropFirst()
    }

    /// Problems in words, each with the name of its certificate.
    enum FindingWords {
        static func wrongName(_ name: ServerName, _ leaf: Certificate) -> String {
            let names = leaf.subjectAlternativeNames
            guard !names.isEmpty else { return "\(leaf) has no alternative names, and its common name is not used" }
            let shown = names.prefix(5).map(words).joined(separator: ", ")
            let more = names.count > 5 ? " and \(names.count - 5) more" : ""
            return "\(leaf) is for \(VisibleText.shortened(shown))\(more), not for \(words(name))"
        }

        /// A dNSName that looks like an address is not one (RFC 9525 section 6.2), and must not read like one.
        private static func words(_ name: SubjectAlternativeName) -> String {
            if case .dns(let host) = name, IPAddress(host) != nil { return "the host name \"\(host)\"" }
            return "\(name)"
        }

        private static func words(_ name: ServerName) -> String {
            if case .address(let address) = name { return "the address \(address)" }
            return "\(name)"
        }

        static func incompleteChain(_ certificate: Certificate) -> String {
            let issuer = VisibleText.shortened(DistinguishedName.text(of: X509_get_issuer_name(certificate.handle)))
            return "the issuer of \(certificate) is neither a known root nor among the server's certificates"
                + (issuer.isEmpty ? "" : ": \(issuer)")
        }

        static func weakKey(_ certificate: Certificate) -> String {
            "the key of \(certificate) is weak: \(certificate.keyDescription)"
        }

        static func weakSignature(_ certificate: Certificate) -> String {
            "\(certificate) is signed with \(certificate.signatureAlgorithm)"
        }

        static func unreadableExtension(_ certificate: Certificate) -> String {
            "\(certificate) has an extension that cannot be read or is there twice"
        }

        static func revoked(_ certificate: Certificate, _ date: WallTime?, _ reason: String?) -> String {
            let when = date.map { " on \(Certificate.Time.date($0))" } ?? ""
            return "\(certificate) was revoked\(when)" + (reason.map { ": \($0)" } ?? "")
        }
    }
}
