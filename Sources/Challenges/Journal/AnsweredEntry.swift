import Authentication
import Bytes
import Model
import Rules
import Synchronization
import Telemetry

/// The journal's counter of a challenge that is answered again and again. To count another answer takes no lock and no
/// text.
final class AnsweredEntry: Sendable {
    /// The challenge for the record of each exchange.
    let challenge: ChallengeRecord
    private let repetitions = Atomic(0)
    private let last: Atomic<WallTime>
    private let isCurrent = Atomic(true)

    init(_ challenge: ChallengeRecord, at now: WallTime) {
        self.challenge = challenge
        last = Atomic(now)
    }

    /// - Returns: false if the journal has replaced or dropped the entry.
    func add(at now: WallTime) -> Bool {
        guard isCurrent.load(ordering: .relaxed) else { return false }
        repetitions.add(1, ordering: .relaxed)
        last.store(now, ordering: .relaxed)
        return true
    }

    /// Ends the counting: the entry is dropped.
    func end() { isCurrent.store(false, ordering: .relaxed) }

    /// Adds the count to an entry.
    func count(in entry: inout JournalEntry) {
        entry.count += repetitions.load(ordering: .relaxed)
        entry.last = max(entry.last, last.load(ordering: .relaxed))
    }

    /// The note of a challenger's last answer.
    struct Latest {
        let note: AnsweredEntry
        private let space: ProtectionSpace
        private let version: CredentialVersion
        private let rules: RuleSet
        private let rule: RuleReference?
        private let failures: Int

        /// - Parameters:
        ///   - rules: the rules that made the ruling.
        ///   - failures: the number of refused answers of the request before it.
        init(_ note: AnsweredEntry, of answer: Answer, by ruling: RuleDecision, of rules: RuleSet, after failures: Int)
        {
            self.note = note
            space = answer.space
            version = answer.credential.version
            self.rules = rules
            rule = ruling.rule
            self.failures = failures
        }

        /// Whether the journal's entry would be the same for another answer.
        func covers(_ answer: Answer, by ruling: RuleDecision, of rules: RuleSet, after failures: Int) -> Bool {
            self.rules === rules && rule === ruling.rule && self.failures == failures
                && version == answer.credential.version && space == answer.space
        }
    }
}
