import Authentication
import Bytes
import HTTP
import Rules
import Telemetry
import Upstream

/// The path of one request to its server: directly or through a parent, on a connection that was kept or a new one.
extension ForwardingContext {
    /// Whether a parent could make the request itself. What changes to another protocol goes through a tunnel (RFC 6455
    /// section 4.1), and so does what only the origin may read.
    var mayBeRelayed: Bool {
        !origin.isSecure && exchange.request.upgrade == nil && exchange.request.authority != nil
    }

    /// From now on the request goes that way.
    /// - Returns: whether it is another than before.
    @discardableResult
    public func take(_ way: Way) -> Bool {
        if let parent = way.parent, exchange.way.parent === parent { return false }
        if way.parent == nil, exchange.way.parent == nil { return false }
        exchange.challenges?.parent = .ignored
        exchange.way = way
        exchange.record.parent = way.parent?.figures
        return true
    }

    // MARK: - A connection

    /// Whether a connection is there: from the leg before, or one that was kept.
    func takeKept(_ mayReuse: Bool) -> Bool {
        let upstream = exchange.upstream
        let version = exchange.challenges?.origin.loginVersion
        let parentVersion = exchange.challenges?.parent.loginVersion
        if upstream.stream != nil {
            // A login of the client's own is good for all that goes out without one of ours.
            if upstream.serves(version, atParent: parentVersion) { return true }
            // Nothing goes on a connection that counts as somebody's but what is his.
            upstream.reset()
        }
        guard mayReuse, policy === requester.upstreams.policy else { return false }
        if takeLogin(version, atParent: parentVersion) { return true }
        if version != nil || parentVersion != nil { return false }
        guard let connection = takeIdle() else { return false }
        attach(connection, isReused: true)
        exchange.record.upstream = .reused
        return true
    }

    private func takeIdle() -> OriginConnection? {
        if destination.hops.isEmpty {
            return origin.takeIdle(under: origin.isSecure ? terms : .plain)
        }
        return exchange.way.peer(of: origin).takeIdle(under: terms)
    }

    /// Whether there is a connection on which this client, or every client, is logged in so. A login is not begun on one that rested, and
    /// may be dead: the request that begins it cannot always be repeated.
    private func takeLogin(_ version: CredentialVersion?, atParent parentVersion: CredentialVersion?) -> Bool {
        guard requester.mayHoldLogins else { return false }
        let wanted = HeldConnections.Wanted(
            peer: exchange.way.peer(of: origin), origin: origin, version: version, parentVersion: parentVersion,
            terms: terms)
        guard let held = requester.takeLogin(wanted) else { return false }
        requester.hear(held.stream)
        exchange.upstream.attach(held)
        note(held.connection)
        exchange.record.upstream = .reused
        return true
    }

    /// Makes the connection the client's on which it logs in itself.
    func claimOwnLogin() {
        guard exchange.request.fields.present.contains(.authorization), exchange.upstream.login == nil,
            exchange.bringsOwnLogin
        else { return }
        exchange.upstream.claim(for: ConnectionLogin(ofClientTo: origin))
    }

    private func attach(_ connection: consuming OriginConnection, isReused: Bool) {
        requester.hear(connection.stream)
        note(connection)
        exchange.upstream.attach(connection, isReused: isReused)
    }

    private func note(_ connection: OriginConnection) {
        if let security = connection.security { exchange.record.security = security.record }
    }

    /// Connects by the way that the request takes.
    public func connect() async throws(Refusal) { attach(try await openConnection(), isReused: false) }

    /// Whether a parent may have stopped reading: squid says that it keeps the connection of a `407`, and never reads on
    /// where the request had a large body, even one that it had not asked for yet.
    var mayBeWedged: Bool {
        guard exchange.way.relay != nil, !exchange.omitsBody else { return false }
        guard case .length(let length) = exchange.body.framing else { return exchange.body.framing == .chunked }
        return length > Self.wedgeLimit
    }

    /// Bytes of a body that squid reads although it has answered already.
    private static let wedgeLimit = 64 * 1024
}
