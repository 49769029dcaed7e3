import COpenSSL
import Synchronization

/// MD4 (RFC 1320), which is broken as a hash; NTLM derives a key from a password with it.
///
/// OpenSSL 3 has it in its legacy provider only. That is loaded into a separate library context. So the rest of the
/// process cannot use its algorithms, and no configuration file of the system disables it.
public enum MD4 {
    public static func digest(of bytes: Span<UInt8>) throws(CryptoError) -> MessageDigest.Value {
        var storage = InlineArray<32, UInt8>(repeating: 0)
        var out = storage.mutableSpan
        let isMade = algorithm.withLock { algorithm in
            guard let algorithm else { return false }
            return bytes.withUnsafeBufferPointer { bytes in
                out.withUnsafeMutableBufferPointer { out in
                    EVP_Digest(bytes.baseAddress, bytes.count, out.baseAddress, nil, algorithm, nil) == 1
                }
            }
        }
        guard isMade else {
            ERR_clear_error()
            throw .noMD4
        }
        return MessageDigest.Value(storage: storage, count: 16)
    }

    /// Loaded at the first use and kept until the process ends; nil if the provider is missing.
    private static let algorithm = Mutex<OpaquePointer?>(load())

    private static func load() -> OpaquePointer? {
        guard let context = OSSL_LIB_CTX_new() else { return nil }
        guard let provider = OSSL_PROVIDER_load(context, "legacy") else {
            OSSL_LIB_CTX_free(context)
            return nil
        }
        guard let algorithm = EVP_MD_fetch(context, "MD4", nil) else {
            OSSL_PROVIDER_unload(provider)
            OSSL_LIB_CTX_free(context)
            return nil
        }
        return algorithm
    }
}
