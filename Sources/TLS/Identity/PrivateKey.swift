import Bytes
import COpenSSL
import Crypto

/// A private key in OpenSSL, in memory or in a token. OpenSSL zeroes it with the last reference.
public final class PrivateKey: Sendable {
    private let object: LibraryObject

    /// Takes ownership of an `EVP_PKEY`.
    init(takingOwnership key: OpaquePointer) {
        object = LibraryObject(takingOwnership: key, free: { EVP_PKEY_free($0) })
    }

    /// The `EVP_PKEY`, for this target only: valid as long as this object.
    var handle: OpaquePointer { object.pointer }

    /// Generates a key for ECDSA with P-256, in some 20 microseconds.
    public static func generate() throws(Identity.Failure) -> PrivateKey {
        ERR_clear_error()
        guard let key = attache_generate_p256() else { throw .outOfMemory }
        return PrivateKey(takingOwnership: key)
    }

    /// The first private key in PEM: PKCS#8, encrypted or not, or the older forms of RSA and EC keys.
    ///
    /// A passphrase that is not needed is ignored. The legacy provider is used only here: the resulting key belongs to
    /// the default library.
    public convenience init(pem: Span<UInt8>, passphrase: Secret? = nil) throws(Identity.Failure) {
        guard Self.isPresent(in: pem) else { throw .noKey }
        var prompt = TokenObjects.Prompt(passphrase)
        if let key = Self.read(pem, &prompt, in: nil) {
            self.init(takingOwnership: key)
            return
        }
        guard prompt.wasAsked, passphrase != nil, LegacyLibrary.isWanted() else {
            throw prompt.failure(otherwise: .unreadableKey)
        }
        let pem = try LegacyLibrary.lend { library throws(Identity.Failure) in
            guard let key = Self.read(pem, &prompt, in: library) else { throw Identity.Failure.wrongPassphrase }
            return try PrivateKey(takingOwnership: key).pem()
        }
        try self.init(unencrypted: pem)
    }

    /// Reads the text of `pem()`, perhaps in another library context.
    convenience init(unencrypted pem: Secret) throws(Identity.Failure) {
        var prompt = TokenObjects.Prompt(nil)
        guard let key = pem.withBytes({ Self.read($0, &prompt, in: nil) }) else { throw .unreadableKey }
        self.init(takingOwnership: key)
    }

    /// The key as unencrypted PKCS#8 in PEM, for its owner only.
    public func pem() throws(Identity.Failure) -> Secret {
        guard let sink = BIO_new(BIO_s_secmem()) else { throw .outOfMemory }
        defer {
            BIO_free(sink)
            ERR_clear_error()
        }
        guard PEM_write_bio_PKCS8PrivateKey(sink, handle, nil, nil, 0, nil, nil) == 1 else { throw .unreadableKey }
        var bytes = MemoryText.bytes(of: sink)
        return Secret(wiping: &bytes)
    }

    /// The leftmost 160 bits of the SHA-256 of the public key's encoding (RFC 7093 section 2, method 4), as a key
    /// identifier.
    func identifier() throws(Identity.Failure) -> [UInt8] {
        ERR_clear_error()
        guard let encoding = LibraryObject.encoding(by: { i2d_PUBKEY(handle, $0) }) else { throw .unreadableKey }
        return Array(MessageDigest.digest(.sha256, of: encoding.span).array.prefix(20))
    }

    /// Whether the PEM text contains the label of a private key.
    static func isPresent(in pem: Span<UInt8>) -> Bool {
        let words: StaticString = "PRIVATE KEY-----"
        let length = words.utf8CodeUnitCount
        var start = 0
        while let letter = pem.firstIndex(of: UInt8(ascii: "P"), from: start), letter + length <= pem.count {
            if pem.extracting(letter..<letter + length).equals(words) { return true }
            start = letter + 1
        }
        return false
    }

    private static func read(
        _ pem: Span<UInt8>, _ prompt: inout TokenObjects.Prompt, in library: OpaquePointer?
    ) -> OpaquePointer? {
        ERR_clear_error()
        return withUnsafeMutablePointer(to: &prompt) { prompt in
            MemoryInput.lend(pem) { input in
                PEM_read_bio_PrivateKey_ex(input, nil, TokenObjects.Prompt.callback, prompt, library, nil)
            }
        }
    }
}

