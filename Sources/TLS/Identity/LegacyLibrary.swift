import COpenSSL

/// OpenSSL together with its legacy provider (RC2, RC4, single DES, PBE with MD5), for files that somebody encrypted
/// long ago. A library context of its own, so that nothing else in the process can use those algorithms.
enum LegacyLibrary {
    /// Lends an `OSSL_LIB_CTX`. Nothing that is made in it may leave `body`.
    static func lend<Result>(to body: (OpaquePointer) throws(IdentityError) -> Result) throws(IdentityError) -> Result {
        guard let library = OSSL_LIB_CTX_new() else { throw .outOfMemory }
        defer { OSSL_LIB_CTX_free(library) }
        guard let legacy = OSSL_PROVIDER_load(library, "legacy") else { throw .legacyProviderMissing }
        defer { OSSL_PROVIDER_unload(legacy) }
        guard let standard = OSSL_PROVIDER_load(library, "default") else { throw .legacyProviderMissing }
        defer { OSSL_PROVIDER_unload(standard) }
        return try body(library)
    }

    /// Whether what just failed failed for want of an algorithm. Empties this thread's error queue.
    static func isWanted() -> Bool {
        var isWanted = false
        while case let code = ERR_get_error(), code != 0 {
            if attache_lacks_algorithm(code) { isWanted = true }
        }
        return isWanted
    }
}

/// Bytes that OpenSSL reads from memory.
enum MemoryInput {
    /// Lends the bytes as a `BIO`. Gives nil, as OpenSSL's readers do, when there is no memory for one.
    static func lend<Result>(_ bytes: Span<UInt8>, to body: (OpaquePointer) -> Result?) -> Result? {
        bytes.withUnsafeBufferPointer { bytes in
            guard let count = Int32(exactly: bytes.count), let input = BIO_new_mem_buf(bytes.baseAddress, count)
            else { return nil }
            defer { BIO_free(input) }
            return body(input)
        }
    }
}
