import COpenSSL

/// HMAC-SHA-256 (RFC 2104) under one key.
public struct MessageAuthenticationCode: Sendable {
    private let key: Secret

    public init(key: Secret) { self.key = key }

    /// Under a key that nobody knows and that lasts as long as this value: for comparing secrets without keeping them.
    public static func withRandomKey() throws(CryptoError) -> MessageAuthenticationCode {
        var key = try RandomBytes.make(32)
        return MessageAuthenticationCode(key: Secret(wiping: &key))
    }

    public func code(of bytes: Span<UInt8>) -> DigestValue {
        var storage = InlineArray<32, UInt8>(repeating: 0)
        var out = storage.mutableSpan
        let made = key.withBytes { key in
            key.withUnsafeBufferPointer { key in
                bytes.withUnsafeBufferPointer { bytes in
                    out.withUnsafeMutableBufferPointer { out in
                        HMAC(
                            EVP_sha256(), key.baseAddress, Int32(key.count), bytes.baseAddress, bytes.count,
                            out.baseAddress, nil) != nil
                    }
                }
            }
        }
        precondition(made, "HMAC-SHA-256 needs nothing but memory")
        return DigestValue(storage: storage, count: 32)
    }
}
