/// A Kerberos principal as which logins can be made. Whoever speaks GSSAPI knows what stands behind it; here it is only
/// asked.
public protocol KerberosPrincipal: AnyObject, Sendable {
    /// Gets a ticket for the service, unless one is at hand: once for all who ask. May take as long as the service's
    /// `patience`.
    func prepare(for service: KerberosService) async throws(TicketError)

    /// A login that is not begun yet.
    ///
    /// - Parameter channel: what the connection's TLS is known by; nil without TLS.
    func login(at service: KerberosService, over channel: ChannelBinding?) -> any KerberosLogin
}
