import Authentication
import IO
import Transport

/// The connections that one client is logged in on, between its requests: they end with the client's own. Or those of a loop
/// that are logged in with credentials which the rules grant to every client.
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
            connection.mayBeKept && [login, parentLogin].allSatisfy { $0.map { $0.mayBeHeld && $0.isAtRest } ?? true }
        }

        /// Whether it may serve every client.
        var isShared: Bool { [login, parentLogin].allSatisfy { $0?.isShared ?? true } }
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

    private var connections: [Held] = []
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
    func take(_ wanted: Wanted) -> Held? {
        while let place = connections.lastIndex(where: { $0.isMeant(for: wanted) }) {
            let held = remove(at: place)
            if held.serves(wanted) { return held }
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
        stream.rest(telling: self)
        guard held.mayBeKept, pool.isCurrent(held.connection.terms), !stream.isClosed, !stream.hasInput() else {
            return stream.close()
        }
        if connections.count >= limit { remove(at: 0).stream.close() }
        pool.enter(held.connection)
        stream.setDeadline(after: limit)
        connections.append(held)
    }

    /// Closes those that have had their time.
    func retire(_ retirement: Retirement) {
        while let place = connections.firstIndex(where: { isOver($0, retirement) }) {
            remove(at: place).stream.close()
        }
    }

    private func isOver(_ held: Held, _ retirement: Retirement) -> Bool {
        switch retirement {
        case .logins(let name, let version): held.isLoggedIn(name, but: version)
        case .tlsAnswers: !held.peer.pool.isCurrent(held.connection.terms)
        }
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
        held.stream.forgetObserver()
        held.peer.pool.leave(held.connection)
        return held
    }
}
