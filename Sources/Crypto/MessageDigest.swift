import COpenSSL

/// A digest in the making, as a value on the stack.
///
/// OpenSSL 3's EVP interface allocates with every digest; its low-level functions work on plain structures. That is
/// what makes an answer to a Digest challenge free of allocations, and a begun digest worth keeping.
public struct MessageDigest: Sendable {
    private let algorithm: DigestAlgorithm
    /// The room of the largest structure, in which the algorithm's own stands.
    private var state = SHA512_CTX()

    public init(_ algorithm: DigestAlgorithm) {
        self.algorithm = algorithm
        switch algorithm {
        case .md5: with(MD5_CTX.self) { MD5_Init($0) }
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

    /// The text's UTF-8.
    public mutating func update(utf8 text: String) {
        update(text.utf8Span.span)
    }

    public mutating func update(_ digest: DigestValue) {
        update(digest.storage.span.extracting(first: digest.count))
    }

    public mutating func update(_ text: StaticString) {
        update(UnsafeRawBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }

    private mutating func update(_ bytes: UnsafeRawBufferPointer) {
        guard let start = bytes.baseAddress, !bytes.isEmpty else { return }
        switch algorithm {
        case .md5: with(MD5_CTX.self) { MD5_Update($0, start, bytes.count) }
        case .sha256: with(SHA256_CTX.self) { SHA256_Update($0, start, bytes.count) }
        case .sha512t256: SHA512_Update(&state, start, bytes.count)
        }
    }

    /// The digest of everything so far. The value may be copied before and each copy finished on its own.
    public consuming func finish() -> DigestValue {
        var storage = InlineArray<32, UInt8>(repeating: 0)
        var bytes = storage.mutableSpan
        _ = bytes.withUnsafeMutableBufferPointer { out in
            switch algorithm {
            case .md5: with(MD5_CTX.self) { MD5_Final(out.baseAddress, $0) }
            case .sha256: with(SHA256_CTX.self) { SHA256_Final(out.baseAddress, $0) }
            case .sha512t256: SHA512_Final(out.baseAddress, &state)
            }
        }
        return DigestValue(storage: storage, count: algorithm.length)
    }

    public static func digest(_ algorithm: DigestAlgorithm, of bytes: Span<UInt8>) -> DigestValue {
        var digest = MessageDigest(algorithm)
        digest.update(bytes)
        return digest.finish()
    }

    /// FIPS 180-4 section 5.3.6.2.
    private static var initialValues: (UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64) {
        (
            0x2231_2194_FC2B_F72C, 0x9F55_5FA3_C84C_64C2, 0x2393_B86B_6F53_B151, 0x9638_7719_5940_EABD,
            0x9628_3EE2_A88E_FFE3, 0xBE5E_1E25_5386_3992, 0x2B01_99FC_2C85_B8AA, 0x0EB7_2DDC_81C5_2CA2
        )
    }
}
