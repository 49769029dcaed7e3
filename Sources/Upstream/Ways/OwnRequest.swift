import TLS

/// What is different about a request that no client asks for, to a server that the rule file itself names: its route says
/// the way, but `deny` and `egress`, which keep clients from servers, have no say about it.
public struct OwnRequest {
    /// What the server is shown that asks for a certificate; no rule about certificates is asked.
    public let identity: Identity?

    public init(identity: Identity?) {
        self.identity = identity
    }
}
