import Bytes

/// Answers for whole connections: each has a context of its own, in which its login stands.
public protocol ConnectionAuthenticator: Authenticator {
    /// Gets what every login needs, before a connection is spent on one; it may take its time.
    func prepare(under terms: LoginTerms) async throws(AuthenticationError)

    /// The login of one connection, not begun yet.
    ///
    /// - Parameter channel: the mark of the connection's TLS; nil without TLS.
    func makeContext(over channel: ChannelBinding?, under terms: LoginTerms) -> any SecurityContext
}

extension ConnectionAuthenticator {
    public func prepare(under terms: LoginTerms) async throws(AuthenticationError) {}

    public var binding: AuthenticatorBinding { .connection(self) }
}

/// The login of one connection (RFC 2743 section 1.1.3 calls it so): tokens go back and forth in requests and their
/// `401`s until the server takes the connection's requests without more. Belongs to the connection, and to its loop.
public protocol SecurityContext: AnyObject {
    /// Whether the connection's requests go without an answer now.
    var isEstablished: Bool { get }

    /// Whether other requests may follow on the connection: not in the middle of a handshake, nor behind a failed one.
    var isAtRest: Bool { get }

    /// Whether the next token can only bring another challenge: the request that carries it goes without its body.
    var isOpening: Bool { get }

    /// Why a login came to nothing, where nobody is to blame who the login is about.
    var trouble: AuthenticationError? { get }

    /// Gets what the next token is made with, which may take its time: a ticket, say. To be awaited before `authorize`.
    func prepare() async throws(AuthenticationError)

    /// Appends the value of `Authorization` or `Proxy-Authorization`. Not to be called when `isEstablished`.
    ///
    /// - Parameter time: milliseconds since 1970-01-01T00:00:00Z.
    func authorize(at time: Int, into value: ByteBuffer) throws(AuthenticationError)

    /// Judges the challenges of a `401` or `407`, and takes over the token they bring.
    func refused(by challenges: [HeaderChallenge]) -> RepeatedChallenge

    /// Judges a response that is no challenge, to a request with a token.
    ///
    /// - Parameters:
    ///   - challenges: those of the response's fields, if any: the last token stands there.
    ///   - persists: whether the server goes on to take requests without an answer, as far as it says.
    func accepted(by challenges: [HeaderChallenge], persists: Bool) -> Acceptance
}

extension SecurityContext {
    public var isAtRest: Bool { isEstablished || isOpening }

    public var trouble: AuthenticationError? { nil }

    public func prepare() async throws(AuthenticationError) {}
}
