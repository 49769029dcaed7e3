import Authentication
import Model
import TLS

/// Reads the keys that sign requests.
struct SigningKeyReader {
    let values: ValueReader

    func key(_ source: SignatureSource, for credential: String) throws(CredentialError) -> SigningKey {
        switch source {
        case .aws(let source): .aws(try aws(source, for: credential))
        case .oauth1(let source): .oauth1(try oauth1(source, for: credential))
        case .message(let source): .message(try message(source, for: credential))
        }
    }

    private func aws(
        _ source: SignatureSource.AWS, for credential: String
    ) throws(CredentialError) -> SigningKey.AWS {
        guard case .values(let access, let secret, let token) = source.keys else {
            throw .notRead(credential: credential)
        }
        return SigningKey.AWS(
            region: source.region, service: source.service, accessKey: try values.text(of: access, for: credential),
            secretKey: try values.secret(of: secret, for: credential),
            sessionToken: try values.secret(ofOptional: token, for: credential), signsPayload: source.signsPayload)
    }

    private func oauth1(
        _ source: SignatureSource.OAuth1, for credential: String
    ) throws(CredentialError) -> SigningKey.OAuth1 {
        let proof: SigningKey.OAuth1.Proof
        switch source.proof {
        case .secret(let secret): proof = .secret(try values.secret(of: secret, for: credential))
        case .key(let path, let passphrase):
            let key = try privateKey(path, passphrase, for: credential)
            guard key.signsByRSA,
                let signer = Signer(
                    key, algorithm: SignatureSource.OAuth1Method.rsaSHA1.name, by: PrivateKey.rsaSHA1Signature)
            else {
                throw .identity(
                    credential: credential, source: path, .wrongKind(wanted: "an RSA key of 1024 bits or more"))
            }
            proof = .key(signer)
        }
        var token: SigningKey.OAuth1.Token?
        if let source = source.token {
            token = SigningKey.OAuth1.Token(
                identifier: try values.text(of: source.identifier, for: credential),
                secret: try values.secret(ofOptional: source.secret, for: credential))
        }
        return SigningKey.OAuth1(
            method: source.method, consumerKey: try values.text(of: source.consumerKey, for: credential), proof: proof,
            token: token, realm: source.realm, signsPayload: source.signsPayload)
    }

    private func message(
        _ source: SignatureSource.Message, for credential: String
    ) throws(CredentialError) -> SigningKey.Message {
        let key = try privateKey(source.key, source.passphrase, for: credential)
        guard let publicKey = key.ed25519PublicKey,
            let signer = Signer(key, algorithm: "ed25519", by: PrivateKey.ed25519Signature)
        else {
            throw .identity(credential: credential, source: source.key, .wrongKind(wanted: "an Ed25519 key"))
        }
        return SigningKey.Message(signer, publicKey: publicKey, agent: source.agent)
    }

    private func privateKey(
        _ path: String, _ passphrase: ValueSource?, for credential: String
    ) throws(CredentialError) -> PrivateKey {
        let pem = try values.file(path, limit: Identity.Material.limit, for: credential)
        let secret = try values.secret(ofOptional: passphrase, for: credential)
        return try values.privateKey(pem, at: path, secret, for: credential)
    }

    /// A private key with the one algorithm that it signs assertions or requests by.
    final class Signer: AssertionSigner {
        let algorithm: String
        let fingerprint: UInt128
        private let key: PrivateKey
        private let sign: @Sendable (PrivateKey) -> ([UInt8]) -> [UInt8]?

        /// Nil if the key has no public part that can be read.
        init?(_ key: PrivateKey, algorithm: String, by sign: @escaping @Sendable (PrivateKey) -> ([UInt8]) -> [UInt8]?)
        {
            guard let fingerprint = try? key.publicFingerprint() else { return nil }
            self.algorithm = algorithm
            self.fingerprint = fingerprint
            self.key = key
            self.sign = sign
        }

        func signature(of bytes: [UInt8]) -> [UInt8]? { sign(key)(bytes) }
    }
}
