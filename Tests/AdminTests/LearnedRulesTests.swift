import Authentication
import Bytes
import Challenges
import Model
import Testing

@testable import Admin

/// `attache learn`: rules as narrow as what was met.
struct LearnedRulesTests {
    private static func entry(
        _ host: String, _ protocol: NetworkProtocol, realm: String?, _ method: AuthenticationMethod,
        _ outcome: JournalEntry.Outcome, _ change: (inout JournalEntry) -> Void = { _ in }
    ) -> JournalEntry {
        let space = ProtectionSpace(
            origin: Origin(host: host, port: 8080, protocol: `protocol`), realm: realm, authenticationMethod: method)
        var entry = JournalEntry(JournalEntry.Key(space, scheme: method.rawValue), outcome, at: 1_767_225_600_000)
        change(&entry)
        return entry
    }

    @Test func `a server that was answered, and two spaces of one that was not`() {
        let entries = [
            Self.entry("ci.example", .https, realm: "Jenkins", .basic, .answered) { entry in
                entry.credential = "ci"
                entry.credentials = ["ci"]
                entry.rule = RuleReference(name: nil, file: "proxy.conf", line: 5)
                entry.count = 12
            },
            Self.entry("dav.example", .http, realm: "a \"b\"", .digest, .passed) {
                $0.reason = "no rule is for dav.example:8080"
            },
            Self.entry("dav.example", .http, realm: "c", .digest, .passed),
            Self.entry("x.example", .https, realm: nil, .serverTrust, .cancelled),
            Self.entry("y.example", .http, realm: nil, .other, .passed),
        ]
        #expect(
            LearnedRules.text(entries) == """
                # basic "Jenkins" of https://ci.example:8080: 12 times, last 2026-01-01T00:00:00Z
                # answered with ci by rule proxy.conf:5
                challenge "ci.example" { host ci.example; port 8080; realm "Jenkins"; method basic; secure yes; use ci }

                # digest "a "b"" of http://dav.example:8080: once, last 2026-01-01T00:00:00Z
                # not answered: no rule is for dav.example:8080
                credential origin-dav.example { user NAME; password file /path/to/password }
                challenge "dav.example" { host dav.example; port 8080; realm "a \\"b\\""; method digest; use origin-dav.example }

                # digest "c" of http://dav.example:8080: once, last 2026-01-01T00:00:00Z
                # not answered: unknown reason
                challenge "dav.example-2" { host dav.example; port 8080; realm "c"; method digest; use origin-dav.example }

                """)
    }

    /// A response with several challenges is one server to a person.
    @Test func `the challenges of one realm are one rule, without those that show the password`() {
        let entries = [
            Self.entry("ci.example", .http, realm: "r", .ntlm, .passed) { $0.count = 2 },
            Self.entry("ci.example", .http, realm: "r", .digest, .passed) { $0.count = 3 },
            Self.entry("ci.example", .http, realm: "r", .basic, .passed),
        ]
        #expect(
            LearnedRules.text(
                entries, besides: JournalEntry.SuggestedNames(rules: ["ci.example"], credentials: ["origin-ci.example"])
            )
                == """
                # ntlm, digest "r" of http://ci.example:8080: 3 times, last 2026-01-01T00:00:00Z
                # not answered: unknown reason
                credential origin-ci.example-2 { user NAME; password file /path/to/password }
                challenge "ci.example-2" { host ci.example; port 8080; realm "r"; method ntlm digest; use origin-ci.example-2 }

                """)
    }

    @Test func `what was answered has a rule, and what came with it has none`() {
        let entries = [
            Self.entry("ci.example", .https, realm: "r", .basic, .answered) { $0.credentials = ["ci"] },
            Self.entry("ci.example", .https, realm: "r", .digest, .passed),
            Self.entry("ci.example", .https, realm: nil, .negotiate, .passed) { $0.solved = 1_767_225_600_000 },
            Self.entry("cdn.example", .https, realm: nil, .default, .tunnelled),
        ]
        let text = LearnedRules.text(entries)
        #expect(text.split(separator: "\n").count { $0.hasPrefix("challenge ") } == 1, "\(text)")
        #expect(text.contains("method basic; secure yes; use ci }"), "\(text)")
    }
}
