import TLS

/// The difference of a request that no client asks for, to a server that the rule file itself names: its route says
/// the way, but `deny` and `egress`, which keep clients from servers, have no say about it.
public struct OwnRequest {
    /// The certificate for a server that asks for one; no rule about certificates is asked.
    public let identity: Identity?

    public init(identity: Identity?) {
        self.identity = identity
    }
}
