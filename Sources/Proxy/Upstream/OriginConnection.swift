import IO
import Transport

/// A connection to an origin, with all that decides whom it may serve. While it rests it stands in its loop's `IdlePool`.
final class OriginConnection: UseOrder.Entry {
    let stream: ByteStream
    /// The server that it leads to: an origin, or a parent that is asked itself.
    let peer: Origin
    let terms: ConnectionTerms
    /// The origin's TLS; nil without.
    let security: ConnectionSecurity?
    /// The TLS of the parent on the way; nil without.
    let parentSecurity: ConnectionSecurity?
    /// Set where a gateway of this process answers in the origin's place.
    let gateway: GatewayOutcome?
    /// Whether it may serve another request.
    let mayBeKept: Bool

    init(
        stream: ByteStream, to peer: Origin, under terms: ConnectionTerms, security: ConnectionSecurity? = nil,
        parentSecurity: ConnectionSecurity? = nil, gateway: GatewayOutcome? = nil, mayBeKept: Bool = true
    ) {
        self.mayBeKept = mayBeKept
        self.gateway = gateway
        self.stream = stream
        self.peer = peer
        self.terms = terms
        self.security = security
        self.parentSecurity = parentSecurity
    }

    /// Whether the rules by which it was trusted still apply.
    var isStillTrusted: Bool {
        (security?.grant.holds(on: .today) ?? true) && (parentSecurity?.grant.holds(on: .today) ?? true)
    }
}
