import Authentication
import IO
import Transport

/// The connections that one client is logged in on, between its requests. They end with the client's own.
///
/// Belongs to its loop. As in `UpstreamServer`, a connection on which anything happens at rest is closed at once.
public final class HeldConnections: ChannelObserver {
    public struct Held {
        public let connection: OriginConnection
        /// The login at the origin; without one, any origin's requests to the parent go on it.
        public let login: ConnectionLogin?
        /// The login at the parent.
        public let parentLogin: ConnectionLogin?

        public var stream: ByteStream { connection.stream }
        /// Whom it was made to: the origin, or a parent that requests are made of.
        public var peer: UpstreamServer { connection.peer }

        /// Whether it was made for what is wanted now, if not on the same terms or with the same value of a credential.
        public func isMeant(for wanted: Wanted) -> Bool {
            guard peer === wanted.peer, parentLogin?.version?.name == wanted.parentVersion?.name else { return false }
            guard let login else { return wanted.version == nil }
            return login.origin === wanted.origin && login.version?.name == wanted.version?.name
        }

        /// Whether nothing speaks against it.
        public func serves(_ wanted: Wanted) -> Bool {
            connection.terms == wanted.terms && connection.isStillTrusted && login?.version == wanted.version
                && parentLogin?.version == wanted.parentVersion
        }

        public func isLoggedIn(_ version: CredentialVersion, to origin: UpstreamServer) -> Bool {
            let login = origin.isProxy ? parentLogin : login
            return login?.origin === origin && login?.version == version
        }

        public func isLoggedIn(_ name: String, but version: CredentialVersion?) -> Bool {
            [login, parentLogin].contains { $0?.isOf(name, but: version) == true }
        }

        /// Whether the client has logged in by itself.
        var isOfClientAlone: Bool {
            [login, parentLogin].contains { $0.map { $0.version == nil } ?? false }
        }

        var mayBeKept: Bool {
            [login, parentLogin].allSatisfy { $0.map { $0.mayBeHeld && $0.isAtRest } ?? true }
        }
    }

    /// The connection that a request must have.
    public struct Wanted {
        public let peer: UpstreamServer
        public let origin: UpstreamServer
        /// The credential that is logged in at the origin; nil: none of ours.
        public let version: CredentialVersion?
        /// The same at the parent.
        public let parentVersion: CredentialVersion?
        public let terms: ConnectionTerms

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

    private var connections: [Held] = []
    /// The logins of the connection that the client's present request is sent on: at the origin, and at a parent.
    private weak var originLogin: ConnectionLogin?
    private weak var parentLogin: ConnectionLogin?

    /// A client works with few such servers at a time; beyond it the one used least recently goes.
    private static let limit = 8

    /// The connection on which exactly these versions of credentials are logged in, or the client itself where there is
    /// none. One of an older version has no more use.
    public func take(_ wanted: Wanted) -> Held? {
        while let place = connections.firstIndex(where: { $0.isMeant(for: wanted) }) {
            let held = remove(at: place)
            if held.serves(wanted) {
                for login in [held.login, held.parentLogin] { login.map(begin) }
                return held
            }
            held.stream.close()
        }
        return nil
    }

    public var isEmpty: Bool { connections.isEmpty }

    /// Whether there is one for `take`.
    public func holds(_ version: CredentialVersion, to origin: UpstreamServer) -> Bool {
        connections.contains { $0.isLoggedIn(version, to: origin) }
    }

    /// - Parameter limit: milliseconds until it is closed unused.
    public func keep(_ held: Held, for limit: Int) {
        let (stream, pool) = (held.stream, held.peer.pool)
        stream.socket.rest(telling: self)
        guard held.mayBeKept, pool.isCurrent(held.connection.terms), !stream.isClosed, !stream.hasInput() else {
            return stream.close()
        }
        if connections.count >= Self.limit { remove(at: 0).stream.close() }
        pool.enter(held.connection)
        stream.setDeadline(after: limit)
        connections.append(held)
    }

    /// Closes those that have had their time. One that serves a request at this moment closes after it.
    public func retire(_ retirement: Retirement) {
        while let place = connections.firstIndex(where: { isOver($0, retirement) }) {
            remove(at: place).stream.close()
        }
        guard case .logins(let name, let version) = retirement else { return }
        for login in [originLogin, parentLogin] where login?.isOf(name, but: version) == true { login?.retire() }
    }

    private func isOver(_ held: Held, _ retirement: Retirement) -> Bool {
        switch retirement {
        case .logins(let name, let version): held.isLoggedIn(name, but: version)
        case .tlsAnswers: !held.peer.pool.isCurrent(held.connection.terms)
        }
    }

    /// From now on the client's present request depends on the login.
    public func begin(_ login: ConnectionLogin) {
        if login.origin.isProxy { parentLogin = login } else { originLogin = login }
    }

    /// Closes those that the client logged in on by itself.
    public func closeOwn() {
        while let place = connections.firstIndex(where: \.isOfClientAlone) {
            remove(at: place).stream.close()
        }
    }

    public func closeAll() {
        while !connections.isEmpty { remove(at: connections.count - 1).stream.close() }
    }

    public func channelChanged(_ channel: Channel) {
        guard channel.isReadable || !channel.isOpen else { return }
        guard let place = connections.firstIndex(where: { $0.stream.socket === channel }) else { return }
        if channel.isOpen, !connections[place].stream.isReadable { return }
        remove(at: place).stream.close()
    }

    private func remove(at place: Int) -> Held {
        let held = connections.remove(at: place)
        held.stream.socket.observer = nil
        held.peer.pool.leave(held.connection)
        return held
    }
}
