import Model
import Rules
import Testing

@Suite struct RuleFileTests {
    @Test func `a file that cannot be read is the caller's news`() {
        #expect(throws: SourceError.notFound) { try RuleFile("absent", from: PlayedReader()) }
        let big = PlayedReader(["big": String(repeating: "\n", count: 1 << 20 + 1)])
        #expect(throws: SourceError.tooLarge(limit: 1 << 20)) { try RuleFile("big", from: big) }
    }

    @Test func `a byte that is not UTF-8 is an error at its place`() throws {
        var reader = PlayedReader()
        reader.files["proxy.conf"] = Array("threads 1\nstate \"a".utf8) + [0xFF] + Array("\"\nadmin x\n".utf8)
        let file = try RuleFile("proxy.conf", from: reader)
        #expect(file.configuration == nil)
        #expect(
            file.report.hasPrefix(
                "proxy.conf:2:9: error: the file is not UTF-8 here\n  state \"a\u{FFFD}\"\n          ^\n"))
        #expect(file.report.contains("proxy.conf:3:7: error"))
    }

    @Test func `a byte order mark and CRLF are no part of the text`() throws {
        let text = "\u{FEFF}threads 2\r\nclients {\r\n  realm x\r\n}\r\n"
        let file = try RuleFile("proxy.conf", from: PlayedReader(["proxy.conf": text]))
        #expect(file.report.isEmpty)
        #expect(file.configuration?.threads == .count(2))
        #expect(file.configuration?.clients.realm == "x")
    }

    @Test func `much nonsense ends in few errors`() throws {
        for unit in ["{ ", "} ", "a{", "challenge{cancel}", "\"", "x\n", "include a\n", "limits{head x}", "é"] {
            let text = String(repeating: unit, count: (1 << 15) / unit.utf8.count)
            let file = try RuleFile("proxy.conf", from: PlayedReader(["proxy.conf": text]))
            #expect(file.diagnostics.count <= 501)
            #expect(!file.diagnostics.isEmpty)
        }
    }

    @Test func `relative paths start at the file that says them`() throws {
        let reader = PlayedReader([
            "/etc/attache/proxy.conf": "include sub/more.conf\nstate here\nlog json file a.log",
            "/etc/attache/sub/more.conf": "clients { authenticate basic; users file users }",
        ])
        let configuration = try #require(try RuleFile("/etc/attache/proxy.conf", from: reader).configuration)
        #expect(configuration.state == "/etc/attache/here")
        #expect(configuration.log.destination == .file("/etc/attache/a.log"))
        #expect(configuration.clients.methods == [.basic])
        #expect(configuration.clients.users == .file("/etc/attache/sub/users"))
    }
}
