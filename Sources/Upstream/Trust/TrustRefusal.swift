import Model
import Rules
import Telemetry

/// The reason why a server's chain was not trusted.
public struct TrustRefusal: Error, Equatable {
    public enum Reason: Equatable, Sendable {
        /// The rule, or the default, does not forgive these problems.
        case findings(TrustFindings)
        /// The rule names other keys.
        case otherKey
        /// The rule refuses the server, with or without problems.
        case rule
    }

    public let reason: Reason
    public let rule: RuleReference?
    /// All problems found with the system's CA certificates and the requested host.
    public let findings: TrustFindings
    /// The answer that a rule with `mode report` would have given, in words; nil if another rule decided.
    public var report: String?

    /// The problems of the certificate, or the rule that decided, in words.
    var words: String {
        let rule = rule.map { "rule \($0)" }
        return switch reason {
        case .findings(let left): left.findings.map(\.rawValue).joined(separator: ", ")
        case .otherKey: "its key is not one of the pins of \(rule ?? "the rule")"
        case .rule: "\(rule ?? "a rule") refuses it"
        }
    }

    /// The words, with those of the report.
    public var cause: String { report.map { "\(words); \($0)" } ?? words }

    public func note(in record: ExchangeRecord) {
        record.facts.security = SecurityRecord(
            trustFindings: findings.isEmpty ? nil : findings.description, trustRule: rule)
    }
}
