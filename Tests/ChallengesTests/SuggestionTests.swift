import Authentication
import Bytes
import Model
import Rules
import Telemetry
import Testing

@testable import Challenges

/// A suggested line that is pasted unread gives no credential to a server that the user's rules keep it from.
struct SuggestionTests {
    struct Trap: Sendable, CustomStringConvertible {
        let rule: String
        let url: String
        let challenge: String

        init(_ rule: String, _ url: String, _ challenge: String = "Basic realm=\"x\"") {
            (self.rule, self.url, self.challenge) = (rule, url, challenge)
        }

        var description: String { "\(rule) | \(url) | \(challenge)" }
    }

    private static func entries(_ trap: Trap) throws -> [JournalEntry] {
        let endpoint = try #require(HTTPEndpoint(trap.url))
        let origin = Origin(
            host: endpoint.host, port: endpoint.port, protocol: endpoint.isSecure ? .https : .http)
        let delegate = RuleDelegate(
            policy: try PlayedRequest.policy("challenge \"ci\" { \(trap.rule); use a }"),
            state: PlayedRequest.freshState(), client: ClientIdentity(address: IPAddress(v4: 0x7F00_0001)))
        var parser = ChallengeParser()
        parser.parse(trap.challenge.utf8Span.span)
        let response = UnansweredResponse(
            from: Challenger(origin, title: "the origin"), to: delegate, lines: [trap.challenge],
            challenges: parser.challenges, note: nil, outcome: .passed)
        _ = response.note(at: 1)
        return delegate.state.journal.entries
    }

    @Test(arguments: [
        // A sibling below a public suffix.
        Trap("host ci.github.io; secure yes", "http://evil.github.io:8081"),
        Trap("host ci.github.io; secure yes", "https://evil.github.io"),
        Trap("host ci.github.io", "https://cj.github.io"), Trap("host ci.github.io", "https://github.io"),
        Trap("host *.s3.amazonaws.com; realm a", "https://evil.s3.amazonaws.com"),
        Trap("host *.s3.amazonaws.com; method digest", "https://evil.s3.amazonaws.com"),
        Trap("host *.blob.core.windows.net; secure yes; method digest", "https://evil.blob.core.windows.net"),
        Trap("host *.blob.core.windows.net; secure yes; realm a", "https://evil.blob.core.windows.net"),
        Trap("host *.co.uk; realm a", "https://evil.co.uk"),
        Trap("host ci-*.github.io; realm a", "https://ci-2.github.io"),
        Trap("host ci.herokuapp.com", "https://ci2.herokuapp.com"),
        Trap("host *.web.app; realm a", "https://ci.web.app"),
        // A name that looks alike.
        Trap("host ci.example", "https://ci.examp1e"), Trap("host ci.example", "https://cl.example"),
        Trap("host ci.example.com", "https://ci.example.co"), Trap("host ci.example.com", "https://ci-example.com"),
        Trap("host ci.example.com", "https://ci.exarnple.com"),
        Trap("host ci.example.com", "https://ci.example.com.evil"),
        Trap("host ci.example.com", "https://example.com"), Trap("host ci.example.com", "https://a.ci.example.com"),
        Trap("host *.example.com", "https://example.com"), Trap("host localhost", "http://127.0.0.1"),
        // Another port, protocol or realm.
        Trap("host ci.example.com; port 443", "https://ci.example.com:8443"),
        Trap("host ci.example.com; port 443; secure yes", "http://ci.example.com:8081"),
        Trap("host ci.example.com; secure yes", "http://ci.example.com"),
        Trap("host ci.example.com; protocol https", "http://ci.example.com"),
        Trap("host ci.example.com; realm Jenkins", "https://ci.example.com", "Basic realm=\"jenkins\""),
        Trap("host ci.example.com; realm Jenkins", "https://ci.example.com", "Basic realm=\"*\""),
        Trap("host ci.example.com; realm Jenkins", "https://ci.example.com", "Basic realm=\"Jenkins\u{7f}\""),
        Trap("host ci.example.com; realm Jenkins", "https://ci.example.com", "Basic"),
        // An answer that shows more.
        Trap("host ci.example.com; method digest", "https://ci.example.com"),
        Trap("host ci.example.com; method negotiate ntlm", "http://ci.example.com"),
        Trap("method digest", "https://ci.example.com"), Trap("host *; method digest", "https://ci.example.com"),
    ])
    func `no suggestion gives a credential to a server that its rule keeps it from`(_ trap: Trap) throws {
        for entry in try Self.entries(trap) {
            #expect(entry.credentials == [], "\(trap)")
            for line in (entry.suggestion ?? "").split(separator: "\n") {
                #expect(!line.contains("use a"), "\(line)")
                #expect(!line.contains("*\""), "\(line)")
                if line.hasPrefix("challenge"), trap.rule.contains("secure yes") {
                    #expect(line.contains("secure yes") && !line.contains("in clear"), "\(line)")
                }
            }
        }
    }

    @Test(arguments: [
        Trap("host ci.example.com; method basic", "https://ci.example.com", "Digest realm=\"x\", nonce=\"1\""),
        Trap("host *.example.com; method basic", "https://ci.example.com", "Digest realm=\"x\", nonce=\"1\""),
        Trap("host ci.example.com; client 10.0.0.1", "https://ci.example.com"),
        Trap("host ci.example.com; client 10.0.0.1; realm x", "https://ci.example.com"),
    ])
    func `a suggestion names the credential where its rule means the server`(_ trap: Trap) throws {
        let entry = try #require(Self.entries(trap).first)
        #expect(entry.credentials == ["a"])
        #expect(entry.suggestion?.hasSuffix("use a }") == true, "\(entry.suggestion ?? "")")
    }

    @Test func `a suggestion for another host leaves the credential open`() throws {
        let entry = try #require(Self.entries(Trap("host ci.example.com; secure yes", "https://cl.example.com")).first)
        #expect(
            entry.suggestion
                == #"challenge "cl.example.com" { host cl.example.com; port 443; realm "x"; secure yes; use … }"#)
    }
}
