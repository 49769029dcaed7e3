import Authentication
import Bytes
import Model
import Telemetry
import Testing

@testable import Challenges

struct ChallengeJournalTests {
    private static func entry(
        _ realm: String, host: String = "h", _ outcome: JournalEntry.Outcome = .passed, at now: WallTime = 0
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

    @Test func `what a response said is kept with the entries that are still there`() {
        let journal = ChallengeJournal()
        let entries = ["x", "y"].map { Self.entry($0) }
        journal.put([entries[0]])
        var response = ResponseExcerpt(status: 401, fields: [], hiding: EchoMask())
        response.take(Array("locked".utf8), mediaType: nil, hiding: EchoMask())
        journal.note(response, for: entries.map(\.key), at: 7)
        #expect(journal.entries.map(\.response?.text) == ["locked"])
        #expect(journal.entries.map(\.count) == [1])
        journal.put([Self.entry("x", .answered, at: 8)])
        #expect(journal.entries.map(\.response) == [nil], "it is about another response")
    }

    @Test func `the longest unseen goes`() {
        let journal = ChallengeJournal(capacity: 2)
        for host in ["a", "b"] { journal.put([Self.entry("x", host: host)]) }
        journal.put([Self.entry("x", host: "a")])
        journal.put([Self.entry("x", host: "c")])
        #expect(journal.entries.map(\.key.space.host) == ["c", "a"])
    }

    @Test func `further answers are counted until the entry is another one`() {
        let journal = ChallengeJournal(capacity: 2)
        let note = AnsweredEntry(ChallengeRecord(schemes: "basic", realm: "x"), at: 1)
        journal.put([Self.entry("x", .answered, at: 1)], counting: note)
        journal.put([Self.entry("y", at: 2)])
        #expect(note.add(at: 3))
        #expect(journal.entries.map(\.count) == [2, 1])
        #expect(journal.entries.map(\.last) == [3, 2])
        // It is not the longest unseen, though it was written first.
        journal.put([Self.entry("z", at: 4)])
        #expect(journal.entries.map(\.key.space.realm) == ["z", "x"])
        journal.put([Self.entry("x", .passed, at: 5)])
        #expect(!note.add(at: 6))
        #expect(journal.entries.first?.count == 3)
        #expect(journal.entries.first?.first == 1)
    }

    @Test func `a server with a new realm each time drives no other out, and is news only at first`() {
        let journal = ChallengeJournal()
        journal.put([Self.entry("x", host: "other")])
        let news = (0..<100).filter { journal.put([Self.entry("\($0)")]) }
        #expect(news == Array(0..<32))
        #expect(journal.entries.count == 33)
        #expect(journal.entries.last?.key.space.host == "other")
    }

    @Test func `a tunnel to a server that no rule names is listed last, and displaces no challenge`() {
        let journal = ChallengeJournal(capacity: 2)
        journal.put([Self.entry("x", host: "a", at: 1)])
        let origin = { (host: String) in Origin(host: host, port: 443, protocol: .https) }
        for number in 0..<250 { journal.noteTunnel(to: origin("h\(number)"), at: WallTime(milliseconds: number)) }
        journal.noteTunnel(to: origin("h100"), at: 500)
        let entries = journal.entries
        #expect(entries.count == 201)
        #expect(entries.prefix(3).map(\.key.space.host) == ["a", "h100", "h249"])
        #expect(entries[1].outcome == .tunnelled && !entries[1].isOpen)
        #expect((entries[1].first, entries[1].last, entries[1].count) == (100, 500, 2))
        #expect(!entries.contains { $0.key.space.host == "h49" })
    }

    @Test func `a tunnel to a server of which more is known is not listed again`() {
        let journal = ChallengeJournal()
        let origin = Origin(host: "h", port: 80, protocol: .http)
        journal.noteTunnel(to: origin, at: 1)
        #expect(journal.entries.map(\.outcome) == [.tunnelled])
        journal.put([Self.entry("x", at: 2)])
        #expect(journal.entries.map(\.outcome) == [.passed])
    }

    @Test func `a realm without end is cut`() {
        let key = Self.entry(String(repeating: "x", count: 10_000) + "\u{1B}").key
        #expect(key.space.realm == String(repeating: "x", count: 256) + "…")
    }

    @Test(arguments: [
        ("Jenkins", "\"Jenkins\""), ("a \"b\" \\", #""a \"b\" \\""#), ("a\nb\u{1B}", "\"a*b*\""), ("é…", "\"é*\""),
        ("\u{202E}a\u{2066}", "\"*a*\""),
    ])
    func `a realm is pasted as a string of the rule file`(_ realm: String, _ text: String) {
        #expect(SuggestedChallengeRule.quoted(realm) == text)
    }
}
