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
}
