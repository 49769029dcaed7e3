import Authentication
import Bytes
import Crypto
import Model
import Synchronization
import TLS

/// Reads certificates with their keys, each again only when one of its sources has changed. A PKCS#12 file takes long
/// to open, and a token locks itself after repeated wrong PINs.
final class IdentityReader: Sendable {
    private let values: ValueReader
    /// The last result for each credential.
    private let readings = Mutex<[ExactText: Reading]>([:])

    private struct Reading {
        /// The digest of all that was read.
        let digest: UInt128
        let outcome: Result<Identity, Identity.Failure>
    }

    init(_ values: ValueReader) { self.values = values }

    func identity(_ source: CredentialSource.Identity, for credential: String) throws(CredentialError) -> Identity {
        let passphrase = try values.secret(ofOptional: source.passphrase, for: credential)
        let certificate: Identity.Material
        var key: Identity.Material?
        switch source {
        case .pem(let path, let keyPath, _):
            certificate = try content(of: path, for: credential)
            key = try content(of: keyPath, for: credential)
        case .pkcs12(let path, _): certificate = try content(of: path, for: credential)
        case .pkcs11(let uri, _): certificate = .token(uri: uri)
        }
        do throws(Identity.Failure) {
            return try reading(of: certificate, key, passphrase, for: credential).outcome.get()
        } catch { throw .identity(credential: credential, source: source.words, error) }
    }

    private func content(of path: String, for credential: String) throws(CredentialError) -> Identity.Material {
        .content(try values.file(path, limit: Identity.Material.limit, for: credential))
    }

    private func reading(
        of certificate: Identity.Material, _ key: Identity.Material?, _ passphrase: Secret?,
        for credential: String
    ) -> Reading {
        let digest = Self.digest(certificate, key, passphrase)
        if let last = readings.withLock({ $0[ExactText(credential)] }), last.digest == digest { return last }
        let outcome = Result { () throws(Identity.Failure) in
            try Identity(certificate: certificate, key: key, passphrase: passphrase)
        }
        let reading = Reading(digest: digest, outcome: outcome)
        readings.withLock { $0[ExactText(credential)] = reading }
        return reading
    }

    /// A digest to compare inputs without keeping them.
    private static func digest(
        _ certificate: Identity.Material, _ key: Identity.Material?, _ passphrase: Secret?
    ) -> UInt128 {
        var message = MessageDigest(.sha256)
        for part in [certificate, key] {
            switch part {
            case nil: message.update("-")
            case .token(let uri): message.update(utf8: "pkcs11 \(uri) ")
            case .content(let bytes):
                message.update(utf8: "file \(bytes.count) ")
                bytes.withBytes { message.update($0) }
            }
        }
        passphrase?.withBytes { message.update($0) }
        return message.finish().prefix128
    }
}

extension CredentialSource.Identity {
    /// The source as part of a sentence.
    fileprivate var words: String {
        switch self {
        case .pem(let certificate, let key, _): "\(certificate) with \(key)"
        case .pkcs12(let path, _): path
        case .pkcs11(let uri, _): uri
        }
    }
}

extension Identity: CertificateIdentity {}
