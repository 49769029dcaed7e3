import Bytes
import COpenSSL

/// A key that seals bytes. Without it, sealed bytes cannot be read, changed, or exchanged for those of another context
/// (AES-256-GCM, NIST SP 800-38D).
public struct SealingKey: Sendable {
    /// The size of a key in bytes.
    public static let count = 32

    /// An identifier of the key that reveals nothing of it: 16 hexadecimal digits of a hash.
    public let id: String
    private let secret: Secret

    /// The first byte of a box; a random nonce and the ciphertext follow.
    private static let format: UInt8 = 1
    private static let nonceCount = 12
    private static let tagCount = 16
    /// The bytes by which a box is longer than its content.
    public static let overhead = 1 + nonceCount + tagCount

    /// Nil unless the secret has the size of a key.
    public init?(_ secret: Secret) {
        guard secret.count == Self.count else { return nil }
        self.secret = secret
        var digest = MessageDigest(.sha256)
        digest.update("attache sealing key")
        secret.withBytes { digest.update($0) }
        id = Hex.encode(Array(digest.finish().array.prefix(8)))
    }

    public static func random() throws(CryptoError) -> SealingKey {
        var bytes = try RandomBytes.make(count)
        guard let key = SealingKey(Secret(wiping: &bytes)) else { throw .noRandomness }
        return key
    }

    /// Seals `plain` so that it can be opened only with the same `context`.
    ///
    /// - Parameter context: the owner of the box; neither secret nor part of the box.
    public func seal(_ plain: Secret, for context: Span<UInt8>) throws(CryptoError) -> [UInt8] {
        let nonce = try RandomBytes.make(Self.nonceCount)
        var box = [Self.format] + nonce + [UInt8](repeating: 0, count: plain.count + Self.tagCount)
        let isSealed = plain.withBytes { plain in
            plain.withUnsafeBufferPointer { plain in
                box.withUnsafeMutableBufferPointer { box in
                    guard let nonce = box.baseAddress?.advanced(by: 1) else { return false }
                    let content = nonce + Self.nonceCount
                    return transform(
                        plain, context, nonce: nonce, into: content, tag: content + plain.count, isSealing: true)
                }
            }
        }
        guard isSealed else { throw .sealingFailed }
        return box
    }

    /// - Throws: `notOurs` if the box was sealed with another key or for another context, or was changed.
    public func open(_ box: Span<UInt8>, for context: Span<UInt8>) throws(CryptoError) -> Secret {
        guard box.count >= Self.overhead, box[0] == Self.format else { throw .notOurs }
        var plain = [UInt8](repeating: 0, count: box.count - Self.overhead)
        let isOpen = plain.withUnsafeMutableBufferPointer { plain in
            box.withUnsafeBufferPointer { box in
                guard let nonce = box.baseAddress?.advanced(by: 1) else { return false }
                let content = UnsafeBufferPointer(start: nonce + Self.nonceCount, count: plain.count)
                let tag = UnsafeMutablePointer(mutating: nonce + Self.nonceCount + plain.count)
                return transform(content, context, nonce: nonce, into: plain.baseAddress, tag: tag, isSealing: false)
            }
        }
        let opened = Secret(wiping: &plain)
        guard isOpen else { throw .notOurs }
        return opened
    }

    /// The authentication tag, which identifies a box without the key. Nil for bytes that are not a box.
    public static func tag(of box: Span<UInt8>) -> UInt128? {
        guard box.count >= overhead, box[0] == format else { return nil }
        var tag: UInt128 = 0
        for offset in box.count - tagCount..<box.count { tag = tag << 8 | UInt128(box[offset]) }
        return tag
    }

    /// Lends the key itself, to be sealed with another key.
    public func withSecret<Result>(_ body: (Secret) throws(CryptoError) -> Result) throws(CryptoError) -> Result {
        try body(secret)
    }

    /// A derived key that reveals nothing of this one: HMAC-SHA-256 as a key derivation function (NIST SP 800-108).
    public func derived(for purpose: String) -> Secret {
        var code = MessageAuthenticationCode(key: secret).code(of: Array("attache \(purpose)".utf8).span).array
        return Secret(wiping: &code)
    }

    /// Encrypts the input and writes its tag, or decrypts the input and checks its tag.
    private func transform(
        _ input: UnsafeBufferPointer<UInt8>, _ context: Span<UInt8>, nonce: UnsafePointer<UInt8>,
        into output: UnsafeMutablePointer<UInt8>?, tag: UnsafeMutablePointer<UInt8>, isSealing: Bool
    ) -> Bool {
        guard let cipher = EVP_CIPHER_CTX_new() else { return false }
        defer { EVP_CIPHER_CTX_free(cipher) }
        let tagCount = Int32(Self.tagCount)
        var count: Int32 = 0
        var rest = [UInt8](repeating: 0, count: Self.tagCount)
        let isDone =
            secret.withBytes { key in
                key.withUnsafeBufferPointer {
                    EVP_CipherInit_ex(cipher, EVP_aes_256_gcm(), nil, $0.baseAddress, nonce, isSealing ? 1 : 0)
                }
            } == 1
            && context.withUnsafeBufferPointer {
                $0.isEmpty ? 1 : EVP_CipherUpdate(cipher, nil, &count, $0.baseAddress, Int32(clamping: $0.count))
            } == 1
            && (input.isEmpty
                || EVP_CipherUpdate(cipher, output, &count, input.baseAddress, Int32(clamping: input.count)) == 1)
            && (isSealing || EVP_CIPHER_CTX_ctrl(cipher, EVP_CTRL_AEAD_SET_TAG, tagCount, tag) == 1)
            && EVP_CipherFinal_ex(cipher, &rest, &count) == 1
            && (!isSealing || EVP_CIPHER_CTX_ctrl(cipher, EVP_CTRL_AEAD_GET_TAG, tagCount, tag) == 1)
        ERR_clear_error()
        return isDone
    }
}
