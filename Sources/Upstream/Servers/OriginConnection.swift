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

    /// Has it rest at its server until another request takes it.
    /// - Parameter limit: milliseconds until it is closed unused.
    public func rest(for limit: Int) { peer.keep(self, for: limit) }

    /// Set where a gateway answers.
    public var gateway: GatewayOutcome? {
        if case .gateway(let outcome) = kind { outcome } else { nil }
    }

    /// Whether it may serve another request.
    var mayBeKept: Bool {
        if case .forOneRequest = kind { false } else { true }
    }

    /// Whether the rules by which it was trusted still apply.
    public var isStillTrusted: Bool {
        (security?.grant.holds(on: .today) ?? true) && (parentSecurity?.grant.holds(on: .today) ?? true)
    }
}
