import Authentication
import Bytes
import Credentials
import IO
import Model
import Rules
import Telemetry

extension ChallengeContext {
    /// Writes into the journal that a challenge was answered.
    ///
    /// - Parameters:
    ///   - ruling: the rules' word by which it was; nil: they were not asked by this request.
    ///   - failures: refused answers of this request before it.
    ///   - failure: what the response said that refused the last of them.
    func noteAnswer(_ answer: Answer, by ruling: Ruling?, after failures: Int, _ failure: ResponseExcerpt?) {
        guard let challenge = answer.challenge, !answer.isUnasked else { return }
        let now = loop.epochMilliseconds
        let ruling = ruling ?? delegate.rule(for: answer.space, failures: failures)
        if let latest = challenger.latestNote, latest.covers(answer, by: ruling, of: policy.rules, after: failures),
            latest.note.add(at: now)
        {
            request.record.challenge = latest.note.challenge
            return
        }
        var entry = JournalEntry(JournalEntry.Key(answer.space, scheme: challenge.scheme), .answered, at: now)
        entry.lines = [JournalText.printable("\(challenge)", longest: 512)]
        entry.rule = ruling.rule.map { JournalText.printable("\($0)") }
        entry.disposition = ruling.action.words
        entry.failures = failures
        entry.note(failure, at: now)
        let name = answer.credential.version.name
        entry.credential = name
        if (try? policy.credentials.credential(named: name)) != nil { entry.credentials = [name] }
        let note = AnsweredNote(ChallengeRecord(schemes: entry.key.scheme, realm: entry.key.space.realm), at: now)
        state.journal.put([entry], counting: note)
        challenger.latestNote = LatestNote(
            note, of: answer, by: ruling, of: policy.rules, after: failures)
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
