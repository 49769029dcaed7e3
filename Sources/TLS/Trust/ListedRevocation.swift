import COpenSSL

/// What a revocation list said when OpenSSL complained.
struct ListedRevocation {
    let issuer: String
    let nextUpdate: Int?
    /// When the certificate was revoked, if the list names it.
    private(set) var date: Int?
    private(set) var reason: String?

    init(in list: OpaquePointer, of certificate: Certificate?) {
        issuer = VisibleText.shortened(DistinguishedName.text(of: X509_CRL_get_issuer(list)))
        nextUpdate = CertificateTime.seconds(X509_CRL_get0_nextUpdate(list))
        var entry: OpaquePointer?
        guard let certificate, X509_CRL_get0_by_cert(list, &entry, certificate.handle) > 0, let entry else { return }
        date = CertificateTime.seconds(X509_REVOKED_get0_revocationDate(entry))
        guard let code = X509_REVOKED_get_ext_d2i(entry, NID_crl_reason, nil, nil) else { return }
        defer { ASN1_ENUMERATED_free(code.assumingMemoryBound(to: ASN1_ENUMERATED.self)) }
        reason = RevocationReason.words(ASN1_ENUMERATED_get(code.assumingMemoryBound(to: ASN1_ENUMERATED.self)))
    }
}
