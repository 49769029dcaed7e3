import Bytes
import IO
import Model
import Rules
import TLS

/// The issuers of the rule file's certificates, as far as they can be read without a secret.
enum CertificateIssuers {
    private static let limit = 1 << 20

    /// Returns the issuers by the credential's name, as RFC 4514 text. Those in PKCS#12 files and hardware tokens are
    /// left out.
    static func of(_ configuration: Configuration) -> [String: [String]] {
        var issuers: [String: [String]] = [:]
        for credential in configuration.credentials {
            guard case .identity(.pem(let path, _, _)) = credential.content,
                let text = try? SmallFile.read(path, limit: limit),
                let certificates = try? Certificate.all(in: text.span), !certificates.isEmpty
            else { continue }
            issuers[credential.name] = certificates.compactMap { $0.issuer.map { "\($0)" } }
        }
        return issuers
    }
}
