import Model
import Rules

/// Why a server's chain was trusted. Good for its connection and those that resume it, as long as it holds.
struct TrustGrant: Sendable, Equatable {
    /// Nil: no rule had to say anything.
    let rule: RuleReference?
    /// What was found and forgiven.
    let forgiven: TrustFindings
    /// The last day of the rule; nil: it has none.
    let until: Day?
    /// `forgiven` in the words of the rule file; nil when there is nothing. Made once, for every record.
    let words: String?

    init(rule: RuleReference?, forgiven: TrustFindings, until: Day?) {
        self.rule = rule
        self.forgiven = forgiven
        self.until = until
        words = forgiven.isEmpty ? nil : forgiven.description
    }

    /// Whether the rule still applies.
    func holds(on today: Day) -> Bool { until.map { today <= $0 } ?? true }
}
