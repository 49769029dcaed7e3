import COpenSSL

extension Certificate {
    /// Every certificate in PEM text (RFC 7468), in its order; text between the blocks and blocks of other kinds are
    /// passed over. Throws `.none` when there is no certificate. At most `limit` are read.
    public static func all(inPEM text: Span<UInt8>, limit: Int = 10_000) throws(CertificateError) -> [Certificate] {
        let certificates = try PEMBlocks.read(text, limit: limit, free: { X509_free($0) }, next)
        guard !certificates.isEmpty else { throw .none }
        return certificates.map { Certificate(takingOwnership: $0) }
    }

    public static func all(inPEM text: String, limit: Int = 10_000) throws(CertificateError) -> [Certificate] {
        try all(inPEM: text.utf8Span.span, limit: limit)
    }

    /// The same of a BIO.
    static func all(inPEM source: OpaquePointer, limit: Int) throws(CertificateError) -> [Certificate] {
        let certificates = try PEMBlocks.read(source, limit: limit, free: { X509_free($0) }, next).get()
        guard !certificates.isEmpty else { throw .none }
        return certificates.map { Certificate(takingOwnership: $0) }
    }

    /// Without a callback an encrypted block would ask the terminal for a password.
    private static func next(_ source: OpaquePointer) -> OpaquePointer? {
        PEM_read_bio_X509_AUX(source, nil, { _, _, _, _ in -1 }, nil)
    }

    public var pem: String { MemoryText.written { PEM_write_bio_X509($0, handle) == 1 } ?? "" }
}
