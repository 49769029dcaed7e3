import Credentials

/// How far a client's login by Negotiate has come (RFC 4559): it belongs to the connection, not to a request.
enum ClientNegotiation {
    /// The client has our token, and its next request brings the answer; becomes `.established`, or ends.
    case awaitingToken(ServiceLogin)
    /// All requests that bring no other credentials are this principal's, as long as the ticket holds: until then, on the
    /// loop's clock. The rules that let it in are asked again when others take their place.
    case established(user: String, until: UInt64, admittedBy: ClientAuthentication)

    /// - Parameter lifetime: seconds; nil: without end.
    static func established(
        user: String, for lifetime: Int?, at now: UInt64, admittedBy authentication: ClientAuthentication
    ) -> ClientNegotiation {
        let end = lifetime.map { now &+ UInt64(clamping: $0) &* 1000 }
        return .established(user: user, until: end ?? .max, admittedBy: authentication)
    }

    /// The user who is known by it now, and may use the proxy by these rules.
    func user(at now: UInt64, by authentication: ClientAuthentication) -> String? {
        guard case .established(let user, let end, let admitter) = self, now < end else { return nil }
        return admitter === authentication || authentication.admits(principal: user) ? user : nil
    }
}
