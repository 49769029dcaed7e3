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
    private let keys = Mutex<[ExactText: (digest: UInt128, key: SigningKeyReader.Signer)]>([:])

    init(_ values: ValueReader, identities: IdentityReader) {
        self.values = values
        self.identities = identities
    }

    func grant(_ source: CredentialSource.OAuth, for credential: String) throws(CredentialError) -> TokenGrant {
        let kind: TokenGrant.Kind =
            switch source.grant {
            case .clientCredentials: .clientCredentials
            case .refreshToken(let token): .refreshToken(try values.secret(of: token, for: credential))
            case .assertion(let token): .assertion(try input(token, for: credential))
            case .signed(let path, let passphrase, let id, let audience, let subject):
                .signed(
                    try key(path, passphrase: passphrase, for: credential, as: .assertion), id: id, audience: audience,
                    subject: subject)
            case .exchange(let subject, let actor, let requested):
                .exchange(
                    subject: try input(subject, for: credential),
                    actor: try actor.map { actor throws(CredentialError) in try input(actor, for: credential) },
                    requested: requested)
            }
        var parameters: [(name: String, value: Secret)] = []
        for parameter in source.parameters {
            parameters.append((parameter.name, try values.secret(of: parameter.value, for: credential)))
        }
        var grant = TokenGrant(
            server: source.server, clientID: source.clientID,
            proof: try proof(source.proof, for: credential), kind: kind, scopes: source.scopes,
            audience: source.audience)
        grant.resource = source.resource
        grant.parameters = parameters
        return grant
    }

    /// A file is read when a request needs it: another program may write it later, and does so again and again.
    private func input(_ source: TokenSource, for credential: String) throws(CredentialError) -> TokenGrant.Input {
        switch source.origin {
        case .credential(let name): return TokenGrant.Input(.credential(name), type: source.type)
        case .value(.file(let path)):
            return TokenGrant.Input(
                .file(GrantReader.InputFile(path: path, values: values, credential: credential)), type: source.type)
        case .value(let value):
            return TokenGrant.Input(.secret(try values.secret(of: value, for: credential)), type: source.type)
        }
    }

    private func proof(
        _ proof: CredentialSource.OAuth.Proof, for credential: String
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
            .key(try key(path, passphrase: passphrase, for: credential, as: .client), id: id, audience: audience)
        case .assertion(let source): .assertion(try input(source, for: credential))
        }
    }

    /// The use of a key: a credential may have one for each.
    private enum KeyUse { case client, assertion }

    private func key(
        _ path: String, passphrase: ValueSource?, for credential: String, as use: KeyUse
    ) throws(CredentialError) -> SigningKeyReader.Signer {
        let name = ExactText("\(use) \(credential)")
        let pem = try values.file(path, limit: Identity.Material.limit, for: credential)
        let secret = try values.secret(ofOptional: passphrase, for: credential)
        let digest = pem.withBytes { MessageDigest.digest(.sha256, of: $0).prefix128 }
        if let known = keys.withLock({ $0[name] }), known.digest == digest { return known.key }
        let key = try values.privateKey(pem, at: path, secret, for: credential)
        // No token endpoint supports the signatures of a key without such an algorithm.
        guard let algorithm = key.assertionAlgorithm,
            let signer = SigningKeyReader.Signer(key, algorithm: algorithm, by: PrivateKey.assertionSignature)
        else { throw .identity(credential: credential, source: path, .unreadableKey) }
        keys.withLock { $0[name] = (digest, signer) }
        return signer
    }

    /// A file with a token of another program.
    fileprivate struct InputFile: TokenGrant.File {
        let path: String
        let values: ValueReader
        let credential: String

        func read() throws(TokenGrant.FileFailure) -> Secret {
            do throws(CredentialError) { return try values.secret(of: .file(path), for: credential) } catch {
                throw TokenGrant.FileFailure("\(error)")
            }
        }
    }
}
