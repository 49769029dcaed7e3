/// The predicates of a `challenge`, in the order in which they are tried.
public enum ChallengePredicate: String, Sendable, CaseIterable {
    case proxy
    case host
    case port
    case `protocol`
    case secure
    case client
    case method
    /// No predicate by its name, but it decides whether the rule applies.
    case until
    case realm
    case issuer
    case finding
    case failures

    /// Whether it can be judged from the request alone.
    var isKnownBeforeChallenge: Bool {
        switch self {
        case .proxy, .host, .port, .protocol, .secure, .client, .until: true
        case .method, .realm, .issuer, .finding, .failures: false
        }
    }
}
