/// Answers for whole connections: each has a context of its own, in which its login stands.
public protocol ConnectionAuthenticator: Authenticator {
    /// Gets what every login needs, before a connection is spent on one; it may take its time.
    func prepare(under terms: LoginTerms) async throws(AuthenticationError)

    /// The login of one connection, not begun yet.
    ///
    /// - Parameter channel: what the connection's TLS is known by; nil without TLS.
    func makeContext(over channel: ChannelBinding?, under terms: LoginTerms) -> any SecurityContext
}

extension ConnectionAuthenticator {
    public func prepare(under terms: LoginTerms) async throws(AuthenticationError) {}

    public var binding: AuthenticatorBinding { .connection(self) }
}
