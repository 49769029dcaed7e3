import Authentication
import Bytes
import Model
import Rules

/// A tunnel that is not intercepted, to a server whose challenges a rule would answer.
public struct UnseenTunnel {
    public let origin: Origin
    public let rule: RuleReference

    public init(to origin: Origin, by rule: RuleReference) {
        self.origin = origin
        self.rule = rule
    }

    /// The sentence for the log line, and once for the operator.
    public var sentence: String {
        JournalText.printable(
            "no route decrypts the tunnel to \(origin.authority), so rule \(rule.title) is not used", longest: 512)
    }

    private var suggestion: String? {
        (try? HostPattern(origin.host)).map { "route \($0) { intercept }" }
    }

    /// Writes the tunnel into the journal.
    /// - Returns: the line for the operator; nil if there was one before.
    public func note(in journal: ChallengeJournal, at now: WallTime) -> String? {
        let space = ProtectionSpace(origin: origin, realm: nil, authenticationMethod: .default)
        var entry = JournalEntry(JournalEntry.Key(space, scheme: ""), .unseen, at: now)
        entry.reason = sentence
        entry.rule = rule
        entry.suggestion = suggestion
        guard journal.put([entry]) else { return nil }
        return sentence + (suggestion.map { "; to decrypt it, add: \($0)" } ?? "")
    }
}
