/// What is worth knowing of a space beyond the process: where it reaches, and which credentials it has accepted. Nothing
/// in it is secret.
public struct LearnedSpace: Sendable, Hashable {
    public let space: ProtectionSpace
    public let extents: [Extent]
    public let accepted: [CredentialVersion]

    public init(space: ProtectionSpace, extents: [Extent], accepted: [CredentialVersion]) {
        self.space = space
        self.extents = extents
        self.accepted = accepted
    }
}
