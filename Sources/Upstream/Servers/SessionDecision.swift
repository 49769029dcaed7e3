/// The decisions behind a TLS session: the connections that resume it keep them.
public final class SessionDecision: Sendable {
    public let grant: TrustGrant
    let identity: ShownIdentity

    init(_ grant: TrustGrant, identity: ShownIdentity) {
        self.grant = grant
        self.identity = identity
    }
}
