import Model

/// A credential of the rule file, by its name.
public struct ConfiguredCredential: Sendable, Hashable {
    public let name: String
    public let content: CredentialSource

    public init(name: String, content: CredentialSource) {
        self.name = name
        self.content = content
    }

    public init(name: String, user: ValueSource, password: ValueSource) {
        self.init(name: name, content: .password(user: user, password: password))
    }
}
