import Authentication
import Bytes
import Challenges
import Model
import Testing

@testable import Admin

/// Suggested lines that the dashboard can add to the rule file.
struct SuggestedLinesTests {
    private func lines(_ suggestion: String?, names: Set<String> = []) -> SuggestedLines? {
        let space = ProtectionSpace(
            origin: Origin(host: "h", port: 80, protocol: .http), realm: "r", authenticationMethod: .basic)
        var entry = JournalEntry(JournalEntry.Key(space, scheme: "basic"), .passed, at: 1)
        entry.suggestion = suggestion
        entry.suggestedNames = JournalEntry.SuggestedNames(credentials: names)
        return SuggestedLines(entry)
    }

    @Test func `a secret is asked for where the lines make a credential, and its file stands in them`() throws {
        let rule = "challenge \"h\" { host h; use c }"
        let password = "credential c { user NAME; password file /path/to/password }\n\(rule)"
        let login = try #require(lines(password, names: ["c"]))
        #expect(login.need == .password)
        #expect(login.credential == "c")
        #expect(
            login.text(user: "u", file: "/s/c.password")
                == "credential c { user u; password file /s/c.password }\n\(rule)\n")
        let token = try #require(lines("credential c { token file /path/to/token }\n\(rule)", names: ["c"]))
        #expect(token.need == .token)
        #expect(token.text(user: "u", file: "/s/c.token") == "credential c { token file /s/c.token }\n\(rule)\n")
        let known = try #require(lines("# before rule \"all\"\n\(rule)"))
        #expect(known.need == .nothing && known.credential == nil && known.text == rule + "\n")
    }

    @Test(arguments: [
        nil, "credential c { user NAME; password file /path/to/password }", "credential … { }",
        "credential c { key file /path/to/key }",
    ])
    func `lines that only a person at the file can complete are not offered`(suggestion: String?) {
        #expect(lines(suggestion) == nil)
    }
}
