import Bytes
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
                if bytes.count > 0, bytes[0] == Self.sequence { return try Self.binary(bytes, passphrase) }
                if var binary = Self.decoded(bytes) {
                    let binary = Secret(wiping: &binary)
                    return try binary.withBytes { bytes throws(IdentityError) in try Self.binary(bytes, passphrase) }
                }
                let hasKey = wantsKey && PrivateKey.isPresent(in: bytes)
                return IdentityContents(
                    certificates: try Self.certificates(in: bytes),
                    key: hasKey ? try PrivateKey(pem: bytes, passphrase: passphrase) : nil)
            }
        }
    }

    /// A certificate in DER, or PKCS#12.
    private static func binary(_ bytes: Span<UInt8>, _ passphrase: Secret?) throws(IdentityError) -> IdentityContents {
        if let certificate = try? Certificate(der: bytes) {
            return IdentityContents(certificates: [certificate], key: nil)
        }
        return try PKCS12File.read(bytes, passphrase: passphrase)
    }

    /// The bytes of base64 in one line or in several, as Azure and Kubernetes deliver PKCS#12; nil for another text, and
    /// for base64 of something else.
    private static func decoded(_ text: Span<UInt8>) -> [UInt8]? {
        // `M` begins every encoding of 0x30.
        guard text.count > 0, text[0] == UInt8(ascii: "M") else { return nil }
        var line: [UInt8] = []
        // Grown in place, it would leave pieces of itself behind.
        line.reserveCapacity(text.count)
        for offset in 0..<text.count where text[offset] > .space { line.append(text[offset]) }
        let digits = Secret(wiping: &line)
        guard let bytes = digits.withBytes({ Base64.decode($0) }), bytes.first == sequence else { return nil }
        return bytes
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
    /// A file's content: PEM, PKCS#12, or one of the two's binary content in base64.
    case content(Secret)
    /// An object in a token, as a URI of RFC 7512.
    case token(uri: String)

    /// More than any chain, less than what a mistaken path could bring.
    public static let limit = 1024 * 1024
}
