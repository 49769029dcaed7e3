import COpenSSL

extension Certificate {
    /// Every certificate in PEM text, in its order; text between the blocks and blocks of other kinds are passed over.
    /// Throws `.none` when there is no certificate, and `.malformedBlock` for one that is damaged.
    public static func all(inPEM text: Span<UInt8>, limit: Int = 10_000) throws(CertificateError) -> [Certificate] {
        let blocks = try PEMBlocks.contents(of: text, kinds: ["CERTIFICATE", "X509 CERTIFICATE"], limit: limit)
        guard !blocks.isEmpty else { throw .none }
        var certificates: [Certificate] = []
        for (number, block) in blocks.enumerated() {
            guard let certificate = try? Certificate(der: block) else { throw .malformedBlock(number + 1) }
            certificates.append(certificate)
        }
        return certificates
    }

    public static func all(inPEM text: String, limit: Int = 10_000) throws(CertificateError) -> [Certificate] {
        try all(inPEM: text.utf8Span.span, limit: limit)
    }

    public var pem: String { MemoryText.written { PEM_write_bio_X509($0, handle) == 1 } ?? "" }
}
