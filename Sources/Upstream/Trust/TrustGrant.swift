import Model
import Rules

/// The reason why a server's chain was trusted. It applies to its connection and to those that resume its session.
public struct TrustGrant: Sendable, Equatable {
    /// The rule that trusted the chain; nil: none was needed.
    public let rule: RuleReference?
    /// The problems that were forgiven.
    public let forgiven: TrustFindings
    /// The last day of the rule or the exception; nil: no limit.
    public let until: Day?
    /// Whether a stored exception forgave what the rules would not.
    public let isException: Bool
    /// `forgiven` in the words of the rule file; nil if it is empty. Made once, for every record.
    public let words: String?

    public init(rule: RuleReference?, forgiven: TrustFindings, until: Day?, isException: Bool = false) {
        self.rule = rule
        self.isException = isException
        self.forgiven = forgiven
        self.until = until
        words = forgiven.isEmpty ? nil : forgiven.description
    }

    /// The name for records: the rule's name, or one name for all exceptions; nil if the chain needed neither.
    public var label: String? { isException ? "stored exception" : rule?.label }

    /// Whether the rule or the exception still applies on that day.
    public func holds(on today: Day) -> Bool { until.map { today <= $0 } ?? true }
}
