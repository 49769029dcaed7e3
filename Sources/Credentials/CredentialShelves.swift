import Authentication

/// Credentials by protection space and user, one of each space the default: what every storage answers from.
struct CredentialShelves: Sendable {
    /// The credentials of one space.
    private struct Shelf {
        var credentials: [String: Credential] = [:]
        var defaultUser: String?
    }

    private var shelves: [ProtectionSpace: Shelf] = [:]

    func credentials(for space: ProtectionSpace) -> [String: Credential] { shelves[space]?.credentials ?? [:] }

    var all: [ProtectionSpace: [String: Credential]] { shelves.mapValues(\.credentials) }

    func credential(of user: String, for space: ProtectionSpace) -> Credential? { shelves[space]?.credentials[user] }

    func defaultUser(for space: ProtectionSpace) -> String? { shelves[space]?.defaultUser }

    func defaultCredential(for space: ProtectionSpace) -> Credential? {
        guard let shelf = shelves[space], let user = shelf.defaultUser else { return nil }
        return shelf.credentials[user]
    }

    mutating func put(_ credential: Credential, of user: String, for space: ProtectionSpace, asDefault: Bool) {
        shelves[space, default: Shelf()].credentials[user] = credential
        if asDefault { shelves[space]?.defaultUser = user }
    }

    /// Whether there was one.
    mutating func remove(user: String, for space: ProtectionSpace) -> Bool {
        guard var shelf = shelves[space], shelf.credentials.removeValue(forKey: user) != nil else { return false }
        if shelf.defaultUser == user { shelf.defaultUser = nil }
        shelves[space] = shelf.credentials.isEmpty ? nil : shelf
        return true
    }

    /// The changes that lead from `old` to these, in no particular order.
    func changes(since old: CredentialShelves) -> [CredentialChange] {
        var changes: [CredentialChange] = []
        for (space, shelf) in shelves {
            for (user, credential) in shelf.credentials {
                if shelf.defaultUser == user, old.shelves[space]?.defaultUser != user {
                    changes.append(CredentialChange(.madeDefault, space: space, user: user))
                } else if old.shelves[space]?.credentials[user]?.version != credential.version {
                    changes.append(CredentialChange(.set, space: space, user: user))
                }
            }
        }
        for (space, shelf) in old.shelves {
            for user in shelf.credentials.keys where shelves[space]?.credentials[user] == nil {
                changes.append(CredentialChange(.removed, space: space, user: user))
            }
        }
        return changes
    }
}
