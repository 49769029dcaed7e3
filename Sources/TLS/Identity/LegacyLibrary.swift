import COpenSSL

/// OpenSSL together with its legacy provider (RC2, RC4, single DES, PBE with MD5), for files that were encrypted long
/// ago. It is a library context of its own, so that the rest of the process cannot use those algorithms.
enum LegacyLibrary {
    /// Lends an `OSSL_LIB_CTX`. No object made in it may leave `body`.
    static func lend<Result>(to body: (OpaquePointer) throws(Identity.Failure) -> Result) throws(Identity.Failure)
        -> Result
    {
        guard let library = OSSL_LIB_CTX_new() else { throw .outOfMemory }
        defer { OSSL_LIB_CTX_free(library) }
        guard let legacy = OSSL_PROVIDER_load(library, "legacy") else { throw .legacyProviderMissing }
        defer { OSSL_PROVIDER_unload(legacy) }
        guard let standard = OSSL_PROVIDER_load(library, "default") else { throw .legacyProviderMissing }
        defer { OSSL_PROVIDER_unload(standard) }
        return try body(library)
    }

    /// Whether the latest failure was caused by a missing algorithm. Empties this thread's error queue.
    static func isWanted() -> Bool {
        var isWanted = false
        while case let code = ERR_get_error(), code != 0 {
            if attache_lacks_algorithm(code) { isWanted = true }
        }
        return isWanted
    }
}
