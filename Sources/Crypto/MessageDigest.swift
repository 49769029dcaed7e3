import Bytes
import COpenSSL

/// A digest in progress, as a value on the stack.
///
/// OpenSSL 3's EVP interface allocates for every digest; its low-level functions work on plain structures. So an answer
/// to a Digest challenge needs no allocations, and a begun digest can be stored.
public struct MessageDigest: Sendable {
    private let algorithm: DigestAlgorithm
    /// The largest structure, whose memory every algorithm uses.
    private var state = SHA512_CTX()

    public init(_ algorithm: DigestAlgorithm) {
        self.algorithm = algorithm
        switch algorithm {
        case .md5: with(MD5_CTX.self) { MD5_Init($0) }
        case .sha1: with(SHA_CTX.self) { SHA1_Init($0) }
        case .sha256: with(SHA256_CTX.self) { SHA256_Init($0) }
        case .sha512t256:
            SHA512_Init(&state)
            state.h = Self.initialValues
            state.md_len = UInt32(SHA256_DIGEST_LENGTH)
        }
    }

    @discardableResult
    private mutating func with<Context>(
        _ context: Context.Type, _ body: (UnsafeMutablePointer<Context>) -> Int32
    ) -> Int32 {
        withUnsafeMutablePointer(to: &state) { body(UnsafeMutableRawPointer($0).assumingMemoryBound(to: context)) }
    }

    public mutating func update(_ bytes: Span<UInt8>) {
        bytes.withUnsafeBufferPointer { update(UnsafeRawBufferPointer($0)) }
    }

    public mutating func update(_ bytes: [UInt8]) {
        bytes.withUnsafeBytes { update($0) }
    }

    /// Adds the UTF-8 of the text.
    public mutating func update(utf8 text: String) {
        update(text.utf8Span.span)
    }

    public mutating func update(_ digest: Value) {
        update(digest.storage.span.extracting(first: digest.count))
    }

    public mutating func update(_ text: StaticString) {
        update(UnsafeRawBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }

    private mutating func update(_ bytes: UnsafeRawBufferPointer) {
        guard let start = bytes.baseAddress, !bytes.isEmpty else { return }
        switch algorithm {
        case .md5: with(MD5_CTX.self) { MD5_Update($0, start, bytes.count) }
        case .sha1: with(SHA_CTX.self) { SHA1_Update($0, start, bytes.count) }
        case .sha256: with(SHA256_CTX.self) { SHA256_Update($0, start, bytes.count) }
        case .sha512t256: SHA512_Update(&state, start, bytes.count)
        }
    }

    /// The digest of everything so far.
    public consuming func finish() -> Value {
        let algorithm = algorithm
        var digest = self
        var storage = InlineArray<32, UInt8>(repeating: 0)
        var bytes = storage.mutableSpan
        _ = bytes.withUnsafeMutableBufferPointer { out in
            switch algorithm {
            case .md5: digest.with(MD5_CTX.self) { MD5_Final(out.baseAddress, $0) }
            case .sha1: digest.with(SHA_CTX.self) { SHA1_Final(out.baseAddress, $0) }
            case .sha256: digest.with(SHA256_CTX.self) { SHA256_Final(out.baseAddress, $0) }
            case .sha512t256: SHA512_Final(out.baseAddress, &digest.state)
            }
        }
        return Value(storage: storage, count: algorithm.length)
    }

    /// The state of the digest, for `init(resuming:)`. If a secret was hashed, the state is equivalent to that secret.
    public func suspended() -> Secret {
        withUnsafeBytes(of: self) { Secret($0.bindMemory(to: UInt8.self).span) }
    }

    /// Continues a suspended digest. The bytes of a secret are aligned by `malloc`.
    public init(resuming suspended: Secret) {
        self = suspended.withBytes { bytes in bytes.withUnsafeBytes { $0.load(as: Self.self) } }
    }

    public static func digest(_ algorithm: DigestAlgorithm, of bytes: Span<UInt8>) -> Value {
        var digest = MessageDigest(algorithm)
        digest.update(bytes)
        return digest.finish()
    }

    /// The initial values of FIPS 180-4 section 5.3.6.2.
    private static var initialValues: (UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64) {
        (
            0x2231_2194_FC2B_F72C, 0x9F55_5FA3_C84C_64C2, 0x2393_B86B_6F53_B151, 0x9638_7719_5940_EABD,
            0x9628_3EE2_A88E_FFE3, 0xBE5E_1E25_5386_3992, 0x2B01_99FC_2C85_B8AA, 0x0EB7_2DDC_81C5_2CA2
        )
    }
}

/// The hash functions of HTTP Digest (RFC 7616 section 6.1), and SHA-1 for the signatures of RFC 5849.
public enum DigestAlgorithm: Int, Sendable, Hashable, CaseIterable {
    case md5
    case sha1
    case sha256
    /// SHA-512/256 with its own initial values (FIPS 180-4 section 5.3.6.2), not a truncated SHA-512 as in the examples
    /// of RFC 7616 (erratum 4897).
    case sha512t256

    /// The length of a digest in bytes.
    public var length: Int {
        switch self {
        case .md5: 16
        case .sha1: 20
        case .sha256, .sha512t256: 32
        }
    }

    /// The block size in bytes, to which HMAC pads its key.
    var blockLength: Int { self == .sha512t256 ? 128 : 64 }
}

extension MessageDigest {
    /// A finished digest: a value without an allocation, up to 32 bytes long.
    public struct Value: Sendable {
        var storage: InlineArray<32, UInt8>
        public let count: Int

        init(storage: InlineArray<32, UInt8>, count: Int) {
            self.storage = storage
            self.count = count
        }

        /// Takes a digest from elsewhere; nil for more than 32 bytes.
        public init?(_ bytes: [UInt8]) {
            guard bytes.count <= 32 else { return nil }
            self.init(storage: InlineArray { $0 < bytes.count ? bytes[$0] : 0 }, count: bytes.count)
        }

        public var array: [UInt8] { storage.span.extracting(first: count).array }

        /// The first 128 bits as a number: enough to distinguish secrets by their codes.
        public var prefix128: UInt128 {
            var number: UInt128 = 0
            for offset in 0..<16 { number = number << 8 | UInt128(storage[offset]) }
            return number
        }

        /// Lends the digest as lower-case hexadecimal text.
        public func withHexadecimal<Result, Failure: Error>(
            _ body: (Span<UInt8>) throws(Failure) -> Result
        ) throws(Failure) -> Result {
            var text = InlineArray<64, UInt8>(repeating: 0)
            var bytes = text.mutableSpan
            storage.span.withUnsafeBufferPointer { digest in
                bytes.withUnsafeMutableBufferPointer { text in
                    for offset in 0..<count {
                        text[offset &* 2] = Self.digit(digest[offset] &>> 4)
                        text[offset &* 2 &+ 1] = Self.digit(digest[offset] & 0xF)
                    }
                }
            }
            return try body(text.span.extracting(first: count * 2))
        }

        /// Converts a digit without a branch, so that the loop becomes vector instructions: every answer contains two
        /// digests.
        private static func digit(_ value: UInt8) -> UInt8 { 0x30 &+ value &+ (value > 9 ? 0x27 : 0) }
    }
}
