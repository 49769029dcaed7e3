import COpenSSL

extension Complaint {
    /// Whether it comes from the strict checks alone and says how a certificate is written (RFC 5280 section 4), not
    /// what it may do: an authority that says of itself that it is none, or whose key usage forbids to issue, is refused
    /// without them as well. Explicit curves are no matter of form.
    var isOfForm: Bool {
        switch code {
        case X509_V_ERR_CA_BCONS_NOT_CRITICAL, X509_V_ERR_CA_CERT_MISSING_KEY_USAGE,
            X509_V_ERR_PATHLEN_WITHOUT_KU_KEY_CERT_SIGN, X509_V_ERR_KU_KEY_CERT_SIGN_INVALID_FOR_NON_CA,
            X509_V_ERR_MISSING_SUBJECT_KEY_IDENTIFIER, X509_V_ERR_SUBJECT_KEY_IDENTIFIER_CRITICAL,
            X509_V_ERR_AUTHORITY_KEY_IDENTIFIER_CRITICAL, X509_V_ERR_EMPTY_SUBJECT_ALT_NAME,
            X509_V_ERR_EMPTY_SUBJECT_SAN_NOT_CRITICAL, X509_V_ERR_SIGNATURE_ALGORITHM_INCONSISTENCY,
            X509_V_ERR_EXTENSIONS_REQUIRE_VERSION_3:
            true
        // Of version 1, or from before basic constraints.
        case X509_V_ERR_INVALID_CA: certificate.map { X509_check_ca($0.handle) > 1 } ?? false
        case X509_V_ERR_INVALID_PURPOSE:
            certificate.map { X509_check_purpose($0.handle, X509_PURPOSE_SSL_SERVER, 1) > 1 } ?? false
        default: false
        }
    }
}
