import Authentication
import Model
import Testing

@testable import Challenges

struct ChallengeJournalTests {
    private static func entry(
        _ realm: String, host: String = "h", _ outcome: JournalEntry.Outcome = .passed, at now: Int = 0
    ) -> JournalEntry {
        let space = ProtectionSpace(
            origin: Origin(host: host, port: 80, protocol: .http), realm: realm, authenticationMethod: .basic)
        return JournalEntry(JournalEntry.Key(space, scheme: "basic"), outcome, at: now)
    }

    @Test func `a space keeps its first time, its last and its count`() {
        let journal = ChallengeJournal()
        journal.put([Self.entry("x", at: 1)])
        journal.put([Self.entry("x", .answered, at: 5)])
        #expect(journal.entries.map(\.first) == [1])
        #expect(journal.entries.map(\.last) == [5])
        #expect(journal.entries.map(\.count) == [2])
        #expect(journal.entries.map(\.isAnswered) == [true])
    }

    @Test func `the longest unseen goes`() {
        let journal = ChallengeJournal(capacity: 2)
        for host in ["a", "b"] { journal.put([Self.entry("x", host: host)]) }
        journal.put([Self.entry("x", host: "a")])
        journal.put([Self.entry("x", host: "c")])
        #expect(journal.entries.map(\.key.space.host) == ["c", "a"])
    }

    @Test func `a server with a new realm each time drives no other out, and is news only at first`() {
        let journal = ChallengeJournal()
        journal.put([Self.entry("x", host: "other")])
        let news = (0..<100).filter { journal.put([Self.entry("\($0)")]) }
        #expect(news == Array(0..<32))
        #expect(journal.entries.count == 33)
        #expect(journal.entries.last?.key.space.host == "other")
    }

    @Test func `a realm without end is cut`() {
        let key = Self.entry(String(repeating: "x", count: 10_000) + "\u{1B}").key
        #expect(key.space.realm == String(repeating: "x", count: 256) + "…")
    }

    @Test(arguments: [
        ("Jenkins", "\"Jenkins\""), ("a \"b\" \\", #""a \"b\" \\""#), ("a\nb\u{1B}", "\"a*b*\""), ("é…", "\"é*\""),
    ])
    func `a realm is pasted as a string of the rule file`(_ realm: String, _ text: String) {
        #expect(SuggestedChallengeRule.quoted(realm) == text)
    }
}
