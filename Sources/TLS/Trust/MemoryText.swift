import COpenSSL

/// Text that OpenSSL prints.
enum MemoryText {
    /// What `print` wrote to a memory BIO; nil when it says that it failed.
    static func written(_ print: (OpaquePointer) -> Bool) -> String? {
        guard let sink = BIO_new(BIO_s_mem()) else { return nil }
        defer {
            BIO_free(sink)
            ERR_clear_error()
        }
        guard print(sink) else { return nil }
        return String(decoding: bytes(of: sink), as: UTF8.self)
    }

    /// What a memory BIO holds.
    static func bytes(of sink: OpaquePointer) -> [UInt8] {
        var start: UnsafeMutablePointer<CChar>?
        let count = withUnsafeMutablePointer(to: &start) { BIO_ctrl(sink, BIO_CTRL_INFO, 0, $0) }
        guard let start, count > 0 else { return [] }
        return UnsafeRawBufferPointer(start: start, count: count).map { $0 }
    }
}
