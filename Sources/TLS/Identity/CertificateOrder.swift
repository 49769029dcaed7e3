import COpenSSL

/// Brings certificates that came in any order into the one that TLS wants: each certifies the one before it (RFC 8446
/// section 4.4.2).
enum CertificateOrder {
    /// The leaf's issuer, that one's issuer and so on, without the root, which the peer has or does not believe. What
    /// is not on that path follows it: it may be what leads to another root.
    static func issuers(of leaf: Certificate, among certificates: [Certificate]) -> [Certificate] {
        var rest = certificates.filter { $0.der != leaf.der && !$0.isItsOwnIssuer }
        var path: [Certificate] = []
        var last = leaf
        while let next = rest.firstIndex(where: { $0.certifies(last) }) {
            last = rest.remove(at: next)
            path.append(last)
        }
        return path + rest
    }
}

extension Certificate {
    fileprivate func certifies(_ other: Certificate) -> Bool { X509_check_issued(handle, other.handle) == X509_V_OK }

    var isItsOwnIssuer: Bool {
        ERR_clear_error()
        defer { ERR_clear_error() }
        return X509_self_signed(handle, 0) == 1
    }
}
