/// Why a connection was as it is: what those that resume its session carry on.
final class SessionDecision: Sendable {
    let grant: TrustGrant
    let identity: ShownIdentity

    init(_ grant: TrustGrant, identity: ShownIdentity) {
        self.grant = grant
        self.identity = identity
    }
}
