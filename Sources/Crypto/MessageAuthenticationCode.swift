import COpenSSL

/// HMAC (RFC 2104) with one key: a value that makes codes without allocating.
public struct MessageAuthenticationCode: Sendable {
    /// The digests to which the padded key was already added.
    private let inner: MessageDigest
    private let outer: MessageDigest

    public init(_ algorithm: DigestAlgorithm = .sha256, key: Secret) {
        self = key.withBytes { MessageAuthenticationCode(algorithm, key: $0) }
    }

    /// Takes a key that is itself a code or a digest.
    public init(_ algorithm: DigestAlgorithm = .sha256, key: MessageDigest.Value) {
        self.init(algorithm, key: key.storage.span.extracting(first: key.count))
    }

    public init(_ algorithm: DigestAlgorithm = .sha256, key: Span<UInt8>) {
        var padded = InlineArray<128, UInt8>(repeating: 0)
        if key.count <= algorithm.blockLength {
            for offset in 0..<key.count { padded[offset] = key[offset] }
        } else {
            let short = MessageDigest.digest(algorithm, of: key)
            for offset in 0..<short.count { padded[offset] = short.storage[offset] }
        }
        inner = Self.begun(algorithm, padded, 0x36)
        outer = Self.begun(algorithm, padded, 0x5C)
    }

    /// Creates a random key that lasts as long as this value: to compare secrets without keeping them.
    public static func withRandomKey() throws(CryptoError) -> MessageAuthenticationCode {
        var key = try RandomBytes.make(32)
        return MessageAuthenticationCode(key: Secret(wiping: &key))
    }

    /// The state to which bytes are added; `code(of:)` finishes it.
    public func begin() -> MessageDigest { inner }

    public func code(of message: consuming MessageDigest) -> MessageDigest.Value {
        let digest = message.finish()
        var code = outer
        code.update(digest)
        return code.finish()
    }

    public func code(of bytes: Span<UInt8>) -> MessageDigest.Value {
        var message = begin()
        message.update(bytes)
        return code(of: message)
    }

    private static func begun(
        _ algorithm: DigestAlgorithm, _ key: InlineArray<128, UInt8>, _ pad: UInt8
    ) -> MessageDigest {
        let block = InlineArray<128, UInt8> { key[$0] ^ pad }
        var digest = MessageDigest(algorithm)
        digest.update(block.span.extracting(first: algorithm.blockLength))
        return digest
    }
}

public enum RandomBytes {
    /// Makes `count` unpredictable bytes.
    public static func make(_ count: Int) throws(CryptoError) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        let made = bytes.withUnsafeMutableBufferPointer { RAND_bytes($0.baseAddress, Int32($0.count)) }
        guard made == 1 else {
            ERR_clear_error()
            throw .noRandomness
        }
        return bytes
    }
}
