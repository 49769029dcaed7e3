import Model
import Rules
import Telemetry

/// Why a server's chain was not trusted.
public struct TrustRefusal: Error, Equatable {
    public enum Reason: Equatable, Sendable {
        /// These findings are not forgiven; by the rule, if there is one.
        case findings(TrustFindings)
        /// The rule names other keys.
        case otherKey
        /// The rule says no, whatever was found.
        case rule
    }

    public let reason: Reason
    public let rule: RuleReference?
    /// All that was found by the system's anchors and for the host that was asked for.
    public let findings: TrustFindings
    /// Of a rule that only reports, what that would have come to; nil: no such rule decided.
    public var report: String?

    public func note(in record: ExchangeRecord) {
        record.security = SecurityRecord(
            trustFindings: findings.isEmpty ? nil : findings.description, trustRule: rule?.label)
    }
}
