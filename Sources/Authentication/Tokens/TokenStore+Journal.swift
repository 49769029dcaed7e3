import Bytes
import Crypto
import Model

extension TokenStore {
    /// Stores fetched tokens for other and later processes.
    public protocol Journal: Sendable {
        /// Stores a token. Returns at once; it may be written a little later.
        func fetched(_ token: FetchedToken)
        /// Lets one process at a time fetch with a refresh token. An endpoint that rotates them accepts each one once,
        /// and revokes the whole family if one is used twice (RFC 9700 section 4.14.2).
        func claim(_ renewal: RenewalClaim) async -> RenewalClaim.Outcome
        /// Ends the claimed fetch. The result is written when the call returns, or later if writing fails.
        func ended(
            _ family: RefreshTokenFamily, at rotation: RefreshTokenFamily.Rotation, with token: FetchedToken?
        ) async
    }

    /// A claim to fetch with a refresh token.
    public struct RenewalClaim: Sendable {
        public let grant: CredentialVersion
        public let family: RefreshTokenFamily
        /// The rotation known to this process.
        public var known = RefreshTokenFamily.Rotation.initial
        /// The generation of the last token known to this process.
        public var generation = 0
        /// The current time.
        public let now: WallTime
        /// The time at which the claim expires.
        public let end: WallTime

        public enum Outcome: Sendable {
            /// The process may fetch, with the token of this rotation.
            case granted(RefreshTokenFamily.Rotation)
            /// The token was fetched by another process meanwhile.
            case renewed(FetchedToken)
            /// The claim is held by another process.
            case taken
            /// The refresh token could not be claimed; the text says why.
            case unavailable(String)
        }
    }

    /// A token that was issued for a grant.
    public struct FetchedToken: Sendable {
        /// The grant that the token was issued for.
        public let grant: CredentialVersion
        public let token: Secret
        /// The time at which the token expires.
        public let endsAt: WallTime
        /// The time to fetch the next token.
        public let renewsAt: WallTime
        /// The generation of the rotation that it came with.
        public let generation: Int
        /// Whether the token may be sent to an origin.
        public let isBearer: Bool
        /// The scopes that it was asked for, for a registry's token, which no store keeps; nil for others.
        private(set) var scopes: RegistryScopes?

        public init(
            grant: CredentialVersion, token: Secret, endsAt: WallTime, renewsAt: WallTime, generation: Int = 0,
            isBearer: Bool = true
        ) {
            self.isBearer = isBearer
            self.grant = grant
            self.token = token
            self.endsAt = endsAt
            self.renewsAt = renewsAt
            self.generation = generation
        }

        public init(_ response: TokenResponse, for grant: CredentialVersion, generation: Int = 0, at now: WallTime) {
            let lifetime = response.lifetime ?? Self.usualLifetime
            self.init(
                grant: grant, token: response.token, endsAt: now + lifetime - min(.seconds(5), lifetime / 10),
                renewsAt: now + max(lifetime / 2, lifetime - .minutes(1) - lifetime / 10), generation: generation,
                isBearer: response.isBearer)
            scopes = response.scopes
        }

        /// The lifetime of a token without one.
        private static let usualLifetime: Milliseconds = .hours(1)
    }
}
