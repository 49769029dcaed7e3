/// What an answer belongs to.
public enum AuthenticatorBinding: Sendable {
    /// To the request that it is sent with.
    case request(any RequestAuthenticator)
    /// To the connection, which must serve nobody else and stay open between the legs.
    case connection(any ConnectionAuthenticator)
    /// To a session at the server, which its requests show by cookies.
    case session(SessionAuthenticator)
}
