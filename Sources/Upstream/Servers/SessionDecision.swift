/// Why a connection was as it is: what those that resume its session carry on.
public final class SessionDecision: Sendable {
    public let grant: TrustGrant
    let identity: ShownIdentity

    init(_ grant: TrustGrant, identity: ShownIdentity) {
        self.grant = grant
        self.identity = identity
    }
}
