import TLS

/// An internal request, to a server that the rule file itself names. Its route applies. `deny` and `egress`, which keep
/// clients from servers, do not.
public struct InternalRequest {
    /// The certificate for a server that asks for one. No rule about certificates applies.
    public let identity: Identity?

    public init(identity: Identity?) {
        self.identity = identity
    }
}
