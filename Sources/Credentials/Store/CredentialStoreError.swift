import Database

/// Why a credential store cannot be opened. Nothing in it was touched.
public enum CredentialStoreError: Error, Sendable, Equatable, CustomStringConvertible {
    case database(DatabaseError)
    /// Its secrets are under another key.
    case wrongKey(needed: String, given: String)
    /// The key's text is no key.
    case unusableKey(String)
    /// A row does not open with the store's own key: it was changed, or moved here from elsewhere.
    case foreignRow(user: String, host: String)
    case cannotSeal(String)

    public var description: String {
        switch self {
        case .database(let error): "\(error)"
        case .wrongKey(let needed, let given):
            "the credential store is sealed under the key \(needed), and the key given is \(given); give it the key that "
                + "was used before, or move the store away to begin with an empty one"
        case .unusableKey(let cause): "the key of the credential store cannot be used: \(cause)"
        case .foreignRow(let user, let host):
            "the credential of \(user) for \(host) in the store was changed or moved outside of this program; remove it "
                + "with attache credential remove"
        case .cannotSeal(let cause): "the credential store cannot seal: \(cause)"
        }
    }
}

extension CredentialStoreError {
    static func asking<Value>(
        _ body: () throws(DatabaseError) -> Value
    ) throws(CredentialStoreError) -> Value {
        do throws(DatabaseError) { return try body() } catch { throw .database(error) }
    }
}
