/// HMAC-SHA-256 (RFC 2104) under one key: a value that makes codes without allocating.
public struct MessageAuthenticationCode: Sendable {
    /// The digests with the padded key already in them.
    private let inner: MessageDigest
    private let outer: MessageDigest

    public init(key: Secret) {
        var padded = InlineArray<64, UInt8>(repeating: 0)
        key.withBytes { key in
            if key.count <= 64 {
                for offset in 0..<key.count { padded[offset] = key[offset] }
            } else {
                let short = MessageDigest.digest(.sha256, of: key).array
                for offset in short.indices { padded[offset] = short[offset] }
            }
        }
        inner = Self.begun(padded, 0x36)
        outer = Self.begun(padded, 0x5C)
    }

    /// Under a key that nobody knows and that lasts as long as this value: for comparing secrets without keeping them.
    public static func withRandomKey() throws(CryptoError) -> MessageAuthenticationCode {
        var key = try RandomBytes.make(32)
        return MessageAuthenticationCode(key: Secret(wiping: &key))
    }

    /// What the bytes to be authenticated are added to; `code(of:)` finishes it.
    public func begin() -> MessageDigest { inner }

    public func code(of message: consuming MessageDigest) -> DigestValue {
        let digest = message.finish()
        var code = outer
        code.update(digest)
        return code.finish()
    }

    public func code(of bytes: Span<UInt8>) -> DigestValue {
        var message = begin()
        message.update(bytes)
        return code(of: message)
    }

    private static func begun(_ key: InlineArray<64, UInt8>, _ pad: UInt8) -> MessageDigest {
        let block = InlineArray<64, UInt8> { key[$0] ^ pad }
        var digest = MessageDigest(.sha256)
        digest.update(block.span)
        return digest
    }
}
