import COpenSSL

/// Objects out of PEM text.
enum PEMBlocks {
    /// What `next` reads from the text until no block is left; the objects belong to the caller. Before an error is
    /// thrown those read so far go to `free`.
    static func read(
        _ text: Span<UInt8>, limit: Int, free: (OpaquePointer?) -> Void, _ next: (OpaquePointer) -> OpaquePointer?
    ) throws(CertificateError) -> [OpaquePointer] {
        let result = text.withUnsafeBufferPointer { bytes -> Result<[OpaquePointer], CertificateError> in
            guard let start = bytes.baseAddress else { return .success([]) }
            guard bytes.count <= Int(Int32.max), let source = BIO_new_mem_buf(start, Int32(bytes.count)) else {
                return .failure(.tooLarge)
            }
            defer { BIO_free(source) }
            return read(source, limit: limit, free: free, next)
        }
        return try result.get()
    }

    static func read(
        _ source: OpaquePointer, limit: Int, free: (OpaquePointer?) -> Void, _ next: (OpaquePointer) -> OpaquePointer?
    ) -> Result<[OpaquePointer], CertificateError> {
        var objects: [OpaquePointer] = []
        defer { ERR_clear_error() }
        while objects.count <= limit {
            ERR_clear_error()
            if let object = next(source) {
                objects.append(object)
            } else {
                let reason = ERR_peek_last_error()
                if ERR_GET_LIB(reason) == ERR_LIB_PEM, ERR_GET_REASON(reason) == PEM_R_NO_START_LINE {
                    return .success(objects)
                }
                for object in objects { free(object) }
                return .failure(.malformedBlock(objects.count + 1))
            }
        }
        for object in objects { free(object) }
        return .failure(.tooLarge)
    }
}
