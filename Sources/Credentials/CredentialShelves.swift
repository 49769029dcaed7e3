import Authentication

/// Credentials by protection space and user, one of each space the default: what every storage answers from.
struct CredentialShelves: Sendable {
    /// The credentials of one space.
    private struct Shelf {
        var credentials: [String: Credential] = [:]
        var defaultUser: String?
    }

    private var shelves: [ProtectionSpace: Shelf] = [:]
    /// How many spaces of each have a shelf.
    private var origins: [Origin: Int] = [:]

    func credentials(for space: ProtectionSpace) -> [String: Credential] { shelves[space]?.credentials ?? [:] }

    var all: [ProtectionSpace: [String: Credential]] { shelves.mapValues(\.credentials) }

    func credential(of user: String, for space: ProtectionSpace) -> Credential? { shelves[space]?.credentials[user] }

    func serves(_ origin: Origin) -> Bool { origins[origin] != nil }

    func defaultCredential(for space: ProtectionSpace) -> Credential? {
        guard let shelf = shelves[space], let user = shelf.defaultUser else { return nil }
        return shelf.credentials[user]
    }

    mutating func put(_ credential: Credential, of user: String, for space: ProtectionSpace, asDefault: Bool) {
        if shelves[space] == nil { origins[space.origin, default: 0] += 1 }
        shelves[space, default: Shelf()].credentials[user] = credential
        if asDefault { shelves[space]?.defaultUser = user }
    }

    /// Whether there was one.
    mutating func remove(user: String, for space: ProtectionSpace) -> Bool {
        guard var shelf = shelves[space], shelf.credentials.removeValue(forKey: user) != nil else { return false }
        if shelf.defaultUser == user { shelf.defaultUser = nil }
        shelves[space] = shelf
        if shelf.credentials.isEmpty {
            shelves[space] = nil
            let others = (origins[space.origin] ?? 1) - 1
            origins[space.origin] = others > 0 ? others : nil
        }
        return true
    }
}
