import Authentication
import Bytes
import Credentials
import IO
import Model
import Rules
import Telemetry

extension ChallengeContext {
    /// Writes into the journal that a challenge was answered.
    func noteAnswer(_ answer: Answer) {
        guard let challenge = answer.challenge else { return }
        let now = loop.epochMilliseconds
        if let latest = challenger.latestNote, latest.covers(answer, by: policy.rules), latest.note.add(at: now) {
            request.record.challenge = latest.note.challenge
            return
        }
        var entry = JournalEntry(JournalEntry.Key(answer.space, scheme: challenge.scheme), .answered, at: now)
        entry.lines = [JournalText.printable("\(challenge)", longest: 512)]
        let rule = delegate.rule(for: answer.space, failures: 0)
        entry.rule = rule.rule.map { JournalText.printable("\($0)") }
        entry.disposition = rule.action.words
        let name = answer.credential.version.name
        entry.credential = name
        if (try? policy.credentials.credential(named: name)) != nil { entry.credentials = [name] }
        let note = AnsweredNote(ChallengeRecord(schemes: entry.key.scheme, realm: entry.key.space.realm), at: now)
        state.journal.put([entry], counting: note)
        challenger.latestNote = LatestNote(
            space: answer.space, version: answer.credential.version, rules: policy.rules, note: note)
        request.record.challenge = note.challenge
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
