import Authentication

/// The connection that a request is sent on, as far as a login at the challenger belongs to it. The owner of the
/// connection implements this.
public protocol LoginConnection: AnyObject {
    /// Whether the connection has a login, complete or in progress, of the proxy or of the client.
    var isClaimed: Bool { get }

    /// The login of the proxy's credential on the connection, complete or in progress.
    var login: (any SecurityContext)? { get }

    /// The channel binding of the connection's TLS (RFC 5929 section 4); nil without TLS up to the challenger, or if
    /// its certificate has no hash for it.
    var channelBinding: ChannelBinding? { get }

    /// Whether the connection has served before, so that the server may have closed it regularly.
    var isReused: Bool { get }

    /// Reserves the connection for requests of that credential.
    ///
    /// - Parameter isShared: whether it serves every client that the rules grant the credential to; if false, only this
    ///   client.
    func claim(for credential: Credential, in context: any SecurityContext, isShared: Bool)

    /// Whether the client may use another connection that is logged in with that version at the challenger.
    func holdsLogin(with version: CredentialVersion) -> Bool
}

/// Whether a request is still carried out, for its challenges. The side that watches the client implements this.
public protocol RequestPresence: AnyObject {
    /// Whether the whole request has ended.
    var isOver: Bool { get }

    /// Records that the request's answer decides for all waiters. It continues until the trial (a lease or an attempt)
    /// has ended.
    func beginTrial(_ trial: AnyObject)

    /// Records that the request begins a session at the server, for all waiters.
    func beginLogin(_ lease: FlightLease)
}
