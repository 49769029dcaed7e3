import IO
import Transport

/// A connection to an origin, with all that decides whom it may serve. While it rests it stands in its loop's `IdlePool`.
public final class OriginConnection: UseOrder.Entry {
    public let stream: ByteStream
    /// The server that it leads to: an origin, or a parent that is asked itself.
    public let peer: UpstreamServer
    public let terms: ConnectionTerms
    /// The origin's TLS; nil without.
    public let security: ConnectionSecurity?
    /// The TLS of the parent on the way; nil without.
    public let parentSecurity: ConnectionSecurity?
    /// The kind of connection, beyond the server that it leads to.
    public enum Kind {
        case ordinary
        /// A gateway of this process answers in the server's place.
        case gateway(GatewayOutcome)
        /// It may serve no other request.
        case forOneRequest
    }

    private let kind: Kind
    /// The login that stands on the connection at the origin, or is under way; nil: it may serve anybody.
    public private(set) var login: ConnectionLogin?
    /// The same at the parent that it was made to. Without one at the origin any origin's requests to the parent go on it.
    public private(set) var parentLogin: ConnectionLogin?

    public init(
        stream: ByteStream, to peer: UpstreamServer, under terms: ConnectionTerms, security: ConnectionSecurity? = nil,
        parentSecurity: ConnectionSecurity? = nil, kind: Kind = .ordinary
    ) {
        self.kind = kind
        self.stream = stream
        self.peer = peer
        self.terms = terms
        self.security = security
        self.parentSecurity = parentSecurity
    }

    /// Has it rest at its server, as one that may serve anybody, until another request takes it.
    /// - Parameter limit: milliseconds until it is closed unused.
    public func rest(for limit: Int) { peer.keep(self, for: limit) }

    /// Set where a gateway answers.
    public var gateway: GatewayOutcome? {
        if case .gateway(let outcome) = kind { outcome } else { nil }
    }

    /// From now on it counts as that login's user. It stays so to its end.
    func claim(for login: ConnectionLogin) {
        if login.origin.isProxy { parentLogin = login } else { self.login = login }
    }

    /// Whether it counts as somebody's.
    public var isLoggedIn: Bool { login != nil || parentLogin != nil }

    /// Whether it may serve another request.
    var mayBeKept: Bool {
        if case .forOneRequest = kind { return false }
        return login?.mayFollow ?? true && parentLogin?.mayFollow ?? true
    }

    /// Whether the rules by which it was trusted still apply.
    public var isStillTrusted: Bool {
        (security?.grant.holds(on: .today) ?? true) && (parentSecurity?.grant.holds(on: .today) ?? true)
    }
}
