import COpenSSL

extension Complaint {
    /// What it is about, naming the certificate.
    var words: String {
        guard let certificate else { return Self.message(code) }
        if certificate.hasUnreadableExtension, kind == .invalid { return FindingWords.unreadableExtension(certificate) }
        if let listed, kind == .revoked { return words(of: listed, certificate) }
        switch code {
        case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT: return "\(certificate) is its own issuer"
        case X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN: return "the chain ends in \(certificate), which is no anchor"
        case X509_V_ERR_CERT_UNTRUSTED, X509_V_ERR_CERT_REJECTED:
            return "the anchors do not let \(certificate) speak for servers"
        case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT, X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY,
            X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE:
            if isCutOff { return "the issuer of \(certificate) was not looked for" }
            return FindingWords.incompleteChain(certificate)
        case X509_V_ERR_CERT_HAS_EXPIRED: return "\(certificate) ended on \(CertificateTime.date(certificate.notAfter))"
        case X509_V_ERR_CERT_NOT_YET_VALID:
            return "\(certificate) begins on \(CertificateTime.date(certificate.notBefore))"
        case X509_V_ERR_EE_KEY_TOO_SMALL, X509_V_ERR_CA_KEY_TOO_SMALL:
            return kind == .weakKey ? FindingWords.weakKey(certificate) : "the key of \(certificate) cannot be read"
        case X509_V_ERR_CA_MD_TOO_WEAK: return FindingWords.weakSignature(certificate)
        case X509_V_ERR_INVALID_CA: return "\(certificate) is no authority"
        case X509_V_ERR_INVALID_PURPOSE:
            return "\(certificate) is not for \(depth == 0 ? "servers" : "issuing certificates of servers")"
        case X509_V_ERR_KEYUSAGE_NO_CERTSIGN: return "the key usage of \(certificate) does not let it sign certificates"
        case X509_V_ERR_PERMITTED_VIOLATION: return "an authority does not permit the names of \(certificate)"
        case X509_V_ERR_EXCLUDED_VIOLATION: return "an authority excludes a name of \(certificate)"
        case X509_V_ERR_PATH_LENGTH_EXCEEDED:
            let allowed = X509_get_pathlen(certificate.handle)
            return "\(certificate) allows \(allowed) authorities below it, and there are more"
        case X509_V_ERR_CERT_CHAIN_TOO_LONG: return "more than \(TrustAnchors.depth) authorities"
        case X509_V_ERR_UNHANDLED_CRITICAL_EXTENSION:
            let numbers = certificate.unknownCriticalExtensions.prefix(5).joined(separator: ", ")
            return "\(certificate) has a critical extension that is not known: \(numbers)"
        case X509_V_ERR_CERT_SIGNATURE_FAILURE: return "the signature of \(certificate) does not fit"
        case X509_V_ERR_UNSPECIFIED where X509_get0_pubkey(certificate.handle) == nil:
            return "the key of \(certificate) cannot be read"
        default: return breach(by: certificate)
        }
    }

    /// What the strict checks of OpenSSL meet most, with the rule that is broken.
    private func breach(by certificate: Certificate) -> String {
        switch code {
        case X509_V_ERR_MISSING_AUTHORITY_KEY_IDENTIFIER:
            "\(certificate) does not identify its issuer's key (RFC 5280 section 4.2.1.1)"
        case X509_V_ERR_MISSING_SUBJECT_KEY_IDENTIFIER:
            "\(certificate) does not identify its key (RFC 5280 section 4.2.1.2)"
        case X509_V_ERR_CA_CERT_MISSING_KEY_USAGE: "\(certificate) has no key usage (RFC 5280 section 4.2.1.3)"
        case X509_V_ERR_KU_KEY_CERT_SIGN_INVALID_FOR_NON_CA:
            "\(certificate) may sign certificates but is no authority (RFC 5280 section 4.2.1.3)"
        case X509_V_ERR_CA_BCONS_NOT_CRITICAL:
            "the basic constraints of \(certificate) are not critical (RFC 5280 section 4.2.1.9)"
        case X509_V_ERR_EMPTY_SUBJECT_SAN_NOT_CRITICAL:
            "\(certificate) has no subject, and its alternative names are not critical (RFC 5280 section 4.2.1.6)"
        default: "\(certificate): \(Self.message(code))"
        }
    }

    private func words(of listed: ListedRevocation, _ certificate: Certificate) -> String {
        switch code {
        case X509_V_ERR_CERT_REVOKED: return FindingWords.revoked(certificate, listed.date, listed.reason)
        case X509_V_ERR_CRL_HAS_EXPIRED:
            let date = listed.nextUpdate.map { " on \(CertificateTime.date($0))" } ?? ""
            return "\(certificate) may be revoked: the list of \(listed.issuer) ended\(date)"
        default:
            return "\(certificate) may be revoked, the list of \(listed.issuer) is not usable: \(Self.message(code))"
        }
    }

    private static func message(_ code: Int32) -> String {
        let message = X509_verify_cert_error_string(Int(code)).map { String(cString: $0) } ?? "error \(code)"
        return message.prefix(1).lowercased() + message.dropFirst()
    }
}
