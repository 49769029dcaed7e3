import Authentication
import Bytes
import Rules
import Telemetry

/// Credentials that answer nothing themselves, but are exchanged for a token that does.
extension ChallengeLoop {
    var tokens: TokenSupply { TokenSupply(upstreams: upstreams, policy: policy) }

    /// The decision with the token in the credential's place. A token that a server refuses is renewed once: it counts
    /// against nobody's account.
    mutating func exchanged(
        _ decision: Authentication.Decision, for challenge: AuthenticationChallenge
    ) async -> Authentication.Decision {
        guard case .useCredential(let credential) = decision.disposition, credential.grant != nil else {
            return decision
        }
        let refused = challenge.previousFailureCount > 0 ? challenge.proposedCredential?.version : nil
        if isOwn {
            guard let token = tokens.current(credential), token.version != refused else {
                explanation = "\(origin.title) wants a token, and none can be fetched through it"
                return Authentication.Decision(.cancelAuthenticationChallenge, reason: decision.reason)
            }
            return Authentication.Decision(.useCredential(token), reason: decision.reason)
        }
        do throws(TokenError) {
            let token = try await tokens.token(for: credential, in: challenge.protectionSpace, besides: refused)
            return Authentication.Decision(
                .useCredential(token), attempts: max(2, decision.attempts), reason: decision.reason)
        } catch {
            let sentence = "credential \(credential.version.name) has no token: \(error)"
            record.details = sentence
            explanation = "\(origin.title) wants a token, and \(sentence)"
            return Authentication.Decision(.cancelAuthenticationChallenge, reason: decision.reason)
        }
    }

    /// The credential, or the token that is given for it.
    func exchanged(_ credential: Credential, for space: ProtectionSpace) async -> Credential? {
        if let current = tokens.current(credential) { return current }
        if isOwn { return nil }
        return try? await tokens.token(for: credential, in: space, besides: nil)
    }

    /// What answers where the space has no authenticator yet, and needs no challenge to have one: with a token in the place
    /// of one that was accepted, which is another value and means the same; or with what an earlier process, or another
    /// one, has seen accepted.
    func successor(in space: KnownSpace, with credential: Credential) -> (any Authenticator)? {
        let method = space.space.authenticationMethod
        switch method {
        case .bearer where credential.token != nil: guard space.knows(credential.version.name) else { return nil }
        case .basic: guard space.hasAccepted(credential.version) else { return nil }
        default: return nil
        }
        let realm = space.space.realm.map { HeaderChallenge.Parameter(name: "realm", value: Array($0.utf8)) }
        let answer = Authentication.Answer(
            space: space.space,
            challenge: HeaderChallenge(scheme: method.rawValue, parameters: realm.map { [$0] } ?? []),
            credential: credential)
        guard let authenticator = try? policy.order.authenticator(for: answer, at: target.readable) else { return nil }
        shared.spaces.remember(authenticator, for: answer, isLasting: isLasting(answer))
        return authenticator
    }
}
