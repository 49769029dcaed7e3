import Bytes
import COpenSSL

/// The memory that OpenSSL works with.
public enum TLSMemory {
    /// Makes OpenSSL take its buffers for records and handshakes, 16 to 22 KiB each, from `BlockMemory`. To be called before any
    /// other function of OpenSSL. Other libraries that use OpenSSL get their memory the same way.
    /// - Returns: false when it was too late. Then nothing changes.
    @discardableResult
    public static func share() -> Bool {
        CRYPTO_set_mem_functions(
            { size, _, _ in BlockMemory.allocate(size) },
            { memory, size, _, _ in BlockMemory.reallocate(memory, size) },
            { memory, _, _ in BlockMemory.free(memory) }) == 1
    }
}
