import Model
import Rules

/// Why a server's chain was trusted. Good for its connection and those that resume it, as long as it holds.
public struct TrustGrant: Sendable, Equatable {
    /// Nil: no rule had to say anything.
    public let rule: RuleReference?
    /// Findings that were forgiven.
    public let forgiven: TrustFindings
    /// The last day of the rule; nil: it has none.
    public let until: Day?
    /// `forgiven` in the words of the rule file; nil when there is nothing. Made once, for every record.
    public let words: String?

    public init(rule: RuleReference?, forgiven: TrustFindings, until: Day?) {
        self.rule = rule
        self.forgiven = forgiven
        self.until = until
        words = forgiven.isEmpty ? nil : forgiven.description
    }

    /// Whether the rule still applies.
    public func holds(on today: Day) -> Bool { until.map { today <= $0 } ?? true }
}
