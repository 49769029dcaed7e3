import Authentication
import Bytes
import Crypto
import Database
import Model

/// A row of a credential database: everything but the secret is readable.
struct StoredCredential: Sendable {
    let space: ProtectionSpace
    let user: String
    var isDefault: Bool
    /// The secret sealed with the store's data key, for this space and user only.
    let sealed: [UInt8]
    /// The host as spelled in the row, to which the secret is bound. Earlier versions used the user's spelling.
    let spelledHost: String

    /// - Parameter host: the host as spelled in the row; nil: canonically.
    init(space: ProtectionSpace, spelled host: String? = nil, user: String, isDefault: Bool, sealed: [UInt8]) {
        self.space = space
        spelledHost = host ?? space.host
        self.user = user
        self.isDefault = isDefault
        self.sealed = sealed
    }

    /// Nil if a store does not keep this kind of credential.
    init?(
        _ credential: Credential, for space: ProtectionSpace, isDefault: Bool, sealedWith key: SealingKey
    ) throws(CryptoError) {
        guard let name = credential.storedName(for: space),
            let content = StoredCredential.Content.secret(of: credential)
        else {
            return nil
        }
        sealed = try key.seal(content, for: Self.context(space, spelled: space.host, user: name).span)
        self.space = space
        spelledHost = space.host
        user = name
        self.isDefault = isDefault
    }

    /// - Throws: `notOurs` if the row is another one's, or was changed outside.
    func credential(openedWith key: SealingKey) throws(CryptoError) -> Credential {
        let secret = try key.open(sealed.span, for: Self.context(space, spelled: spelledHost, user: user).span)
        guard let content = StoredCredential.Content.content(in: secret, of: user, for: space) else { throw .notOurs }
        return Credential(content: content, keptAs: user, for: space, fingerprint: Self.fingerprint(of: sealed))
    }

    /// Whether the row has the host in its canonical spelling, by which rows are found.
    var isSpelledCanonically: Bool { spelledHost.utf8.elementsEqual(space.host.utf8) }

    /// The credential in a row with the canonical spelling.
    ///
    /// - Throws: the errors of `credential(openedWith:)`.
    func respelled(sealedWith key: SealingKey) throws(CryptoError) -> StoredCredential {
        let secret = try key.open(sealed.span, for: Self.context(space, spelled: spelledHost, user: user).span)
        let box = try key.seal(secret, for: Self.context(space, spelled: space.host, user: user).span)
        return StoredCredential(space: space, user: user, isDefault: isDefault, sealed: box)
    }

    /// The kind of its secret.
    var kind: CredentialKind { space.authenticationMethod.storedKind }

    var version: CredentialVersion {
        CredentialVersion(name: space.credentialName(of: user), fingerprint: Self.fingerprint(of: sealed))
    }

    /// Identifies a box: a later one with the same password differs, and deserves another try.
    static func fingerprint(of sealed: [UInt8]) -> UInt128 { SealingKey.tag(of: sealed.span) ?? 0 }

    /// The space and the user as one text, unique for each pair.
    static func context(_ space: ProtectionSpace, spelled host: String, user: String) -> [UInt8] {
        let parts = [
            space.protocol.rawValue, space.isProxy ? "proxy" : "origin", host, String(space.port),
            space.realm ?? "", space.realm == nil ? "no realm" : "realm", space.authenticationMethod.rawValue, user,
        ]
        return Array(parts.map { "\($0.utf8.count):\($0)" }.joined().utf8)
    }

    /// A row of a store's credentials that this version cannot read. It is omitted, and all others count.
    struct Unreadable: Error, Sendable {
        let user: String
        let host: String
        /// A sentence about the row.
        let cause: String
        /// The space and the user, if only the rest of the row cannot be read.
        let place: StoredCredential.Place?

        /// The limit of a name in characters.
        private static let length = 80

        init(_ row: some DatabaseRow, _ cause: String, place: StoredCredential.Place? = nil) {
            user = String(row.words(6).prefix(Self.length))
            host = String(row.words(0).prefix(Self.length))
            self.cause = cause
            self.place = place
        }

        /// One report about several rows.
        static func report(_ rows: [StoredCredential.Unreadable]) -> String {
            let shown = rows.prefix(shownCount).map { "that of \($0.user) for \($0.host), because \($0.cause)" }
            let rest = rows.count - shown.count
            let end = rest > 0 ? "; and \(rest) more" : ""
            let count = rows.count == 1 ? "a credential" : "\(rows.count) credentials"
            return "\(count) in the store cannot be read and will not be used: \(shown.joined(separator: "; "))\(end)"
        }

        private static let shownCount = 8
    }

    /// The user of a credential, and its space.
    struct Place: Hashable, Sendable {
        let space: ProtectionSpace
        private let exactUser: ExactText

        init(space: ProtectionSpace, user: String) {
            self.space = space
            exactUser = ExactText(user)
        }

        var user: String { exactUser.text }
    }
}
