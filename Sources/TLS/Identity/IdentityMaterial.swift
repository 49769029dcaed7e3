import Crypto

/// Where a certificate or a private key comes from.
public enum IdentityMaterial: Sendable {
    /// What stands in a file: PEM or PKCS#12.
    case content(Secret)
    /// An object in a token, as a URI of RFC 7512.
    case token(uri: String)

    /// More than any chain, less than what a mistaken path could bring.
    public static let limit = 1024 * 1024
}
