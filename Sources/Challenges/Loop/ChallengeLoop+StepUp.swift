import Authentication
import Bytes
import Credentials
import HTTP
import Model

/// Tokens with more scopes (RFC 6750 section 3.1).
extension ChallengeLoop {
    private static let stepUpLimit = 2

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

    /// The credential of the rule file whose token the answer has, if servers announce its tokens.
    private func announced(_ answer: Answer) -> Credential? {
        guard answer.space.authenticationMethod == .bearer,
            let named = try? context.policy.credentials.credential(named: answer.credential.version.name)
        else { return nil }
        return named.isAnnounced ? named : nil
    }
}
