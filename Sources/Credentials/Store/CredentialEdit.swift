import Authentication

/// One thing to be done to a store.
public enum CredentialEdit: Sendable {
    /// Adds the credential, or replaces the one of the same user. With `asDefault` it becomes the space's default; without,
    /// it is if it was.
    case set(Credential, for: ProtectionSpace, asDefault: Bool)
    /// Removes the user's credential; that there is none is no error.
    case remove(user: String, for: ProtectionSpace)
    /// Makes the user's credential the default of its space; that there is none is no error.
    case makeDefault(user: String, for: ProtectionSpace)
}
