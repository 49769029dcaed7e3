import Authentication
import Crypto
import Synchronization
import TLS

/// Reads certificates with their keys, each anew only when something that belongs to it has changed: a PKCS#12 file
/// takes long to open, and a token locks itself when it is asked with a wrong PIN again and again.
final class IdentityReader: Sendable {
    private let values: ValueReader
    /// The last reading of each credential.
    private let readings = Mutex<[String: Reading]>([:])

    private struct Reading {
        /// Of all that was read.
        let digest: UInt128
        let outcome: Result<Identity, IdentityError>
    }

    init(_ values: ValueReader) { self.values = values }

    func identity(_ configured: ConfiguredIdentity, for credential: String) throws(CredentialError) -> Identity {
        let passphrase = try configured.passphrase.map { source throws(CredentialError) in
            try values.secret(of: source, for: credential)
        }
        let certificate: IdentityMaterial
        var key: IdentityMaterial?
        switch configured.place {
        case .token(let uri): certificate = .token(uri: uri)
        case .files(let path, let keyPath):
            certificate = .content(try values.file(path, limit: IdentityMaterial.limit, for: credential))
            if let keyPath { key = .content(try values.file(keyPath, limit: IdentityMaterial.limit, for: credential)) }
        }
        do throws(IdentityError) {
            return try reading(of: certificate, key, passphrase, for: credential).outcome.get()
        } catch { throw .identity(credential: credential, source: configured.description, error) }
    }

    private func reading(
        of certificate: IdentityMaterial, _ key: IdentityMaterial?, _ passphrase: Secret?, for credential: String
    ) -> Reading {
        let digest = Self.digest(certificate, key, passphrase)
        if let last = readings.withLock({ $0[credential] }), last.digest == digest { return last }
        let outcome: Result<Identity, IdentityError>
        do throws(IdentityError) {
            outcome = .success(try Identity(certificate: certificate, key: key, passphrase: passphrase))
        } catch { outcome = .failure(error) }
        let reading = Reading(digest: digest, outcome: outcome)
        readings.withLock { $0[credential] = reading }
        return reading
    }

    /// Tells inputs apart without keeping them.
    private static func digest(
        _ certificate: IdentityMaterial, _ key: IdentityMaterial?, _ passphrase: Secret?
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

extension Identity: CertificateIdentity {}
