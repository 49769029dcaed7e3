import COpenSSL

/// Objects out of PEM text.
enum PEMBlocks {
    /// Calls `next` until no block is left. The objects belong to the caller; before an error is thrown those read so
    /// far go to `free`.
    static func read(
        _ text: Span<UInt8>, limit: Int, free: (OpaquePointer?) -> Void = { X509_free($0) },
        _ next: (OpaquePointer) -> OpaquePointer?
    ) throws(CertificateError) -> [OpaquePointer] {
        var objects: [OpaquePointer] = []
        let failure = text.withUnsafeBufferPointer { bytes -> CertificateError? in
            guard let start = bytes.baseAddress else { return nil }
            guard bytes.count <= Int(Int32.max) else { return .tooLarge }
            guard let source = BIO_new_mem_buf(start, Int32(bytes.count)) else { return .tooLarge }
            defer {
                BIO_free(source)
                ERR_clear_error()
            }
            while true {
                ERR_clear_error()
                guard let object = next(source) else {
                    let reason = ERR_peek_last_error()
                    let ended = ERR_GET_LIB(reason) == ERR_LIB_PEM && ERR_GET_REASON(reason) == PEM_R_NO_START_LINE
                    return ended ? nil : .malformedBlock(objects.count + 1)
                }
                objects.append(object)
                if objects.count > limit { return .tooLarge }
            }
        }
        if let failure {
            for object in objects { free(object) }
            throw failure
        }
        return objects
    }
}
