import COpenSSL

/// Certificate revocation lists from files (RFC 5280 section 5). They speak for the issuers that signed them: a
/// certificate whose issuer has no list here is not judged by them.
public final class RevocationLists: Sendable {
    /// A `STACK_OF(X509_CRL)` that owns its lists.
    private let object: LibraryObject
    public let count: Int

    /// Each file holds one list in DER or any number in PEM. Throws for the first file that holds none or a damaged
    /// one.
    public init(files: [[UInt8]]) throws(CertificateError) {
        guard let stack = OPENSSL_sk_new_null() else { throw .tooLarge }
        object = LibraryObject(
            takingOwnership: stack,
            free: { OPENSSL_sk_pop_free($0) { list in X509_CRL_free(list.map { OpaquePointer($0) }) } })
        var count = 0
        for file in files {
            for list in try Self.lists(in: file) {
                guard OPENSSL_sk_push(stack, UnsafeRawPointer(list)) > 0 else { throw .tooLarge }
                count += 1
            }
        }
        self.count = count
    }

    var handle: OpaquePointer { object.pointer }

    private static func lists(in file: [UInt8]) throws(CertificateError) -> [OpaquePointer] {
        if file.first == 0x30 {
            let list = file.withUnsafeBufferPointer { bytes -> OpaquePointer? in
                var next = bytes.baseAddress
                return d2i_X509_CRL(nil, &next, bytes.count)
            }
            ERR_clear_error()
            guard let list else { throw .malformed }
            return [list]
        }
        let lists = try PEMBlocks.read(file.span, limit: 1_000, free: { X509_CRL_free($0) }, next)
        guard !lists.isEmpty else { throw .none }
        return lists
    }

    /// Without a callback an encrypted block would ask the terminal for a password.
    private static func next(_ source: OpaquePointer) -> OpaquePointer? {
        PEM_read_bio_X509_CRL(source, nil, { _, _, _, _ in -1 }, nil)
    }
}
