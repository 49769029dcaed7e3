import Authentication

/// A credential as a store keeps it.
public struct KeptCredential: Sendable {
    public let credential: Credential
    public let space: ProtectionSpace
    /// Whether the space's challenges are answered with it.
    public let isDefault: Bool

    public init(_ credential: Credential, for space: ProtectionSpace, isDefault: Bool) {
        self.credential = credential
        self.space = space
        self.isDefault = isDefault
    }
}
