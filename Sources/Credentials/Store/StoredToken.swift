import Authentication
import Crypto

/// A row of a store's tokens.
struct StoredToken: Sendable {
    let grant: CredentialVersion
    /// The token under the store's data key, for this grant only.
    let sealed: [UInt8]
    /// Milliseconds since 1970.
    let endsAt: Int
    let renewsAt: Int

    init(_ token: FetchedToken, sealedWith key: SealingKey) throws(CryptoError) {
        let context = Self.context(token.grant)
        sealed = try key.seal(token.token, for: context.span)
        grant = token.grant
        endsAt = token.endsAt
        renewsAt = token.renewsAt
    }

    init(grant: CredentialVersion, sealed: [UInt8], endsAt: Int, renewsAt: Int) {
        self.grant = grant
        self.sealed = sealed
        self.endsAt = endsAt
        self.renewsAt = renewsAt
    }

    /// Nil for a row that is another's, or was changed outside.
    func token(openedWith key: SealingKey) -> FetchedToken? {
        let context = Self.context(grant)
        guard let token = try? key.open(sealed.span, for: context.span) else { return nil }
        return FetchedToken(grant: grant, token: token, endsAt: endsAt, renewsAt: renewsAt)
    }

    private static func context(_ grant: CredentialVersion) -> [UInt8] {
        Array("attache token \(grant.fingerprint) \(grant.name)".utf8)
    }
}
