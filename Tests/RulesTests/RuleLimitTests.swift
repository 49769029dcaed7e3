import Bytes
import Model
import Rules
import Testing

/// Rule files at the edge of what one may hold. They are read and compiled in linear time: were either quadratic, these
/// tests would take minutes.
@Suite struct RuleLimitTests {
    /// A rule file that includes as many rules as are wanted, since one file holds no more than 1 MiB.
    private func reader(_ count: Int, _ rule: (Int) -> String) -> PlayedReader {
        var files: [String: String] = ["proxy.conf": ""]
        for start in stride(from: 0, to: count, by: 16_384) {
            let name = "rules-\(start)"
            files[name] = (start..<min(start + 16_384, count)).map(rule).joined(separator: "\n")
            files["proxy.conf", default: ""] += "include \(name)\n"
        }
        return PlayedReader(files)
    }

    @Test func `65,536 challenges are read, compiled and found`() throws {
        let reader = reader(65_536) { "challenge { host h\($0); cancel }" }
        let file = try RuleFile("proxy.conf", from: reader)
        let rules = RuleSet(try #require(file.configuration, Comment(rawValue: file.report)))
        let query = ChallengeQuery(
            host: "h65535", port: 80, protocol: .http, method: .basic,
            client: ClientIdentity(address: IPAddress(v4: 0x7F00_0001)))
        #expect(rules.decide(query).rule?.place == "rules-49152:16384")
    }

    @Test(arguments: ["\r", "x\r", "\\", "\r\n"])
    func `a string that the end of the file cuts off is not closed`(end: String) throws {
        let file = try RuleFile("proxy.conf", from: PlayedReader(["proxy.conf": "route \"h\(end)"]))
        #expect(file.diagnostics.map(\.sentence).contains("the string is not closed on its line"))
    }

    @Test func `one route more than 65,536 is refused`() throws {
        let reader = reader(65_537) { "route h\($0) { deny }" }
        let file = try RuleFile("proxy.conf", from: reader)
        #expect(file.diagnostics.map(\.sentence) == ["more than 65536 routes"])
        #expect(file.report.hasPrefix("rules-65536:1:7:"))
    }
}
