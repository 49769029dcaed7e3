import Authentication
import Bytes
import Model
import Testing

@testable import Challenges

/// Journal entries that got no answer, when something of their server is answered later.
struct SolvedEntryTests {
    private static let origin = Origin(host: "ci.test", port: 443, protocol: .https)

    private func entry(
        _ method: AuthenticationMethod, realm: String? = nil, of origin: Origin = Self.origin,
        _ outcome: JournalEntry.Outcome, at time: WallTime
    ) -> JournalEntry {
        let space = ProtectionSpace(origin: origin, realm: realm, authenticationMethod: method)
        return JournalEntry(JournalEntry.Key(space, scheme: method.rawValue), outcome, at: time)
    }

    private func solved(_ open: JournalEntry, by later: JournalEntry) -> WallTime? {
        let journal = ChallengeJournal()
        journal.put([open])
        journal.put([later])
        return journal.entries.first { !$0.isAnswered }?.solved
    }

    @Test func `another challenge of the same realm solves it`() {
        let open = entry(.basic, realm: "r", .passed, at: 1)
        #expect(solved(open, by: entry(.digest, realm: "r", .answered, at: 2)) == 2)
        #expect(solved(open, by: entry(.digest, realm: "other", .answered, at: 2)) == nil)
        #expect(solved(open, by: entry(.digest, realm: "r", .passed, at: 2)) == nil)
        let elsewhere = Origin(host: "ci.test", port: 80, protocol: .http)
        #expect(solved(open, by: entry(.digest, realm: "r", of: elsewhere, .answered, at: 2)) == nil)
    }

    /// Negotiate has no realm.
    @Test(arguments: [true, false]) func `another challenge of the same response solves it`(isTogether: Bool) {
        let lines = isTogether ? ["Negotiate, Basic realm=\"r\""] : ["Negotiate"]
        var negotiate = entry(.negotiate, .passed, at: 1)
        negotiate.lines = lines
        #expect(solved(negotiate, by: entry(.basic, realm: "r", .answered, at: 2)) == (isTogether ? 2 : nil))
        var basic = entry(.basic, realm: "r", .passed, at: 1)
        basic.lines = isTogether ? ["Basic realm=\"r\"", "Negotiate"] : ["Basic realm=\"r\""]
        #expect(solved(basic, by: entry(.negotiate, .answered, at: 2)) == (isTogether ? 2 : nil))
    }

    @Test func `an answer that came before solves nothing`() {
        #expect(
            solved(entry(.basic, realm: "r", .passed, at: 3), by: entry(.digest, realm: "r", .answered, at: 2)) == nil)
    }

    @Test func `a login over the connection solves what was about the certificate, and not the reverse`() {
        let trust = entry(.serverTrust, .cancelled, at: 1)
        #expect(solved(trust, by: entry(.basic, realm: "r", .answered, at: 2)) == 2)
        #expect(solved(entry(.basic, realm: "r", .passed, at: 1), by: entry(.serverTrust, .answered, at: 2)) == nil)
        #expect(solved(entry(.default, .unseen, at: 1), by: entry(.basic, realm: "r", .answered, at: 2)) == 2)
    }

    @Test func `the names of suggestions are told apart`() {
        let journal = ChallengeJournal()
        var first = entry(.basic, realm: "r", .passed, at: 1)
        first.suggestedNames = JournalEntry.SuggestedNames(rules: ["ci.test"], credentials: ["origin"])
        journal.put([first])
        #expect(journal.suggestedNames(besides: []).rules == ["ci.test"])
        #expect(journal.suggestedNames(besides: [first.key]) == JournalEntry.SuggestedNames())
    }
}
