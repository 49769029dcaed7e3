/// Where a certificate with its private key comes from. Files are read again when they change.
public enum IdentitySource: Sendable, Equatable {
    /// PEM files: the certificate and its issuers, and the key.
    case pem(certificate: String, key: String, passphrase: ValueSource?)
    /// A PKCS#12 file with all of them.
    case pkcs12(String, passphrase: ValueSource?)
    /// A PKCS#11 URI (RFC 7512) without a PIN; the PIN is the passphrase.
    case pkcs11(String, passphrase: ValueSource?)
}
