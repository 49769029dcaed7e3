import COpenSSL
import Crypto

/// The content of one place: certificates, a key, or both.
struct IdentityContents {
    var certificates: [Certificate] = []
    var key: PrivateKey?

    init(certificates: [Certificate], key: PrivateKey?) {
        self.certificates = certificates
        self.key = key
    }

    /// - Parameter wantsKey: whether a key is looked for. Where it is not, one that is there is not opened.
    init(_ source: IdentityMaterial, passphrase: Secret?, wantsKey: Bool) throws(IdentityError) {
        switch source {
        case .token(let uri): self = try TokenObjects.read(uri, pin: passphrase)
        case .content(let content) where content.count > IdentityMaterial.limit:
            throw .tooLarge(limit: IdentityMaterial.limit)
        case .content(let content):
            self = try content.withBytes { bytes throws(IdentityError) in
                if bytes.count > 0, bytes[0] == Self.sequence {
                    return try PKCS12File.read(bytes, passphrase: passphrase)
                }
                let hasKey = wantsKey && PrivateKey.isPresent(in: bytes)
                return IdentityContents(
                    certificates: try Self.certificates(in: bytes),
                    key: hasKey ? try PrivateKey(pem: bytes, passphrase: passphrase) : nil)
            }
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
    /// The first byte of DER.
    private static let sequence: UInt8 = 0x30
}

/// Where a certificate or a private key comes from.
public enum IdentityMaterial: Sendable {
    /// A file's content: PEM or PKCS#12.
    case content(Secret)
    /// An object in a token, as a URI of RFC 7512.
    case token(uri: String)

    /// More than any chain, less than what a mistaken path could bring.
    public static let limit = 1024 * 1024
}
