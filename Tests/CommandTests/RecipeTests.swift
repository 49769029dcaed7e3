import Foundation
import Rules
import Testing

/// The files that the manual shows: rule files that `check` accepts, and a filter that fail2ban takes.
struct RecipeTests {
    private static let pages = ManualTopic.all.filter(\.isRecipe).map(\.name)

    /// The rule file of a page: its first literal block.
    static func rules(of page: String) throws -> String {
        let blocks = ManualText.Block.blocks(of: try #require(ManualTopic.named(page)).text)
        for case .literal(let lines) in blocks { return lines.map { $0 + "\n" }.joined() }
        throw CocoaError(.fileNoSuchFile)
    }

    @Test(arguments: pages) func `a recipe is a short rule file that check accepts`(page: String) throws {
        var (rules, files) = (try Self.rules(of: page), [String: String]())
        #expect((5...15).contains(rules.split(separator: "\n").count))
        let paths = Set(rules.matches(of: #/(?:file|keytab) (\/\S+?)(?:;| |$)/#).map { String($0.1) })
        for path in paths {
            let name = String(path.split(separator: "/").last ?? "")
            files[name] = "s3cret"
            rules = rules.replacing(path, with: name)
        }
        files["proxy.conf"] = rules
        let folder = try Folder(files)
        let result = try AttacheProgram.run(
            "for name in *; do [ $name = proxy.conf ] || chmod 600 $name; done; attache check --config proxy.conf",
            in: folder)
        // A keytab is not read by 'check'. No warning is left.
        #expect(result.status == 0 && result.errorOutput == "", "\(result)")
    }

    @Test func `the index has each recipe`() throws {
        let index = try #require(ManualTopic.named("recipes")).text
        for page in Self.pages { #expect(index.contains(page)) }
        #expect(Self.pages.count == 8)
    }

    /// The filter's expression is tried alone if fail2ban is not installed.
    @Test func `fail2ban finds each refused login, and nothing that a client wrote`() throws {
        let blocks = ManualText.Block.blocks(of: try #require(ManualTopic.named("fail2ban")).text)
        let files = blocks.compactMap { block -> [String]? in if case .literal(let lines) = block { lines } else { nil }
        }
        let filter = try #require(files.first { $0[0] == "/etc/fail2ban/filter.d/attache.conf:" }).dropFirst()
        let start =
            #"{"time":"2026-11-21T03:36:00.042Z","level":"warning","event":"login.refused","by":"client","client":""#
        let log = [
            start + #"192.0.2.7","user":"a\",\"client\":\"198.51.100.1","method":"basic","details":"d"}"#,
            start + #"2001:db8::5","method":"bearer","details":"d"}"#,
            #"{"time":"2026-11-21T03:36:00.042Z","client":"192.0.2.9","method":"GET","target":"http://a/?"#
                + #"\"level\":\"warning\",\"event\":\"login.refused\",\"by\":\"client\",\"client\":\"192.0.2.1\"","status":407}"#,
        ]
        let folder = try Folder([
            "attache.conf": filter.map { $0 + "\n" }.joined(), "log": log.map { $0 + "\n" }.joined(),
        ])
        let result = try AttacheProgram.run(
            """
            if command -v fail2ban-regex > /dev/null; then
                fail2ban-regex -v "$PWD/log" "$PWD/attache.conf" | grep -oE '192\\.0\\.2\\.[0-9]+ |2001:db8::5 |[0-9]+ matched'
            else
                sed -n 's/.*failregex = ^/^[^,]*/p' attache.conf | sed 's/<HOST>/[0-9a-f.:]+/' > expression
                grep -oEf expression log | grep -oE '192\\.0\\.2\\.[0-9]+"|2001:db8::5"' | tr '"' ' '; echo '2 matched'
            fi
            """, in: folder)
        #expect(result.output == "192.0.2.7 \n2001:db8::5 \n2 matched\n", "\(result)")
    }
}
