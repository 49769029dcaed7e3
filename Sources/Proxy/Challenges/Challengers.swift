import Authentication

/// Whoever may ask for a credential on the way of one request.
///
/// It stands apart from the exchange, which keeps it from request to request: a challenge loop is large, and most requests
/// have none. To see that takes a look at one reference.
final class Challengers {
    /// Nil while the origin's challenges, should any come, are the client's own affair.
    var origin: ChallengeLoop?
    /// Nil unless challenges of the parent that makes the request could be answered.
    var parent: ChallengeLoop?

    var hasOrigin: Bool { origin != nil }
    var hasParent: Bool { parent != nil }

    /// Whether an answer needs a digest of the body, or a login's next token.
    func wantsPreparation(over upstream: UpstreamConnection) -> Bool {
        if origin?.bodyDigest != nil || parent?.bodyDigest != nil { return true }
        if origin?.loginVersion != nil, upstream.login?.context?.isEstablished != true { return true }
        return parent?.loginVersion != nil && upstream.parentLogin?.context?.isEstablished != true
    }
}
