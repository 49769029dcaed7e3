/// A table of a store that holds something of its own. What numbers the changes is made anew in a copy.
enum StoreTable: String, Sendable, CaseIterable {
    case credentials = "attache_credentials"
    case refusals = "attache_refusals"
    case spaces = "attache_spaces"
    case tokens = "attache_tokens"

    /// All columns but the number of the change, and the numbers that a table gives its rows.
    var columns: String {
        switch self {
        case .credentials: "\(CredentialTables.space), \"user\", is_default, sealed"
        case .refusals: "\(CredentialTables.space), name, fingerprint"
        case .spaces: "\(CredentialTables.space), extents, accepted, day"
        case .tokens: "name, fingerprint, sealed, ends_at, renews_at"
        }
    }

    var isNumbered: Bool { self != .refusals }

    /// By what rows are in the order in which they were written, where that matters.
    var order: String { self == .refusals ? " ORDER BY number" : "" }
}
