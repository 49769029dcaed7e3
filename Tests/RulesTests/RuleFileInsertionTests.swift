import Bytes
import Model
import Testing

@testable import Rules

/// Lines that are added to a rule file.
struct RuleFileInsertionTests {
    private struct Files: SourceReader {
        let texts: [String: String]

        func bytes(at path: String, limit: Int) throws(SourceError) -> [UInt8] {
            guard let text = texts[path] else { throw .notFound }
            return Array(text.utf8)
        }

        func environment(_: String) -> String? { nil }
    }

    private func file(_ text: String, _ others: [String: String] = [:]) throws -> RuleFile {
        try RuleFile("/etc/proxy.conf", from: Files(texts: others.merging(["/etc/proxy.conf": text]) { $1 }))
    }

    private func text(_ file: RuleFile, before rule: RuleReference?) -> String {
        String(decoding: file.bytes(adding: "route b { tunnel }\n", before: rule), as: UTF8.self)
    }

    @Test(arguments: [
        ("", "route b { tunnel }\n"), ("threads 1\n", "threads 1\n\nroute b { tunnel }\n"),
        ("threads 1", "threads 1\n\nroute b { tunnel }\n"), ("# end", "# end\n\nroute b { tunnel }\n"),
    ])
    func `without a rule they go to the end`(before: String, after: String) throws {
        #expect(text(try file(before), before: nil) == after)
    }

    @Test func `before a rule they go before its comment, and the rest stays as it is`() throws {
        let before = "threads 1\n\n# all others\n  # go through\nroute * { deny }\n# end\n"
        let file = try file(before)
        let rule = try #require(file.configuration?.routes.first?.rule)
        let added = text(file, before: rule)
        #expect(added == "threads 1\n\nroute b { tunnel }\n\n# all others\n  # go through\nroute * { deny }\n# end\n")
    }

    @Test func `before a rule of an included file they go before the include`() throws {
        let file = try file(
            "threads 1\ninclude a.conf\nroute c { tunnel }\n",
            ["/etc/a.conf": "# a\ninclude b.conf\n", "/etc/b.conf": "\nroute * { deny }\n"])
        let routes = try #require(file.configuration?.routes)
        try #require(routes.count == 2)
        #expect(
            text(file, before: routes[0].rule)
                == "threads 1\nroute b { tunnel }\n\ninclude a.conf\nroute c { tunnel }\n")
        #expect(file.isInFront(routes[0].rule, of: routes[1].rule) == true)
        #expect(file.isInFront(routes[1].rule, of: routes[0].rule) == false)
        let unknown = RuleReference(name: nil, file: "/etc/none.conf", line: 1)
        #expect(file.isInFront(unknown, of: routes[0].rule) == nil)
    }

    @Test func `several egress and authority blocks count together`() throws {
        let file = try file(
            """
            egress { allow 127.0.0.1:80; connect-ports 443 8443 }
            authority { names a.example.com }
            egress { allow 127.0.0.1:81; connect-ports 443 9443 }
            authority { names b.example.com }
            """)
        let configuration = try #require(file.configuration, "\(file.report)")
        #expect(configuration.egress.entries.map(\.text) == ["127.0.0.1:80", "127.0.0.1:81"])
        #expect(configuration.authority.names.count == 2)
        for port in [443, 8443, 9443] as [UInt16] { #expect(configuration.egress.connectPorts.contains(port)) }
        #expect(!configuration.egress.connectPorts.contains(22))
    }

    @Test func `two CAs are an error`() throws {
        let block = "authority { certificate ca.pem; key ca.key }\n"
        let file = try file(block + block)
        #expect(file.configuration == nil && file.report.contains("another 'authority' has the certificate"))
    }
}
