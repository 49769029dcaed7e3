import Model

/// A credential of the rule file, by its name.
public struct ConfiguredCredential: Sendable, Hashable {
    public let name: String
    public let content: CredentialSource
    /// The settings of the programs that give it or its values.
    public let commands: CommandSource.Settings

    public init(name: String, content: CredentialSource, commands: CommandSource.Settings = CommandSource.Settings()) {
        self.name = name
        self.content = content
        self.commands = commands
    }

    public init(name: String, user: ValueSource, password: ValueSource) {
        self.init(name: name, content: .password(user: user, password: password))
    }
}
