import Authentication
import Database

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

/// Whose credential it is, and for which space.
struct CredentialPlace: Hashable, Sendable {
    let space: ProtectionSpace
    let user: String
}
