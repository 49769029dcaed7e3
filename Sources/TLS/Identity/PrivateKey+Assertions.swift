import COpenSSL
import Crypto

/// Signatures as JSON Web Signatures have them (RFC 7518 section 3).
extension PrivateKey {
    /// The name of the signature that this key makes; nil for a key that RFC 7518 has no use for.
    public var assertionAlgorithm: String? {
        switch (EVP_PKEY_get_base_id(handle), EVP_PKEY_get_bits(handle)) {
        case (EVP_PKEY_RSA, 2048...): "RS256"
        case (EVP_PKEY_EC, 256): "ES256"
        case (EVP_PKEY_EC, 384): "ES384"
        default: nil
        }
    }

    /// A signature by `assertionAlgorithm`; nil when the key, or the token it lives in, cannot make one.
    public func assertionSignature(of bytes: [UInt8]) -> [UInt8]? {
        guard let algorithm = assertionAlgorithm, let context = EVP_MD_CTX_new() else { return nil }
        defer {
            EVP_MD_CTX_free(context)
            ERR_clear_error()
        }
        ERR_clear_error()
        let digest = algorithm == "ES384" ? EVP_sha384() : EVP_sha256()
        var count = 0
        guard EVP_DigestSignInit(context, nil, digest, nil, handle) == 1,
            EVP_DigestSign(context, nil, &count, bytes, bytes.count) == 1
        else { return nil }
        var signature = [UInt8](repeating: 0, count: count)
        guard EVP_DigestSign(context, &signature, &count, bytes, bytes.count) == 1 else { return nil }
        signature.removeSubrange(count...)
        return algorithm == "RS256" ? signature : Self.fixed(signature, width: algorithm == "ES256" ? 32 : 48)
    }

    /// The two numbers of an ECDSA signature side by side (section 3.4), out of their ASN.1.
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

    /// Half of a SHA-256 over the public key: another key has another one.
    public func publicFingerprint() throws(IdentityError) -> UInt128 {
        try identifier().prefix(16).reduce(0) { $0 << 8 | UInt128($1) }
    }
}
