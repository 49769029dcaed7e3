import Foundation
import TestSupport
import Testing

/// Servers that announce their tokens (RFC 9728), with many clients at once, and what the commands say about them.
struct AnnouncedTokenTests {
    @Test func `64 clients at once read each document once, and fetch one token`() throws {
        let server = try AnnouncingServer(.init(issuers: ["https://other.example", "ISSUER"]))
        try AttacheProcess.running(server.rules()) { proxy throws in
            let requests = try Parallel(64, server.url, through: proxy)
            #expect(requests.statuses() == Array(repeating: 200, count: 64))
            #expect(server.origin.messages.count { $0.target == "/meta" } == 1)
            #expect(server.issuer.messages.count { $0.method == "GET" } == 1)
            #expect(server.forms.count == 1)
        }
    }

    @Test func `64 clients at two servers of one issuer fetch one token for each`() throws {
        let (server, other) = (try AnnouncingServer(), try AnnouncingServer())
        let issuer = server.issuerURL
        other.change { $0.issuers = [issuer] }
        let rules = server.rules() + "\nchallenge \"other\" { host 127.0.0.1; port \(other.origin.port); use mcp }"
        try AttacheProcess.running(rules) { proxy throws in
            let requests = [
                try Parallel(32, server.url, through: proxy), try Parallel(32, other.url, through: proxy),
            ]
            for request in requests { #expect(request.statuses() == Array(repeating: 200, count: 32)) }
            #expect(server.issuer.messages.count { $0.method == "GET" } == 1 && other.issuer.messages.isEmpty)
            #expect(server.forms.count == 2 && Set(server.forms).count == 2)
            for origin in [server.origin, other.origin] {
                #expect(origin.messages.count { $0.target == "/meta" } == 1)
                #expect(Set(origin.messages.compactMap { $0["Authorization"] }).count == 1)
            }
        }
    }

    @Test(arguments: ["403 Forbidden", "401 Unauthorized"])
    func `a step up keeps the scopes of before`(refusal: String) throws {
        let server = try AnnouncingServer(.init(issuers: ["ISSUER/"], refusal: refusal))
        try AttacheProcess.running(server.rules()) { proxy throws in
            for path in ["/mcp", "/mcp/write", "/mcp", "/mcp/write"] {
                #expect(try proxy.get(server.origin.url(path)).text == "ok")
            }
            let forms = server.forms
            #expect(forms.count == 2)
            #expect(
                forms.first?.contains("&scope=read&") == true && forms.last?.contains("&scope=read%20write&") == true)
            #expect(forms.allSatisfy { $0.contains("&resource=http%3A%2F%2F127.0.0.1%3A\(server.origin.port)%2Fmcp") })
        }
    }

