/// What a store could not do.
public enum CredentialStorageError: Error, Sendable, Equatable, CustomStringConvertible {
    /// A store keeps credentials by user name; this one has none.
    case noUser(credential: String)
    /// The store cannot be reached or refused the operation; the text is fit for logs.
    case unavailable(String)

    public var description: String {
        switch self {
        case .noUser(let credential): "credential \(credential) has no user name to store it under"
        case .unavailable(let cause): "the credential store is unavailable: \(cause)"
        }
    }
}
