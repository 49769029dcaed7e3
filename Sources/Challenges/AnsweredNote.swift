import Authentication
import Rules
import Synchronization
import Telemetry

/// The journal's word on a challenge that is answered again and again: to count another one takes no lock and no text.
final class AnsweredNote: Sendable {
    /// For the record of each exchange.
    let challenge: ChallengeRecord
    private let repetitions = Atomic(0)
    private let last: Atomic<Int>
    private let isCurrent = Atomic(true)

    init(_ challenge: ChallengeRecord, at now: Int) {
        self.challenge = challenge
        last = Atomic(now)
    }

    /// - Returns: false when the journal has another entry by now, or none.
    func add(at now: Int) -> Bool {
        guard isCurrent.load(ordering: .relaxed) else { return false }
        repetitions.add(1, ordering: .relaxed)
        last.store(now, ordering: .relaxed)
        return true
    }

    /// The entry goes.
    func end() { isCurrent.store(false, ordering: .relaxed) }

    /// Adds what was counted to an entry.
    func count(in entry: inout JournalEntry) {
        entry.count += repetitions.load(ordering: .relaxed)
        entry.last = max(entry.last, last.load(ordering: .relaxed))
    }
}

/// The note that a challenger's last answer has left.
struct LatestNote {
    let space: ProtectionSpace
    let version: CredentialVersion
    /// By which the rule was found.
    let rules: RuleSet
    let note: AnsweredNote

    func covers(_ answer: Answer, by rules: RuleSet) -> Bool {
        self.rules === rules && version == answer.credential.version && space == answer.space
    }
}
