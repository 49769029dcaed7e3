import Authentication
import IO
import Transport

/// The connections that one client is logged in on, between its requests: they end with the client's own. Or those of a loop
/// that are logged in with credentials which the rules grant to every client.
///
/// Belongs to its loop. As in `UpstreamServer`, a connection on which anything happens at rest is closed at once.
public final class HeldConnections: ChannelObserver {
    /// The connection that a request must have.
    public struct Wanted {
        public let peer: UpstreamServer
        public let origin: UpstreamServer
        /// The credential that is logged in at the origin; nil: none of ours.
        public let version: CredentialVersion?
        /// The same at the parent.
        public let parentVersion: CredentialVersion?
        public let terms: ConnectionTerms

        /// Whether it is one on which a credential of ours is logged in.
        var isOfCredential: Bool { version != nil || parentVersion != nil }

        public init(
            peer: UpstreamServer, origin: UpstreamServer, version: CredentialVersion?,
            parentVersion: CredentialVersion?, terms: ConnectionTerms
        ) {
            self.peer = peer
            self.origin = origin
            self.version = version
            self.parentVersion = parentVersion
            self.terms = terms
        }
    }

    private var connections: [OriginConnection] = []
    /// Beyond it the connection used least recently goes.
    private let limit: Int

    /// A client works with few such servers at a time.
    static let ofClient = 8
    /// As many as rest at one server.
    static let ofLoop = 128

    init(limit: Int) { self.limit = limit }

    /// The connection on which exactly these versions of credentials are logged in, or the client itself where there is
    /// none: the one used last, which is the least likely to have been closed meanwhile. One of an older version has no more
    /// use.
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

    /// Whether there is one for `take`.
    public func holds(_ version: CredentialVersion, to origin: UpstreamServer) -> Bool {
        connections.contains { connection in
            let login = origin.isProxy ? connection.parentLogin : connection.login
            return login?.origin === origin && login?.version == version
        }
    }

    /// - Parameter limit: milliseconds until it is closed unused.
    func keep(_ connection: OriginConnection, for limit: Int) {
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

    /// Closes those that have had their time.
    func retire(_ retirement: Retirement) {
        close { connection in
            switch retirement {
            case .logins(let name, let version): connection.logins.contains { $0.isOf(name, but: version) }
            case .tlsAnswers: !connection.peer.pool.isCurrent(connection.terms)
            }
        }
    }

    /// Closes those that the client logged in on by itself.
    public func closeOwn() { close { connection in connection.logins.contains { $0.version == nil } } }

    public func closeAll() { close { _ in true } }

    private func close(where isOver: (OriginConnection) -> Bool) {
        while let index = connections.firstIndex(where: isOver) { remove(at: index).stream.close() }
    }

    public func channelChanged(_ channel: Channel) {
        guard channel.isReadable || !channel.isOpen else { return }
        guard let index = connections.firstIndex(where: { $0.stream.socket === channel }) else { return }
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

    /// Whether it was made for what is wanted now, if not on the same terms or with the same value of a credential.
    fileprivate func isMeant(for wanted: HeldConnections.Wanted) -> Bool {
        guard peer === wanted.peer, parentLogin?.version?.key == wanted.parentVersion?.key else { return false }
        guard let login else { return wanted.version == nil }
        return login.origin === wanted.origin && login.version?.key == wanted.version?.key
    }

    /// Whether nothing speaks against it.
    fileprivate func serves(_ wanted: HeldConnections.Wanted) -> Bool {
        terms == wanted.terms && isStillTrusted && login?.version == wanted.version
            && parentLogin?.version == wanted.parentVersion
    }

    /// Whether it may serve every client.
    var isShared: Bool { login?.isShared ?? true && parentLogin?.isShared ?? true }
}