    @Test func `a server of another issuer gets nothing`() throws {
        let server = try AnnouncingServer(.init(issuers: ["https://other.example"]))
        try AttacheProcess.running(server.rules()) { proxy throws in
            let fetched = try proxy.get(server.url)
            #expect(fetched.status == 401)
            #expect(fetched["Proxy-Status"]?.contains("is served by https://other.example") == true, "\(fetched)")
            #expect(
                server.issuer.messages.isEmpty && server.origin.messages.allSatisfy { $0["Authorization"] == nil })
        }
    }

    // MARK: - Commands

    private func attache(_ words: String..., of proxy: AttacheProcess) throws -> String {
        let run = try Finished.run(
            AttacheBinary.path, words + ["--config", "proxy.conf"], directory: proxy.folder, seconds: 60)
        #expect(run.succeeded, "\(run)")
        return run.output
    }

    @Test func `challenges shows the lines to paste, with issuer, resource and scopes, and they work`() throws {
        let server = try AnnouncingServer(.init(issuers: ["ISSUER", "https://other.example"], scope: "read write"))
        let lines = try AttacheProcess.running("") { proxy throws in
            #expect(try proxy.get(server.url).status == 401)
            #expect(
                try Wait.until { try attache("challenges", "--unanswered", of: proxy).contains("issuer \"") })
            let shown = try attache("challenges", "--unanswered", of: proxy)
            #expect(
                shown.contains("# the server announces this issuer, for \(server.url): check that it is yours"),
                "\(shown)")
            #expect(shown.contains("# or one of its other issuers: https://other.example"), "\(shown)")
            #expect(server.origin.messages.allSatisfy { $0["Authorization"] == nil } && server.issuer.messages.isEmpty)
            return shown.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }
                .filter { $0.hasPrefix("credential ") || $0.hasPrefix("challenge \"") }
        }
        #expect(lines.count == 2 && lines.first?.contains("scope \"read\" \"write\"") == true, "\(lines)")
        let rules = lines.joined(separator: "\n").replacing("client-id NAME", with: "client-id agent")
            .replacing("client-secret file /path/to/secret", with: "client-secret s")
            .replacing(#/ +\# unencrypted.*/#, with: "")
        try AttacheProcess.running(rules) { proxy throws in #expect(try proxy.get(server.url).text == "ok") }
    }

    @Test func `explain shows the issuer, the resource, the scopes, and those that the rule file leaves out`() throws {
        let server = try AnnouncingServer(.init(scope: "read admin"))
        try AttacheProcess.running(server.rules()) { proxy throws in
            let asked = try attache("explain", "--ask", server.url, of: proxy)
            for line in [
                "issuer         \(server.issuerURL), as credential mcp says", "resource       \(server.url)",
                "scopes         read", "left out       admin: not in 'scope' of credential mcp",
            ] {
                #expect(asked.contains("  \(line)\n"), "\(line)\n\(asked)")
            }
            let challenge = "Bearer resource_metadata=\"\(server.origin.url("/meta"))\", scope=\"admin\""
            let given = try attache("explain", server.url, "--challenge", challenge, of: proxy)
            #expect(given.contains("  metadata       it is read from \(server.origin.url("/meta"));"), "\(given)")
            #expect(
                given.contains("  token          none is requested: the server wants the scope 'admin'"), "\(given)")

            server.change { $0.issuers = ["https://other.example"] }
            let other = try attache("explain", "--ask", server.url, of: proxy)
            #expect(
                other.contains("token          none is requested: 127.0.0.1 is served by https://other.example"),
                "\(other)")

            server.change { ($0.issuers, $0.challenges) = (["ISSUER"], false) }
            let silent = try attache("explain", "--ask", server.url, of: proxy)
            #expect(silent.contains("401 without a challenge, which counts as Bearer"), "\(silent)")
            #expect(silent.contains("  resource       \(server.url)\n"), "\(silent)")
            #expect(server.issuer.messages.isEmpty)
        }
    }

    @Test func `init takes an issuer that is named, and says why it gives no token`() throws {
        let server = try AnnouncingServer(.init(challenges: false))
        let person = try Beginner()
        let answers = [("Client ID: ", "agent"), ("Client secret: ", Account.password)]
        let other = try person.type(["init", server.url, "--issuer", "https://other.example"], answering: [])
        #expect(!other.succeeded && other.output.contains("is served by \(server.issuerURL)"), "\(other)")
        server.change { $0.outage = "503 Service Unavailable" }
        let down = try person.type(["init", server.url, "--issuer", server.issuerURL], answering: answers)
        #expect(!down.succeeded && down.output.contains("has no token: "), "\(down)")
        #expect(!FileManager.default.fileExists(atPath: person.rules))
        server.change { $0.outage = nil }
        let begun = try person.type(["init", server.url, "--issuer", server.issuerURL], answering: answers)
        #expect(begun.succeeded, "\(begun)")
        #expect(Scratch.read(person.rules).contains("scope read }"), "\(Scratch.read(person.rules))")
    }
}
