import Transport

/// A connection to an origin, with all that decides whom it may serve.
struct OriginConnection {
    let stream: ByteStream
    let terms: ConnectionTerms
    /// Nil without TLS.
    var security: ConnectionSecurity?

    /// Whether the rule by which it was trusted still applies.
    var isStillTrusted: Bool { security?.grant.holds(on: .today) ?? true }
}
