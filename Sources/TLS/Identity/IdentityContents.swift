import COpenSSL
import Crypto

/// What was found in one place: certificates, a key, or both.
struct IdentityContents {
    var certificates: [Certificate] = []
    var key: PrivateKey?

    init(certificates: [Certificate], key: PrivateKey?) {
        self.certificates = certificates
        self.key = key
    }

    /// - Parameter wantsKey: whether there has to be a key. Where it need not be, one that is there is not opened.
    init(_ source: IdentitySource, passphrase: Secret?, wantsKey: Bool) throws(IdentityError) {
        switch source {
        case .token(let uri): self = try TokenObjects.read(uri, pin: passphrase)
        case .content(let bytes) where bytes.count > IdentitySource.limit: throw .tooLarge(limit: IdentitySource.limit)
        case .content(let bytes) where bytes.first == Self.sequence:
            self = try PKCS12File.read(bytes.span, passphrase: passphrase)
        case .content(let bytes):
            certificates = try Self.certificates(in: bytes.span)
            if wantsKey { key = try PrivateKey(pem: bytes.span, passphrase: passphrase) }
        }
    }

    private static func certificates(in pem: Span<UInt8>) throws(IdentityError) -> [Certificate] {
        do throws(CertificateError) {
            return try Certificate.all(inPEM: pem, limit: certificateLimit)
        } catch {
            switch error {
            case .none: return []
            case .malformedBlock(let number): throw .damagedCertificate(number)
            case .malformed, .tooLarge: throw .noCertificate
            }
        }
    }

    /// More than a peer would take.
    private static let certificateLimit = 100
    /// What DER begins with.
    private static let sequence: UInt8 = 0x30
}
