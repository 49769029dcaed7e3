/// Why a certificate and a key are no identity. Each is a sentence that reads well after the name of the credential
/// and the file; none shows anything of the key.
public enum IdentityError: Error, Sendable, Hashable, CustomStringConvertible {
    /// What was to be the certificate is neither PEM nor PKCS#12, or is damaged.
    case noCertificate
    /// The certificate with this number, from 1.
    case damagedCertificate(Int)
    case noKey
    /// The file has what looks like a key, and OpenSSL cannot read it.
    case unreadableKey
    case keyMismatch
    case passphraseMissing
    case wrongPassphrase
    /// An algorithm that only OpenSSL's legacy provider has, and it is not installed.
    case legacyProviderMissing
    case tooLarge(limit: Int)
    case noTokenProvider
    case unreadableToken
    /// Nothing that a peer or a file did.
    case outOfMemory

    public var description: String {
        switch self {
        case .noCertificate: "there is no certificate in it that can be read"
        case .damagedCertificate(let number): "certificate \(number) in it is damaged"
        case .noKey: "there is no private key, neither with the certificate nor in a file of its own"
        case .unreadableKey: "the private key cannot be read: it is damaged, or of a kind that OpenSSL does not know"
        case .keyMismatch: "the private key does not belong to the certificate"
        case .passphraseMissing: "the private key is encrypted, and no passphrase is given"
        case .wrongPassphrase: "the passphrase does not open the private key"
        case .legacyProviderMissing:
            "it is encrypted with an old algorithm, for which OpenSSL's legacy provider is needed and not installed: "
                + "install it, or encrypt the key anew"
        case .tooLarge(let limit): "it is larger than \(limit) bytes"
        case .noTokenProvider: "a pkcs11: URI needs OpenSSL's provider pkcs11, which cannot be loaded"
        case .unreadableToken: "the token has no such object, or does not give it away with this PIN"
        case .outOfMemory: "OpenSSL has no memory left"
        }
    }
}
