import Bytes
import Crypto

/// A public key by its SHA-256: of the SubjectPublicKeyInfo in DER, as in RFC 7469 section 2.4. It outlives the
/// certificate that bears the key.
public struct PublicKeyPin: Sendable, Hashable {
    /// 32 bytes.
    public let digest: [UInt8]

    /// The pin of a SubjectPublicKeyInfo.
    public init(subjectPublicKeyInfo: Span<UInt8>) {
        digest = MessageDigest.digest(.sha256, of: subjectPublicKeyInfo).array
    }

    /// Reads `sha256/` and the digest in Base64. Nil for anything else.
    public init?(_ text: some StringProtocol) {
        guard text.hasPrefix(Self.prefix) else { return nil }
        guard let digest = Base64.decode(text.dropFirst(Self.prefix.count)), digest.count == 32 else { return nil }
        self.digest = digest
    }

    private static let prefix = "sha256/"
}

extension PublicKeyPin: CustomStringConvertible {
    public var description: String { Self.prefix + Base64.encode(digest) }
}
