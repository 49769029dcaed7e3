import COpenSSL

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
