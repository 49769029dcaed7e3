/// The hash functions of HTTP Digest (RFC 7616 section 6.1).
public enum DigestAlgorithm: Int, Sendable, Hashable, CaseIterable {
    case md5
    case sha256
    /// SHA-512/256 with its own initial values (FIPS 180-4 section 5.3.6.2), not SHA-512 cut short as the examples
    /// of RFC 7616 have it (erratum 4897).
    case sha512t256

    /// Bytes of a digest.
    public var length: Int { self == .md5 ? 16 : 32 }

    /// Bytes that are hashed at a time, to which HMAC pads its key.
    var blockLength: Int { self == .sha512t256 ? 128 : 64 }
}
