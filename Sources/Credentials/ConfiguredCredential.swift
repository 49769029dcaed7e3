/// A credential as the rule file states it: where its parts are to be found.
public struct ConfiguredCredential: Sendable, Hashable {
    public enum Content: Sendable, Hashable {
        case password(user: ValueSource, password: ValueSource)
        case identity(ConfiguredIdentity)
        case token(ValueSource)
        case signingKey(ConfiguredSigningKey)
        case grant(ConfiguredGrant)
        case kerberos(ConfiguredKerberos)
    }

    public let name: String
    public let content: Content

    public init(name: String, content: Content) {
        self.name = name
        self.content = content
    }

    public init(name: String, user: ValueSource, password: ValueSource) {
        self.init(name: name, content: .password(user: user, password: password))
    }
}
