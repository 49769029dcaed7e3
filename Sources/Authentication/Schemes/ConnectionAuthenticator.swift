/// Answers for whole connections: each has a context of its own, in which its login stands.
public protocol ConnectionAuthenticator: Authenticator {
    /// The login of one connection, not begun yet.
    ///
    /// - Parameter channel: what the connection's TLS is known by; nil without TLS.
    func makeContext(over channel: ChannelBinding?) -> any SecurityContext
}

extension ConnectionAuthenticator {
    public var binding: AuthenticatorBinding { .connection(self) }
}
