import Model

/// An answer to challenges, or only the rule about them. It is the common part of the records of all exchanges with
/// that answer. Noting it costs one reference, and it is counted by identity, not by its texts.
public final class AnswerRecord: Sendable {
    /// The scheme; nil while there is a rule and no answer.
    public let scheme: AnsweredScheme?
    /// The name of the credential that answered.
    public let credential: String?
    /// The weak mechanisms of the answer.
    public let dated: WeakMechanisms
    /// The `challenge` block that decided; nil if none.
    public let rule: RuleReference?

    public init(
        scheme: AnsweredScheme? = nil, credential: String? = nil, dated: WeakMechanisms = [], rule: RuleReference? = nil
    ) {
        self.scheme = scheme
        self.credential = credential
        self.dated = dated
        self.rule = rule
    }
}

extension ExchangeRecord {
    public var scheme: AnsweredScheme? { facts.answer?.scheme }
    public var credential: String? { facts.answer?.credential }
    public var parentScheme: AnsweredScheme? { facts.parentAnswer?.scheme }
    public var parentCredential: String? { facts.parentAnswer?.credential }

    /// The rule about the origin's challenges; without one, the rule about the parent's.
    public var rule: RuleReference? { facts.answer?.rule ?? facts.parentAnswer?.rule }

    /// Whether the exchange used a weak mechanism, in TLS or in an answer.
    public var hasWeakMechanisms: Bool {
        facts.answer?.dated.isEmpty == false || facts.parentAnswer?.dated.isEmpty == false
            || facts.security?.dated.isEmpty == false
    }
}

/// The authentication scheme with which the proxy answered a challenge, with its name in the log and the metrics.
public enum AnsweredScheme: Hashable, Sendable {
    /// The method of the challenge; `default` for a credential in a place of its own, which no server asks for.
    case method(AuthenticationMethod)
    /// A signature of the request, which no challenge of a server's asks for.
    case signature(SignatureSource.Scheme)

    /// Creates it; nil for a method that answers no challenge of a response.
    public init?(_ method: AuthenticationMethod) {
        if method.traits.label == nil { return nil }
        self = .method(method)
    }

    public var token: StaticString {
        switch self {
        case .method(let method): method.traits.label ?? "other"
        case .signature(let scheme): scheme.label
        }
    }

    /// The schemes that servers ask for and are answered.
    static let challenged = AuthenticationMethod.challenged.filter { $0 != .other }.map { Optional(method($0)) }
}

extension AuthenticationMethod {
    /// The methods that responses ask for and that can be answered.
    static let challenged = allCases.filter { $0 != .default && $0.traits.label != nil }
}
