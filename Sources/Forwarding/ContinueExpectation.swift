/// Whether a request's body waits for `100 Continue` (RFC 9110 section 10.1.1), and what is known of it by now.
struct ContinueExpectation {
    /// The proxy asks where the client did not, so that a challenge comes before the body.
    var isAdded = false
    /// The same, for an origin that may want a certificate once it has seen the request.
    var isForIdentity = false
    /// The request went out with an `Expect` of the proxy's own.
    var hasAsked = false
    /// The origin refused that.
    var mayNotAsk = false
    /// The origin let this request wait in vain.
    public var hasWaitedInVain = false
    /// The client was told to send its body, or sends it unasked.
    var hasContinued = false

    /// The RFC wants no endless wait; curl waits as long.
    public static let milliseconds = 1000
    /// Bytes of a body that every server keeps while it asks for a certificate.
    static let heldByOrigins = 64 * 1024

    /// Whether the proxy has a reason to ask.
    public var isWanted: Bool { isAdded || isForIdentity }

    /// Whether the origin is asked before the body is sent. One that does not answer that is not asked again, unless there
    /// would be nothing to send again after a challenge.
    public func asks(ignored isIgnored: Bool, keepingCopy isKept: Bool) -> Bool {
        guard isWanted, !mayNotAsk else { return false }
        return !isIgnored || isAdded && !isKept
    }
}
