import Authentication
import Bytes
import HTTP
import IO
import Model

/// Tokens of registries (the CNCF distribution project's token authentication). The rule file names the token server and
/// the scopes that may be asked for; the registry names, within these, the scopes for each request.
extension TokenSupply {
    /// The token that the registry asks for, or a known one that has more scopes.
    ///
    /// - Parameters:
    ///   - place: the part of the registry that the request is about.
    ///   - sent: the credential that the request was sent with; nil if none.
    ///   - refused: a token that the registry just refused.
    func registryToken(
        _ credential: Credential, for challenge: AuthenticationChallenge, at place: RegistryPlace,
        after sent: Credential?, besides refused: CredentialVersion?
    ) throws(TokenError) -> AnswerSource.WantedToken {
        let space = challenge.protectionSpace
        guard let grant = credential.grant, case .registry(let named) = grant.server, !space.isProxy,
            let bearer = challenge.failureResponse?.challenges.first(where: { $0.scheme == "bearer" })
        else { throw .unannounced("the server is no registry", isDefinite: false) }
        let wish = try RegistryChallenge(bearer, from: space.origin, named: named)
        let ceiling = grant.scopes.compactMap { RegistryScope($0.utf8, isPattern: true) }
        let scopes = try wish.scopes.allowed(within: ceiling, after: sent?.registryScopes)
        let asked = grant.asked(at: wish.server, service: wish.service, scopes: scopes)
        let known = state.registries.covering(scopes, as: asked, for: credential.version, at: space.origin)
        let wider = known.first { known in
            guard let token = state.current(known.exact, at: loop.wallTime) else { return false }
            return token.version != refused && token.version != sent?.version
        }
        let exact =
            wider?.exact
            ?? Credential(name: credential.version.name, grant: asked, persistence: credential.persistence)
        state.registries.put(exact, wider?.scopes ?? scopes, for: credential.version, at: space.origin, place)
        return AnswerSource.WantedToken(for: credential, exactly: exact, in: space)
    }
}

extension RegistryPlace {
    public init(of method: Method, at target: Span<UInt8>) {
        let kind: Kind =
            switch method {
            case .get, .head, .options, .trace, .track: .read
            case .delete: .delete
            case .post, .put, .patch, .connect, .extension: .write
            }
        self.init(kind, target)
    }
}

extension Credential {
    /// The scopes that a registry's grant asks for; nil for other credentials.
    var registryWish: RegistryScopes? {
        guard isRegistry, let grant else { return nil }
        return RegistryScopes(grant.scopes.joined(separator: " ").utf8)
    }
}
