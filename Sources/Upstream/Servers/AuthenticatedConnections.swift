import Authentication
import Bytes
import IO
import Transport

/// The connections on which one client is logged in, between its requests. They close together with the client's
/// connection. Or the connections of a loop that are logged in with credentials which the rules grant to every client.
///
/// Belongs to its loop. As in `UpstreamServer`, an idle connection with any event is closed at once.
public final class AuthenticatedConnections: Channel.Observer {
    /// The properties of the connection that a request needs.
    struct Wanted {
        let peer: UpstreamServer
        let origin: UpstreamServer
        let version: CredentialVersion?
        let parentVersion: CredentialVersion?
        let terms: ConnectionTerms
    }

    private var connections: [OriginConnection] = []
    /// The limit of kept connections. Beyond it the least recently used one is closed.
    private let limit: Int

    /// The limit of one client. A client works with few logged-in servers at a time.
    static let ofClient = 8
    /// The limit of a loop, equal to the idle connections of one server.
    static let ofLoop = 128

    init(limit: Int) { self.limit = limit }

    /// Takes the connection on which exactly these versions of credentials are logged in; without a version, the
    /// client's own login. Of several, takes the one used last, which the server has least likely closed. Closes
    /// connections with an older version on the way.
    func take(_ wanted: Wanted) -> OriginConnection? {
        var index = connections.count
        while index > 0 {
            index -= 1
            guard connections[index].isMeant(for: wanted) else { continue }
            let connection = remove(at: index)
            if connection.serves(wanted) { return connection }
            connection.stream.close()
        }
        return nil
    }

    public var isEmpty: Bool { connections.isEmpty }

    /// Whether a connection with this login is kept.
    public func holds(_ version: CredentialVersion, to origin: UpstreamServer) -> Bool {
        connections.contains { connection in
            let login = origin.isProxy ? connection.parentLogin : connection.login
            return login?.origin === origin && login?.version == version
        }
    }

    /// Keeps the connection, or closes it if it cannot be used again.
    /// - Parameter limit: the time until an unused connection is closed.
    func keep(_ connection: OriginConnection, for limit: Milliseconds) {
        connection.stream.rest(telling: self)
        let isUsable = !connection.stream.isClosed && !connection.stream.hasInput()
        guard isUsable, connection.mayBeKept, connection.peer.pool.isCurrent(connection.terms) else {
            return connection.stream.close()
        }
        if connections.count >= self.limit { remove(at: 0).stream.close() }
        connection.peer.pool.enter(connection)
        connection.stream.setDeadline(after: limit)
        connections.append(connection)
    }

    /// Closes the connections that the retirement names.
    func retire(_ retirement: Retirement) {
        close { connection in
            switch retirement {
            case .logins(let name, let version): connection.logins.contains { $0.isOf(name, but: version) }
            case .tlsPolicyEpoch: !connection.peer.pool.isCurrent(connection.terms)
            }
        }
    }

    /// Closes the connections on which the client logged in itself.
    public func closeOwn() { close { connection in connection.logins.contains { $0.version == nil } } }

    public func closeAll() { close { _ in true } }

    private func close(where isOver: (OriginConnection) -> Bool) {
        while let index = connections.firstIndex(where: isOver) { remove(at: index).stream.close() }
    }

    public func channelChanged(_ channel: Channel) {
        guard channel.isReadable || !channel.isOpen else { return }
        guard let index = connections.firstIndex(where: { $0.stream.channel === channel }) else { return }
        if channel.isOpen, !connections[index].stream.isReadable { return }
        remove(at: index).stream.close()
    }

    private func remove(at index: Int) -> OriginConnection {
        let connection = connections.remove(at: index)
        connection.stream.forgetObserver()
        connection.peer.pool.leave(connection)
        return connection
    }
}

extension OriginConnection {
    fileprivate var logins: [ConnectionLogin] { [login, parentLogin].compactMap(\.self) }

    /// Whether the connection has the wanted peer and credentials, though perhaps other terms or an older version.
    fileprivate func isMeant(for wanted: AuthenticatedConnections.Wanted) -> Bool {
        guard peer === wanted.peer, parentLogin?.version?.key == wanted.parentVersion?.key else { return false }
        guard let login else { return wanted.version == nil }
        return login.origin === wanted.origin && login.version?.key == wanted.version?.key
    }

    /// Whether the connection has exactly the wanted terms and versions and is still trusted.
    fileprivate func serves(_ wanted: AuthenticatedConnections.Wanted) -> Bool {
        terms == wanted.terms && isStillTrusted && login?.version == wanted.version
            && parentLogin?.version == wanted.parentVersion
    }

    /// Whether the connection may serve every client.
    var isShared: Bool { login?.isShared ?? true && parentLogin?.isShared ?? true }
}