/// Signatures in the form of JSON Web Signatures (RFC 7518 section 3).
extension PrivateKey {
    /// The algorithm of signatures with this key; nil for a key that RFC 7518 does not cover.
    public var assertionAlgorithm: String? {
        switch (EVP_PKEY_get_base_id(handle), EVP_PKEY_get_bits(handle)) {
        case (EVP_PKEY_RSA, 2048...): "RS256"
        case (EVP_PKEY_EC, 256): "ES256"
        case (EVP_PKEY_EC, 384): "ES384"
        default: nil
        }
    }

    /// A signature by `assertionAlgorithm`; nil if the key, or its token, cannot make one.
    public func assertionSignature(of bytes: [UInt8]) -> [UInt8]? {
        guard let algorithm = assertionAlgorithm,
            let signature = signature(of: bytes, by: algorithm == "ES384" ? EVP_sha384() : EVP_sha256())
        else { return nil }
        return algorithm == "RS256" ? signature : Self.fixed(signature, width: algorithm == "ES256" ? 32 : 48)
    }

    /// - Parameter digest: the hash function; nil for keys that hash by their own rules, such as Ed25519.
    /// - Returns: the signature as OpenSSL makes it; nil if the key, or its token, cannot make one.
    private func signature(of bytes: [UInt8], by digest: OpaquePointer?) -> [UInt8]? {
        guard let context = EVP_MD_CTX_new() else { return nil }
        defer {
            EVP_MD_CTX_free(context)
            ERR_clear_error()
        }
        ERR_clear_error()
        var count = 0
        guard EVP_DigestSignInit(context, nil, digest, nil, handle) == 1,
            EVP_DigestSign(context, nil, &count, bytes, bytes.count) == 1
        else { return nil }
        var signature = [UInt8](repeating: 0, count: count)
        guard EVP_DigestSign(context, &signature, &count, bytes, bytes.count) == 1 else { return nil }
        signature.removeSubrange(count...)
        return signature
    }

    /// The two numbers of an ECDSA signature side by side (section 3.4), read from ASN.1.
    private static func fixed(_ signature: [UInt8], width: Int) -> [UInt8]? {
        let numbers = signature.withUnsafeBufferPointer { bytes in
            var start = bytes.baseAddress
            return d2i_ECDSA_SIG(nil, &start, bytes.count)
        }
        guard let numbers else { return nil }
        defer { ECDSA_SIG_free(numbers) }
        var fixed = [UInt8](repeating: 0, count: width * 2)
        let isWritten = fixed.withUnsafeMutableBufferPointer { room in
            BN_bn2binpad(ECDSA_SIG_get0_r(numbers), room.baseAddress, Int32(width)) == width
                && BN_bn2binpad(ECDSA_SIG_get0_s(numbers), room.baseAddress.map { $0 + width }, Int32(width)) == width
        }
        return isWritten ? fixed : nil
    }

    /// Half of a SHA-256 over the public key, different for each key.
    public func publicFingerprint() throws(Identity.Failure) -> UInt128 {
        try identifier().prefix(16).reduce(0) { $0 << 8 | UInt128($1) }
    }
}

/// Signatures of requests.
extension PrivateKey {
    /// The 32 bytes of the public key of an Ed25519 key (RFC 8032 section 5.1.5); nil for another kind of key.
    public var ed25519PublicKey: [UInt8]? {
        guard EVP_PKEY_get_base_id(handle) == EVP_PKEY_ED25519 else { return nil }
        var (bytes, count) = ([UInt8](repeating: 0, count: 32), 32)
        ERR_clear_error()
        defer { ERR_clear_error() }
        return EVP_PKEY_get_raw_public_key(handle, &bytes, &count) == 1 && count == 32 ? bytes : nil
    }

    /// The Ed25519 signature, of 64 bytes; nil for another kind of key.
    public func ed25519Signature(of bytes: [UInt8]) -> [UInt8]? {
        EVP_PKEY_get_base_id(handle) == EVP_PKEY_ED25519 ? signature(of: bytes, by: nil) : nil
    }

    /// Whether it is an RSA key for `rsaSHA1Signature`.
    public var signsByRSA: Bool {
        EVP_PKEY_get_base_id(handle) == EVP_PKEY_RSA && EVP_PKEY_get_bits(handle) >= 1024
    }

    /// The RSASSA-PKCS1-v1_5 signature with SHA-1, which RFC 5849 section 3.4.3 requires; nil for another kind of key.
    public func rsaSHA1Signature(of bytes: [UInt8]) -> [UInt8]? {
        signsByRSA ? signature(of: bytes, by: EVP_sha1()) : nil
    }
}
