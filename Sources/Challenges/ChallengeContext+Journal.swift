import Authentication
import Bytes
import IO
import Model
import Rules
import Telemetry

extension ChallengeContext {
    /// Writes into the journal that a challenge was answered.
    func noteAnswer(_ answer: Answer) {
        guard let challenge = answer.challenge else { return }
        var entry = JournalEntry(
            JournalEntry.Key(answer.space, scheme: challenge.scheme), .answered, at: loop.epochMilliseconds)
        entry.lines = [JournalText.printable("\(challenge)", longest: 512)]
        let rule = delegate.rule(for: answer.space, failures: 0)
        entry.rule = rule.rule.map { JournalText.printable("\($0)") }
        entry.disposition = rule.answer.words
        entry.credential = answer.credential.version.name
        state.journal.put([entry])
        request.record.challenge = ChallengeRecord(schemes: entry.key.scheme, realm: entry.key.space.realm)
    }
}

extension HeaderChallenge: CustomStringConvertible {
    /// As a server might have written it.
    public var description: String {
        let parameters = parameters.map { "\($0.name)=\"\($0.value.span.text)\"" }
        return ([scheme + (token68.map { " \($0)" } ?? "")] + [parameters.joined(separator: ", ")])
            .filter { !$0.isEmpty }.joined(separator: " ")
    }
}
