import COpenSSL
import Crypto

/// Whom we are to a peer: a certificate, those that lead from it towards a root, and the private key.
public final class Identity: Sendable {
    public let leaf: Certificate
    /// What is sent after the leaf: its issuer first, without the root.
    public let intermediates: [Certificate]
    public let key: PrivateKey
    /// Half of a SHA-256 over all certificates: another chain has another one. The key needs no part in it, since a
    /// certificate has only one.
    public let fingerprint: UInt128

    /// - Parameter certificates: in any order; the leaf is the first one that the key belongs to.
    public convenience init(_ certificates: [Certificate], key: PrivateKey) throws(IdentityError) {
        guard !certificates.isEmpty else { throw .noCertificate }
        guard let leaf = certificates.first(where: { $0.belongs(to: key) }) else { throw .keyMismatch }
        self.init(leaf: leaf, intermediates: CertificateOrder.issuers(of: leaf, among: certificates), key: key)
    }

    /// What is known to belong together.
    init(leaf: Certificate, intermediates: [Certificate], key: PrivateKey) {
        self.leaf = leaf
        self.intermediates = intermediates
        self.key = key
        var digest = MessageDigest(.sha256)
        for certificate in [leaf] + intermediates { digest.update(certificate.der) }
        fingerprint = digest.finish().prefix128
    }

    /// Reads what a rule file or a command line names.
    ///
    /// - Parameters:
    ///   - certificate: PEM with the certificate and those above it, or PKCS#12, told apart by their first byte.
    ///   - key: where the key is; nil when it is in the same place.
    ///   - passphrase: of the key, of the PKCS#12 file or, as PIN, of the token.
    public convenience init(
        certificate: IdentityMaterial, key: IdentityMaterial? = nil, passphrase: Secret? = nil
    ) throws(IdentityError) {
        let first = try IdentityContents(certificate, passphrase: passphrase, wantsKey: key == nil)
        guard !first.certificates.isEmpty else { throw .noCertificate }
        let second = try key.map { key throws(IdentityError) in
            try IdentityContents(key, passphrase: passphrase, wantsKey: true)
        }
        guard let key = second?.key ?? first.key else { throw .noKey }
        try self.init(first.certificates + (second?.certificates ?? []), key: key)
    }
}

extension Certificate {
    fileprivate func belongs(to key: PrivateKey) -> Bool {
        ERR_clear_error()
        defer { ERR_clear_error() }
        return X509_check_private_key(handle, key.handle) == 1
    }
}
