import Transport

/// A connection to an origin, with all that decides whom it may serve.
final class OriginConnection {
    let stream: ByteStream
    let terms: ConnectionTerms
    /// Nil without TLS.
    let security: ConnectionSecurity?

    init(stream: ByteStream, terms: ConnectionTerms, security: ConnectionSecurity? = nil) {
        self.stream = stream
        self.terms = terms
        self.security = security
    }

    /// Whether the rule by which it was trusted still applies.
    var isStillTrusted: Bool { security?.grant.holds(on: .today) ?? true }
}
