import COpenSSL

/// PEM text (RFC 7468) in blocks.
enum PEMBlocks {
    /// The bytes of all blocks of these kinds, in order. Throws for the first damaged block of any kind, and for more
    /// than `limit` blocks.
    static func contents(of text: Span<UInt8>, kinds: Set<String>, limit: Int) throws(Certificate.Failure) -> [[UInt8]]
    {
        guard !text.isEmpty else { return [] }
        let result = MemoryInput.lend(text) { source in
            Result { () throws(Certificate.Failure) in try contents(of: source, kinds: kinds, limit: limit) }
        }
        guard let result else { throw .tooLarge }
        return try result.get()
    }

    /// The bytes of all blocks of these kinds in a BIO, in order.
    static func contents(
        of source: OpaquePointer, kinds: Set<String>, limit: Int
    ) throws(Certificate.Failure) -> [[UInt8]] {
        defer { ERR_clear_error() }
        var found: [[UInt8]] = []
        for number in 1...limit + 1 {
            var kind: UnsafeMutablePointer<CChar>?
            var header: UnsafeMutablePointer<CChar>?
            var data: UnsafeMutablePointer<UInt8>?
            var count = 0
            ERR_clear_error()
            guard PEM_read_bio(source, &kind, &header, &data, &count) == 1 else {
                let reason = ERR_peek_last_error()
                if ERR_GET_LIB(reason) == ERR_LIB_PEM, ERR_GET_REASON(reason) == PEM_R_NO_START_LINE { return found }
                throw .malformedBlock(number)
            }
            // Some blocks hold private keys.
            defer {
                CRYPTO_free(kind, nil, 0)
                CRYPTO_free(header, nil, 0)
                CRYPTO_clear_free(data, count, nil, 0)
            }
            if let kind, let data, kinds.contains(String(cString: kind)) {
                found.append([UInt8](UnsafeBufferPointer(start: data, count: count)))
            }
        }
        throw .tooLarge
    }
}

/// Bytes in memory that OpenSSL reads.
enum MemoryInput {
    /// Lends the bytes as a `BIO`. Returns nil, as OpenSSL's readers do, if there is no memory for it.
    static func lend<Result>(_ bytes: Span<UInt8>, to body: (OpaquePointer) -> Result?) -> Result? {
        bytes.withUnsafeBufferPointer { bytes in
            guard let count = Int32(exactly: bytes.count), let input = BIO_new_mem_buf(bytes.baseAddress, count)
            else { return nil }
            defer { BIO_free(input) }
            return body(input)
        }
    }
}

/// Text that OpenSSL prints.
enum MemoryText {
    /// The text that `print` wrote to a memory BIO; nil if `print` returns false.
    static func written(_ print: (OpaquePointer) -> Bool) -> String? {
        guard let sink = BIO_new(BIO_s_mem()) else { return nil }
        defer {
            BIO_free(sink)
            ERR_clear_error()
        }
        guard print(sink) else { return nil }
        return String(decoding: bytes(of: sink), as: UTF8.self)
    }

    /// The content of a memory BIO.
    static func bytes(of sink: OpaquePointer) -> [UInt8] {
        var start: UnsafeMutablePointer<CChar>?
        let count = withUnsafeMutablePointer(to: &start) { BIO_ctrl(sink, BIO_CTRL_INFO, 0, $0) }
        guard let start, count > 0 else { return [] }
        return UnsafeRawBufferPointer(start: start, count: count).map { $0 }
    }
}
