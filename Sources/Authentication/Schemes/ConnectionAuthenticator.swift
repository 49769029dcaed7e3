import Bytes

/// Answers for whole connections: each has a context of its own with its login.
public protocol ConnectionAuthenticator: Authenticator {
    /// Gets everything that a login needs before a connection is used for it; it may take time.
    func prepare(under terms: LoginTerms) async throws(AuthenticationError)

    /// Creates the login of one connection, not begun yet.
    ///
    /// - Parameter channel: the binding to the connection's TLS; nil without TLS.
    func makeContext(over channel: ChannelBinding?, under terms: LoginTerms) -> any SecurityContext
}

extension ConnectionAuthenticator {
    public func prepare(under terms: LoginTerms) async throws(AuthenticationError) {}

    public var binding: AuthenticatorBinding { .connection(self) }
}

/// The login of one connection (RFC 2743 section 1.1.3). Tokens are exchanged in requests and their `401`s until the
/// server accepts the connection's requests without them. Belongs to the connection, and to its loop.
public protocol SecurityContext: AnyObject {
    /// Whether the connection's requests need no answer now.
    var isEstablished: Bool { get }

    /// Whether other requests may follow on the connection: not during a handshake, nor after a failed one.
    var isAtRest: Bool { get }

    /// Whether the next token can only lead to another challenge, so that its request is sent without the body.
    var isOpening: Bool { get }

    /// The reason why a login failed through no fault of the credential.
    var trouble: AuthenticationError? { get }

    /// Gets what the next token needs, for instance a ticket; it may take time. Await it before `authorize`.
    func prepare() async throws(AuthenticationError)

    /// Appends the value of `Authorization` or `Proxy-Authorization`. Do not call it when `isEstablished`.
    func authorize(at time: WallTime, into value: ByteBuffer) throws(AuthenticationError)

    /// Judges the challenges of a `401` or `407`, and adopts their token.
    func refused(by challenges: [HeaderChallenge]) -> RepeatedChallenge

    /// Judges a response without a challenge, to a request with a token.
    ///
    /// - Parameters:
    ///   - challenges: the challenges in the response's fields, if any: they may contain the last token.
    ///   - persists: whether the server, as far as it says, keeps accepting requests without an answer.
    func accepted(by challenges: [HeaderChallenge], persists: Bool) -> Acceptance
}

extension SecurityContext {
    public var isAtRest: Bool { isEstablished || isOpening }

    public var trouble: AuthenticationError? { nil }

    public func prepare() async throws(AuthenticationError) {}
}
