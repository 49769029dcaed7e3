import Authentication

/// The connection that a request goes out on, as far as a login at the challenger belongs to it. Implemented by the side
/// that holds the connection.
public protocol LoginConnection: AnyObject {
    /// Whether the connection is somebody's: a login stands on it or is under way, one of ours or the client's own.
    var isClaimed: Bool { get }

    /// The login of one of our credentials that stands there or is under way.
    var login: (any SecurityContext)? { get }

    /// The name that the connection's TLS gives to a login (RFC 5929 section 4); nil without TLS up to the challenger, and
    /// where its certificate has no hash for it.
    var channelBinding: ChannelBinding? { get }

    /// Whether the connection has served before, so that its end may have been due.
    var isReused: Bool { get }

    /// From now on the connection carries nothing but what counts as that credential's.
    ///
    /// - Parameter isShared: whether it serves every client that the rules grant the credential to; else it is this client's.
    func claim(for credential: Credential, in context: any SecurityContext, isShared: Bool)

    /// Whether the client may use another connection that is logged in with that version at the challenger.
    func holdsLogin(with version: CredentialVersion) -> Bool
}

/// Whether a request is still carried out, as challenges need to know it. Implemented by the side that watches the client.
public protocol RequestPresence: AnyObject {
    /// Whether nothing of the request is continued.
    var isOver: Bool { get }

    /// The request sends an answer that decides for all who wait: it continues until the trial, a lease or an attempt, has ended.
    func beginTrial(_ trial: AnyObject)

    /// The request begins a session at the server, for all who wait for one.
    func beginLogin(_ lease: Lease)
}
