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

    public func note(in record: ExchangeRecord) {
        record.facts.security = SecurityRecord(
            trustFindings: findings.isEmpty ? nil : findings.description, trustRule: rule)
    }
}
