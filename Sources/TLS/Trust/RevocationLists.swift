import COpenSSL

/// Certificate revocation lists from files (RFC 5280 section 5). They speak for the issuers that signed them: a
/// certificate whose issuer has no list here is not judged by them.
///
/// A delta list (section 5.2.4) is left out: alone it would pass for a complete one, and beside its base, being newer, take
/// the place of that.
public final class RevocationLists: Sendable {
    /// A `STACK_OF(X509_CRL)` that owns its lists.
    private let object: LibraryObject
    public let count: Int
    /// How many delta lists were left out.
    public let deltaCount: Int

    /// Each file holds one list in DER or any number in PEM. Throws for the first file that holds none or a damaged
    /// one.
    public init(files: [[UInt8]]) throws(CertificateError) {
        guard let stack = OPENSSL_sk_new_null() else { throw .tooLarge }
        object = LibraryObject(
            takingOwnership: stack,
            free: { OPENSSL_sk_pop_free($0) { list in X509_CRL_free(list.map { OpaquePointer($0) }) } })
        var (count, deltaCount) = (0, 0)
        for file in files {
            for list in try Self.lists(in: file) {
                if X509_CRL_get_ext_by_NID(list, NID_delta_crl, -1) >= 0 {
                    X509_CRL_free(list)
                    deltaCount += 1
                    continue
                }
                guard OPENSSL_sk_push(stack, UnsafeRawPointer(list)) > 0 else { throw .tooLarge }
                count += 1
            }
        }
        self.count = count
        self.deltaCount = deltaCount
    }

    var handle: OpaquePointer { object.pointer }

    private static func lists(in file: [UInt8]) throws(CertificateError) -> [OpaquePointer] {
        let isBinary = file.first == 0x30
        let blocks = isBinary ? [file] : try PEMBlocks.contents(of: file.span, kinds: ["X509 CRL"], limit: 1_000)
        guard !blocks.isEmpty else { throw .none }
        var lists: [OpaquePointer] = []
        for block in blocks {
            guard let list = Self.list(block) else {
                ERR_clear_error()
                for list in lists { X509_CRL_free(list) }
                throw blocks.count == 1 ? .malformed : .malformedBlock(lists.count + 1)
            }
            lists.append(list)
        }
        return lists
    }

    private static func list(_ der: [UInt8]) -> OpaquePointer? {
        der.withUnsafeBufferPointer { bytes in
            var next = bytes.baseAddress
            guard let list = d2i_X509_CRL(nil, &next, bytes.count) else { return nil }
            if let start = bytes.baseAddress, let next, next - start == bytes.count { return list }
            X509_CRL_free(list)
            return nil
        }
    }
}

/// The entry of a revocation list, when OpenSSL complained.
struct ListedRevocation {
    let issuer: String
    let nextUpdate: Int?
    /// When the certificate was revoked, if the list names it.
    private(set) var date: Int?
    private(set) var reason: String?

    init(in list: OpaquePointer, of certificate: Certificate?) {
        issuer = VisibleText.shortened(DistinguishedName.text(of: X509_CRL_get_issuer(list)))
        nextUpdate = CertificateTime.seconds(X509_CRL_get0_nextUpdate(list))
        var entry: OpaquePointer?
        guard let certificate, X509_CRL_get0_by_cert(list, &entry, certificate.handle) > 0, let entry else { return }
        date = CertificateTime.seconds(X509_REVOKED_get0_revocationDate(entry))
        guard let code = X509_REVOKED_get_ext_d2i(entry, NID_crl_reason, nil, nil) else { return }
        defer { ASN1_ENUMERATED_free(code.assumingMemoryBound(to: ASN1_ENUMERATED.self)) }
        reason = RevocationReason.words(ASN1_ENUMERATED_get(code.assumingMemoryBound(to: ASN1_ENUMERATED.self)))
    }
}

/// Why a certificate was revoked (RFC 5280 section 5.3.1), in words.
enum RevocationReason {
    /// Nil for a code that says nothing.
    static func words(_ code: Int) -> String? {
        switch code {
        case 1: "its key was compromised"
        case 2: "its CA was compromised"
        case 3: "its holder changed"
        case 4: "it was superseded"
        case 5: "it is no longer used"
        case 6: "it is on hold"
        case 9: "a privilege was withdrawn"
        case 10: "an attribute authority was compromised"
        default: nil
        }
    }
}
