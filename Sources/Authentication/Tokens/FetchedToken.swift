import Crypto

/// A token that was given for a grant.
public struct FetchedToken: Sendable {
    /// The grant it was given for.
    public let grant: CredentialVersion
    public let token: Secret
    /// When it is not to be used any more, in milliseconds since 1970.
    public let endsAt: Int
    /// When it is time for the next, likewise.
    public let renewsAt: Int

    public init(grant: CredentialVersion, token: Secret, endsAt: Int, renewsAt: Int) {
        self.grant = grant
        self.token = token
        self.endsAt = endsAt
        self.renewsAt = renewsAt
    }
}
