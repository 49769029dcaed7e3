import Authentication
import Bytes
import Credentials
import Model

/// Tokens for responses that do not ask for them by a plain challenge: a `401` without any, and one that wants more scopes
/// (RFC 6750 section 3.1).
extension ChallengeLoop {
    /// The challenge that the server left out of its `401`; nil if no rule gives it tokens of an issuer.
    ///
    /// - Returns: a text says why the token that was sent is not replaced.
    func assumedOffer() -> Result<Offer, TokenError>? {
        let (source, sent) = (context.source, preparation.performer.answer)
        guard let (offer, credential) = source.assumedOffer() else { return nil }
        guard let sent else { return .success(offer) }
        let name = credential.version.name
        guard sent.credential.version.isNamed(name) else { return nil }
        guard source.isValid(sent, of: credential, at: context.request.target) else { return .success(offer) }
        return .failure(
            .unannounced(
                "the server refuses the token of credential \(name) without a challenge, and no other is requested while it "
                    + "is valid", isDefinite: false))
    }

    private static let stepUpLimit = 2

    /// Whether the latest response refuses a valid token for its scopes (RFC 6750 section 3.1).
    public var lacksScope: Bool { preparation.performer.scopeChallenge != nil }

    /// Whether the response wants more scopes than the token has, and another token may have them.
    ///
    /// A `401` for that reason refuses no token: `scopeTrouble` says why none is fetched.
    func stepsUp() -> Bool {
        (isStepUp, scopeTrouble) = (false, nil)
        let performer = preparation.performer
        guard let challenge = performer.scopeChallenge, let named = performer.answer.flatMap(announced) else {
            return false
        }
        guard stepUps < Self.stepUpLimit else {
            scopeTrouble = "it was replaced \(Self.stepUpLimit) times for this request"
            return false
        }
        let (target, origin) = (context.request.target, context.challenger.origin)
        switch Discovery.widen(named, by: challenge, at: origin, target: target.readable, in: context.state) {
        case .success:
            stepUps += 1
            isStepUp = true
        case .failure(let error): scopeTrouble = "\(error)"
        }
        return isStepUp
    }

    /// The reason why no other token is fetched for a credential whose scopes do not depend on the server; nil for others.
    var fixedScopes: String? {
        let name = preparation.performer.answer?.credential.version.name
        let named = name.flatMap {
            try? context.policy.credentials.credential(named: $0, for: context.challenger.origin)
        }
        guard let named, named.grant != nil, !named.isAnnounced else { return nil }
        return "its scopes are fixed in the rule file"
    }

    /// The credential of the rule file whose token the answer has, if servers announce its tokens.
    private func announced(_ answer: Answer) -> Credential? {
        guard answer.space.authenticationMethod == .bearer,
            let named = try? context.policy.credentials.credential(
                named: answer.credential.version.name, for: answer.space.origin)
        else { return nil }
        return named.isAnnounced ? named : nil
    }
}
