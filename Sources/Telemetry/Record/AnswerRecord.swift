/// An answer to challenges, or only the rule about them. It is the common part of the records of all exchanges with
/// that answer. Noting it costs one reference, and it is counted by identity, not by its texts.
public final class AnswerRecord: Sendable {
    /// The scheme; nil while there is a rule and no answer.
    public let scheme: AnsweredScheme?
    /// The name of the credential that answered.
    public let credential: String?
    /// The weak mechanisms of the answer.
    public let dated: DatedWays
    /// The name of the `challenge` block that decided, and its line.
    public let rule: String?
    public let ruleLine: Int

    public init(
        scheme: AnsweredScheme? = nil, credential: String? = nil, dated: DatedWays = [], rule: String? = nil,
        ruleLine: Int = 0
    ) {
        self.scheme = scheme
        self.credential = credential
        self.dated = dated
        self.rule = rule
        self.ruleLine = ruleLine
    }
}

extension ExchangeRecord {
    public var scheme: AnsweredScheme? { answer?.scheme }
    public var credential: String? { answer?.credential }
    public var parentScheme: AnsweredScheme? { parentAnswer?.scheme }
    public var parentCredential: String? { parentAnswer?.credential }

    /// The rule about the origin's challenges; without one, the rule about the parent's.
    public var rule: String? { ruled?.rule }
    public var ruleLine: Int { ruled?.ruleLine ?? 0 }
    private var ruled: AnswerRecord? { answer.map { $0.ruleLine > 0 } ?? false ? answer : parentAnswer ?? answer }

    /// Whether the exchange used a weak mechanism, in TLS or in an answer.
    public var hasDatedWays: Bool {
        answer?.dated.isEmpty == false || parentAnswer?.dated.isEmpty == false || security?.dated.isEmpty == false
    }
}

/// The authentication scheme with which the proxy answered a challenge, with its name in the log and the metrics.
public enum AnsweredScheme: Int, CaseIterable, Sendable {
    case basic
    case digest
    case ntlm
    case negotiate
    case bearer
    case form
    /// AWS Signature Version 4.
    case signature
    /// A credential in a special place, which is sent without a challenge.
    case placed

    public var token: StaticString {
        switch self {
        case .basic: "basic"
        case .digest: "digest"
        case .ntlm: "ntlm"
        case .negotiate: "negotiate"
        case .bearer: "bearer"
        case .form: "html-form"
        case .signature: "aws"
        case .placed: "placed"
        }
    }
}
