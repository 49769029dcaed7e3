import Foundation
import Model
import Rules
import Testing

@Suite struct GoldenTests {
    static let folder = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Golden")
    static let names = ((try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? [])
        .filter { $0.hasSuffix(".txt") }.sorted()

    @Test func `there are golden files`() {
        #expect(Self.names.count >= 40)
    }

    /// `ATTACHE_GOLDEN=write` rewrites the expectations; read the difference before committing it.
    @Test(arguments: names)
    func `a rule file yields what its golden file says`(name: String) throws {
        let url = Self.folder.appending(path: name)
        let golden = GoldenFile(try String(contentsOf: url, encoding: .utf8))
        let actual = try golden.actual()
        if ProcessInfo.processInfo.environment["ATTACHE_GOLDEN"] == "write" {
            try (golden.given + "----\n" + actual).write(to: url, atomically: true, encoding: .utf8)
        } else {
            #expect(actual == golden.expected)
        }
    }

    @Test func `the example is short, and parses in silence`() throws {
        let root = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../..")
        let text = try String(contentsOf: root.appending(path: "proxy.conf.example"), encoding: .utf8)
        #expect(text.count { $0 == "\n" } <= 80)
        let file = try RuleFile("proxy.conf", from: PlayedReader(["proxy.conf": text]))
        #expect(file.report.isEmpty)
        let configuration = try #require(file.configuration)
        // All of its values are the defaults, apart from what the first minute needs.
        #expect(
            configuration.summary == """
                admin 127.0.0.1:3127
                egress allow 127.0.0.1:3127
                credential practice user *** password ***
                challenge "practice" host 127.0.0.1 port 3127 -> use practice

                """)
    }

    @Test func `the directives in the example's comments are right too`() throws {
        let root = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../..")
        let text = try String(contentsOf: root.appending(path: "proxy.conf.example"), encoding: .utf8)
        // Prose has a blank behind its `#`; so has an alternative that would say a directive twice, before it.
        let isShown = /#(?:[a-z}]|    [a-z]).*/
        var count = 0
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false).map { line in
            guard line.wholeMatch(of: isShown) != nil else { return line }
            count += 1
            return line.dropFirst()
        }
        let file = try RuleFile("proxy.conf", from: PlayedReader(["proxy.conf": lines.joined(separator: "\n")]))
        #expect(file.diagnostics.filter { $0.severity == .error }.isEmpty, Comment(rawValue: file.report))
        #expect(count > 20)
    }
}
