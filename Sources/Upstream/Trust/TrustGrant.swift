import Model
import Rules

/// Why a server's chain was trusted. Good for its connection and those that resume it, as long as it holds.
public struct TrustGrant: Sendable, Equatable {
    /// Nil: no rule had to say anything.
    public let rule: RuleReference?
    /// Findings that were forgiven.
    public let forgiven: TrustFindings
    /// The last day of the rule or the exception; nil: it has none.
    public let until: Day?
    /// Whether a stored exception forgave what the rules would not.
    public let isException: Bool
    /// `forgiven` in the words of the rule file; nil when there is nothing. Made once, for every record.
    public let words: String?

    public init(rule: RuleReference?, forgiven: TrustFindings, until: Day?, isException: Bool = false) {
        self.rule = rule
        self.isException = isException
        self.forgiven = forgiven
        self.until = until
        words = forgiven.isEmpty ? nil : forgiven.description
    }

    /// The name of what forgave, for records: a rule's, or this for all exceptions. Nil: nothing did.
    public var label: String? { isException ? "stored exception" : rule?.label }

    /// Whether the rule, or the exception, still applies.
    public func holds(on today: Day) -> Bool { until.map { today <= $0 } ?? true }
}
