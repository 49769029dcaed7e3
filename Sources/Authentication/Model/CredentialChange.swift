/// One change of a credential storage.
public struct CredentialChange: Sendable, Hashable {
    public enum Kind: Sendable, Hashable { case set, removed, madeDefault }

    public let kind: Kind
    public let space: ProtectionSpace
    public let user: String

    public init(_ kind: Kind, space: ProtectionSpace, user: String) {
        self.kind = kind
        self.space = space
        self.user = user
    }
}
