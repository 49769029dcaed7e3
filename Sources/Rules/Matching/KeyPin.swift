import Bytes

/// A pinned key: the SHA-256 of a certificate's SubjectPublicKeyInfo (RFC 7469 section 2.4), written `sha256/BASE64`.
public struct KeyPin: Hashable, Sendable, CustomStringConvertible {
    /// 32 bytes.
    public let digest: [UInt8]

    /// Nil unless it is `sha256/` and the Base64 of 32 bytes: 44 characters, the last of them `=`.
    public init?(_ text: String) {
        guard text.hasPrefix(Self.prefix), let digest = Base64.decode(text.dropFirst(Self.prefix.count)),
            digest.count == 32
        else { return nil }
        self.digest = digest
    }

    public var description: String { Self.prefix + Base64.encode(digest) }

    static let prefix = "sha256/"
}
