import Bytes
import COpenSSL
import Crypto

extension Identity {
    /// The content of one source: certificates, a key, or both.
    struct Contents {
        var certificates: [Certificate] = []
        var key: PrivateKey?

        init(certificates: [Certificate], key: PrivateKey?) {
            self.certificates = certificates
            self.key = key
        }

        /// - Parameter wantsKey: whether to read a key. If false, a key in the source is not opened.
        init(_ source: Material, passphrase: Secret?, wantsKey: Bool) throws(Identity.Failure) {
            switch source {
            case .token(let uri): self = try TokenObjects.read(uri, pin: passphrase)
            case .content(let content) where content.count > Material.limit:
                throw .tooLarge(limit: Material.limit)
            case .content(let content):
                self = try content.withBytes { bytes throws(Identity.Failure) in
                    if bytes.count > 0, bytes[0] == Self.sequence { return try Self.binary(bytes, passphrase) }
                    if var binary = Self.decoded(bytes) {
                        let binary = Secret(wiping: &binary)
                        return try binary.withBytes { bytes throws(Identity.Failure) in
                            try Self.binary(bytes, passphrase)
                        }
                    }
                    let hasKey = wantsKey && PrivateKey.isPresent(in: bytes)
                    return Identity.Contents(
                        certificates: try Self.certificates(in: bytes),
                        key: hasKey ? try PrivateKey(pem: bytes, passphrase: passphrase) : nil)
                }
            }
        }

        /// A certificate in DER, or PKCS#12.
        private static func binary(_ bytes: Span<UInt8>, _ passphrase: Secret?) throws(Identity.Failure)
            -> Identity.Contents
        {
            if let certificate = try? Certificate(der: bytes) {
                return Identity.Contents(certificates: [certificate], key: nil)
            }
            return try PKCS12File.read(bytes, passphrase: passphrase)
        }

        /// The bytes of base64 in one line or several, as Azure and Kubernetes deliver PKCS#12. Nil for any other text,
        /// and for base64 of other content.
        private static func decoded(_ text: Span<UInt8>) -> [UInt8]? {
            // Every encoding of 0x30 begins with `M`.
            guard text.count > 0, text[0] == UInt8(ascii: "M") else { return nil }
            var line: [UInt8] = []
            // Reserved at once, since growing would leave copies of the secret in memory.
            line.reserveCapacity(text.count)
            for offset in 0..<text.count where text[offset] > .space { line.append(text[offset]) }
            let digits = Secret(wiping: &line)
            guard let bytes = digits.withBytes({ Base64.decode($0) }), bytes.first == sequence else { return nil }
            return bytes
        }

        private static func certificates(in pem: Span<UInt8>) throws(Identity.Failure) -> [Certificate] {
            do throws(Certificate.Failure) {
                return try Certificate.all(inPEM: pem, limit: certificateLimit)
            } catch {
                switch error {
                case .none: return []
                case .malformedBlock(let number): throw .damagedCertificate(number)
                case .malformed, .tooLarge: throw .noCertificate
                }
            }
        }

        /// The limit of certificates. Peers accept fewer.
        private static let certificateLimit = 100
        /// The first byte of DER.
        private static let sequence: UInt8 = 0x30
    }

    /// The source of a certificate or a private key.
    public enum Material: Sendable {
        /// The content of a file: PEM, PKCS#12, or one of their binary forms in base64.
        case content(Secret)
        /// An object in a token, as a URI of RFC 7512.
        case token(uri: String)

        /// The limit in bytes: more than any chain needs, less than a mistaken path could deliver.
        public static let limit = 1024 * 1024
    }
}
