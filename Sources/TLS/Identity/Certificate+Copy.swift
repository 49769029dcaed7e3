import COpenSSL

extension Certificate {
    /// What an `X509` of somebody else's says, as a certificate of the default library. Nil when it has no encoding.
    convenience init?(copying other: OpaquePointer) {
        var encoding: UnsafeMutablePointer<UInt8>?
        ERR_clear_error()
        let count = i2d_X509(other, &encoding)
        guard let encoding, count > 0 else { return nil }
        defer { CRYPTO_free(encoding, nil, 0) }
        try? self.init(der: UnsafeBufferPointer(start: encoding, count: Int(count)).span)
    }
}
