import Bytes
import COpenSSL

/// Certificate revocation lists from files (RFC 5280 section 5). Each covers the certificates of the issuer that signed
/// it. Without a list of its issuer a certificate is not checked.
///
/// Delta lists (section 5.2.4) are left out. OpenSSL would take one for a complete list and, since it is newer, use it
/// in place of its base.
public final class RevocationLists: Sendable {
    /// A `STACK_OF(X509_CRL)` that owns its lists.
    private let object: LibraryObject
    public let count: Int
    /// The number of delta lists that were left out.
    public let deltaCount: Int

    /// Reads files with one list in DER each, or any number in PEM. Throws for the first file without a list or with a
    /// damaged one.
    public init(files: [[UInt8]]) throws(Certificate.Failure) {
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

    private static func lists(in file: [UInt8]) throws(Certificate.Failure) -> [OpaquePointer] {
        let isBinary = file.first == 0x30
        let blocks = isBinary ? [file] : try PEMBlocks.contents(of: file.span, kinds: ["X509 CRL"], limit: 1_000)
        guard !blocks.isEmpty else { throw .none }
        var lists: [OpaquePointer] = []
        for block in blocks {
            let list = LibraryObject.decoded(block.span, by: { d2i_X509_CRL(nil, $0, $1) }, free: { X509_CRL_free($0) })
            guard let list else {
                for list in lists { X509_CRL_free(list) }
                throw blocks.count == 1 ? .malformed : .malformedBlock(lists.count + 1)
            }
            lists.append(list)
        }
        return lists
    }

    /// The entry of a revocation list that OpenSSL reported.
    struct Entry {
        let issuer: String
        let nextUpdate: WallTime?
        /// The time of the revocation, if the list names the certificate.
        private(set) var date: WallTime?
        private(set) var reason: String?

        init(in list: OpaquePointer, of certificate: Certificate?) {
            issuer = VisibleText.shortened(DistinguishedName.text(of: X509_CRL_get_issuer(list)))
            nextUpdate = Certificate.Time.time(X509_CRL_get0_nextUpdate(list))
            var entry: OpaquePointer?
            guard let certificate, X509_CRL_get0_by_cert(list, &entry, certificate.handle) > 0, let entry else {
                return
            }
            date = Certificate.Time.time(X509_REVOKED_get0_revocationDate(entry))
            guard let code = X509_REVOKED_get_ext_d2i(entry, NID_crl_reason, nil, nil) else { return }
            defer { ASN1_ENUMERATED_free(code.assumingMemoryBound(to: ASN1_ENUMERATED.self)) }
            reason = RevocationLists.Reason.words(
                ASN1_ENUMERATED_get(code.assumingMemoryBound(to: ASN1_ENUMERATED.self)))
        }
    }

    /// The reason of a revocation (RFC 5280 section 5.3.1), in words.
    enum Reason {
        /// The words for a code; nil for a code without information.
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
}
