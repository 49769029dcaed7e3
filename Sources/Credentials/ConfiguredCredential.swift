/// A credential as the rule file states it: where its parts are to be found.
public struct ConfiguredCredential: Sendable, Hashable {
    public let name: String
    public let user: ValueSource
    public let password: ValueSource

    public init(name: String, user: ValueSource, password: ValueSource) {
        self.name = name
        self.user = user
        self.password = password
    }
}
