import Authentication
import Bytes
import Crypto
import Model
import Synchronization
import TLS

/// Reads the grants of tokens. A key is opened again only when its file has changed.
final class GrantReader: Sendable {
    private let values: ValueReader
    private let identities: IdentityReader
    private let keys = Mutex<[ExactText: (digest: UInt128, key: GrantReader.KeySigner)]>([:])

    init(_ values: ValueReader, identities: IdentityReader) {
        self.values = values
        self.identities = identities
    }

    func grant(_ source: OAuthSource, for credential: String) throws(CredentialError) -> TokenGrant {
        let kind: TokenGrant.Kind =
            switch source.grant {
            case .clientCredentials: .clientCredentials
            case .refreshToken(let token): .refreshToken(try values.secret(of: token, for: credential))
            case .assertion(let token): .assertion(try values.secret(of: token, for: credential))
            }
        return TokenGrant(
            server: source.server, clientID: source.clientID,
            proof: try proof(source.proof, for: credential), kind: kind, scopes: source.scopes,
            audience: source.audience)
    }

    private func proof(
        _ proof: OAuthSource.Proof, for credential: String
    ) throws(CredentialError) -> TokenGrant.Proof {
        switch proof {
        case .none: .none
        case .secret(let source, let inBody):
            .secret(try values.secret(of: source, for: credential), inBody: inBody)
        case .certificate(let path, let key, let passphrase):
            .certificate(
                try identities.identity(
                    .pem(certificate: path, key: key, passphrase: passphrase), for: credential))
        case .key(let path, let passphrase, let id, let audience):
            .key(try key(path, passphrase: passphrase, for: credential), id: id, audience: audience)
        }
    }

    private func key(
        _ path: String, passphrase: ValueSource?, for credential: String
    ) throws(CredentialError) -> GrantReader.KeySigner {
        let pem = try values.file(path, limit: IdentityMaterial.limit, for: credential)
        var secret: Secret?
        if let passphrase { secret = try values.secret(of: passphrase, for: credential) }
        let digest = pem.withBytes { MessageDigest.digest(.sha256, of: $0).prefix128 }
        if let known = keys.withLock({ $0[ExactText(credential)] }), known.digest == digest { return known.key }
        let key: PrivateKey
        do throws(IdentityError) {
            key = try pem.withBytes { bytes throws(IdentityError) in try PrivateKey(pem: bytes, passphrase: secret) }
        } catch { throw .identity(credential: credential, source: path, error) }
        guard let signer = GrantReader.KeySigner(key) else {
            throw .identity(credential: credential, source: path, .unreadableKey)
        }
        keys.withLock { $0[ExactText(credential)] = (digest, signer) }
        return signer
    }
}

extension GrantReader {
    /// A private key by which a client authenticates at a token endpoint.
    fileprivate final class KeySigner: AssertionSigner {
        let algorithm: String
        let fingerprint: UInt128
        private let key: PrivateKey

        /// Nil for a key whose signatures no token endpoint supports.
        init?(_ key: PrivateKey) {
            guard let algorithm = key.assertionAlgorithm, let fingerprint = try? key.publicFingerprint() else {
                return nil
            }
            self.algorithm = algorithm
            self.fingerprint = fingerprint
            self.key = key
        }

        func signature(of bytes: [UInt8]) -> [UInt8]? { key.assertionSignature(of: bytes) }
    }
}
