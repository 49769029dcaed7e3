import Bytes

/// The digest of a public key, which stays equal when the certificate is renewed: the SHA-256 of a certificate's
/// SubjectPublicKeyInfo (RFC 7469 section 2.4), written `sha256/BASE64`.
public struct KeyPin: Hashable, Sendable, CustomStringConvertible {
    /// The digest, 32 bytes.
    public let digest: [UInt8]

    /// - Parameter digest: 32 bytes.
    public init(digest: [UInt8]) {
        self.digest = digest
    }

    /// Nil unless it is `sha256/` and the Base64 of 32 bytes: 44 characters, the last of them `=`.
    public init?(_ text: some StringProtocol) {
        guard text.hasPrefix(Self.prefix), let digest = Base64.decode(text.dropFirst(Self.prefix.count)),
            digest.count == 32
        else { return nil }
        self.digest = digest
    }

    public var description: String { Self.prefix + Base64.encode(digest) }

    public static let prefix = "sha256/"
}
