import Crypto

/// Keeps fetched tokens for other processes and for later ones.
public protocol TokenJournal: Sendable {
    /// Returns at once; the token may be written a little later.
    func fetched(_ token: FetchedToken)
    /// Lets one process at a time fetch with a refresh token: an endpoint that rotates them takes each one once, and ends
    /// the whole family when one comes twice (RFC 9700 section 4.14.2).
    func claim(_ renewal: TokenRenewalClaim) async -> TokenRenewalClaim.Outcome
    /// The claimed fetch is over. It is written when the call returns, or later where that fails.
    func ended(
        _ family: RefreshTokenFamily, at rotation: RefreshTokenRotation, with token: FetchedToken?
    ) async
}

/// A claim to fetch with a refresh token.
public struct TokenRenewalClaim: Sendable {
    public let grant: CredentialVersion
    public let family: RefreshTokenFamily
    /// The rotation that this process knows of.
    public let known: RefreshTokenRotation
    /// The generation of the last token that it had.
    public let generation: Int
    /// Milliseconds since 1970.
    public let now: Int
    /// When the claim ends by itself, likewise.
    public let end: Int

    public init(
        grant: CredentialVersion, family: RefreshTokenFamily, known: RefreshTokenRotation = .initial,
        generation: Int = 0, now: Int, end: Int
    ) {
        self.grant = grant
        self.family = family
        self.known = known
        self.generation = generation
        self.now = now
        self.end = end
    }

    public enum Outcome: Sendable {
        /// The process may, with the token of this rotation.
        case granted(RefreshTokenRotation)
        /// Another process has fetched a token meanwhile.
        case renewed(FetchedToken)
        /// Another process is about to fetch one.
        case taken
        /// Nobody knows; the text says why.
        case unavailable(String)
    }
}

/// A token that was given for a grant.
public struct FetchedToken: Sendable {
    /// The grant it was given for.
    public let grant: CredentialVersion
    public let token: Secret
    /// When it is not to be used any more, in milliseconds since 1970.
    public let endsAt: Int
    /// When it is time for the next, likewise.
    public let renewsAt: Int
    /// The one of the rotation that it came with.
    public let generation: Int

    public init(grant: CredentialVersion, token: Secret, endsAt: Int, renewsAt: Int, generation: Int = 0) {
        self.grant = grant
        self.token = token
        self.endsAt = endsAt
        self.renewsAt = renewsAt
        self.generation = generation
    }

    /// - Parameter now: milliseconds since 1970.
    public init(_ response: TokenResponse, for grant: CredentialVersion, generation: Int = 0, at now: Int) {
        let lifetime = response.lifetime ?? Self.usualLifetime
        self.init(
            grant: grant, token: response.token, endsAt: now + lifetime - min(5_000, lifetime / 10),
            renewsAt: now + max(lifetime / 2, lifetime - 60_000 - lifetime / 10), generation: generation)
    }

    /// The life of a token without a time.
    private static let usualLifetime = 3_600_000
}
