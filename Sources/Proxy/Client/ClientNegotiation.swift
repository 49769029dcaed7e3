import Credentials

/// How far a client's login by Negotiate has come (RFC 4559): it belongs to the connection, not to a request.
enum ClientNegotiation {
    /// The client has our token, and its next request brings the answer; becomes `.established`, or ends.
    case awaitingToken(ServiceLogin)
    /// All requests that bring no other credentials are this principal's.
    case established(user: String)
}
