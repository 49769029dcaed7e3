/// Answers the challenges of one space with one credential. Shared by all threads; every call is atomic.
public protocol Authenticator: AnyObject, Sendable {
    /// What an answer belongs to, and so who makes it.
    var binding: AuthenticatorBinding { get }

    /// Which targets of the origin may be answered before they challenge.
    var extent: Extent { get }

    /// Whether the challenge is one of those it answers: of its space, and in Digest of its algorithm.
    func answers(_ challenge: HeaderChallenge) -> Bool
}
