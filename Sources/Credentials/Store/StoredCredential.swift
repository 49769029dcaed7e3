import Authentication
import Bytes
import Crypto
import Database
import Model

/// A row of a credential database: everything but the secret can be read there.
struct StoredCredential: Sendable, Hashable {
    let space: ProtectionSpace
    let user: String
    var isDefault: Bool
    /// The secret under the store's data key, for this space and user only.
    let sealed: [UInt8]

    /// The kind of secret in the box.
    private static let password = UInt8(ascii: "p")

    init(space: ProtectionSpace, user: String, isDefault: Bool, sealed: [UInt8]) {
        self.space = space
        self.user = user
        self.isDefault = isDefault
        self.sealed = sealed
    }

    /// Nil when the credential is none that a store keeps.
    init?(
        _ credential: Credential, for space: ProtectionSpace, isDefault: Bool, sealedWith key: SealingKey
    ) throws(CryptoError) {
        guard let user = credential.user, let password = credential.password else { return nil }
        var content: [UInt8] = []
        // An array that grows leaves what it held where it stood.
        content.reserveCapacity(1 + password.count)
        content.append(Self.password)
        password.withBytes { bytes in
            for offset in 0..<bytes.count { content.append(bytes[offset]) }
        }
        let context = Self.context(space, user: user)
        sealed = try key.seal(Secret(wiping: &content), for: context.span)
        self.space = space
        self.user = user
        self.isDefault = isDefault
    }

    /// - Throws: `notOurs` when the row is another's, or was changed outside.
    func credential(openedWith key: SealingKey) throws(CryptoError) -> Credential {
        let context = Self.context(space, user: user)
        let content = try key.open(sealed.span, for: context.span)
        let password: Secret? = content.withBytes { bytes in
            bytes.count > 0 && bytes[0] == Self.password ? Secret(bytes.extracting(1..<bytes.count)) : nil
        }
        guard let password else { throw .notOurs }
        return Credential(
            name: space.credentialName(of: user), user: user, password: password, persistence: .permanent,
            fingerprint: Self.fingerprint(of: sealed), principal: KerberosTickets(user, .password(password)))
    }

    var version: CredentialVersion {
        CredentialVersion(name: space.credentialName(of: user), fingerprint: Self.fingerprint(of: sealed))
    }

    /// Tells a box from every other: also from one with the same password that was set later, which deserves another try.
    static func fingerprint(of sealed: [UInt8]) -> UInt128 { SealingKey.tag(of: sealed.span) ?? 0 }

    /// Space and user as one text that no other space and user have.
    private static func context(_ space: ProtectionSpace, user: String) -> [UInt8] {
        let parts = [
            space.protocol.rawValue, space.isProxy ? "proxy" : "origin", space.host, String(space.port),
            space.realm ?? "", space.realm == nil ? "no realm" : "realm", space.authenticationMethod.rawValue, user,
        ]
        return Array(parts.map { "\($0.utf8.count):\($0)" }.joined().utf8)
    }
}

/// A row of a store's credentials that this version cannot read, by name: it is left out, and all others count.
struct UnreadableCredential: Error, Hashable, Sendable {
    let user: String
    let host: String
    /// A sentence about the row.
    let cause: String
    /// The space and the user, where only the rest of the row cannot be read.
    let place: CredentialPlace?

    /// Letters of a name that are shown.
    private static let length = 80

    init(_ row: some DatabaseRow, _ cause: String, place: CredentialPlace? = nil) {
        user = String(row.words(6).prefix(Self.length))
        host = String(row.words(0).prefix(Self.length))
        self.cause = cause
        self.place = place
    }

    /// One report of several rows.
    static func report(_ rows: [UnreadableCredential]) -> String {
        let shown = rows.prefix(shownCount).map { "that of \($0.user) for \($0.host), since \($0.cause)" }
        let rest = rows.count - shown.count
        let end = rest > 0 ? "; and \(rest) more" : ""
        let count = rows.count == 1 ? "a credential" : "\(rows.count) credentials"
        return "\(count) in the store cannot be read and will not be used: \(shown.joined(separator: "; "))\(end)"
    }

    private static let shownCount = 8
}

/// The user of a credential, and its space.
struct CredentialPlace: Hashable, Sendable {
    let space: ProtectionSpace
    let user: String
}
