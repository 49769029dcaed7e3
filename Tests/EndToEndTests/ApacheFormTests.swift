import Foundation
import Testing

/// The login form of a real server: Apache's mod_auth_form.
struct ApacheFormTests {
    private func loggingIn(
        _ signs: String, rules: String = "", setting: AttacheProcess.Setting = .init(),
        _ body: (AttacheProcess, FormServer) throws -> Void
    ) throws {
        let server = try FormServer.shared()
        let rule = """
            credential web { user \(Account.user); password file @/password }
            challenge "apache" {
                host 127.0.0.1
                form {
                    \(signs); login /dologin.html; fields httpd_username={user} httpd_password={password}
                }
                use web
            }
            \(rules)
            """
        try AttacheProcess.running(rule, setting: setting) { proxy throws in try body(proxy, server) }
    }

    private static let cases = [
        ("redirect", "recognise status 302 location /login.html*"), ("inline", "recognise status 401"),
        ("inline", "recognise status 401 contains httpd_password"),
    ]

    @Test(arguments: cases)
    func `its session is begun, used, and begun again when it has ended`(folder: String, signs: String) throws {
        try loggingIn(signs) { proxy, server throws in
            let agent = "agent-\(UUID())"
            let get = { try proxy.get(server.url("/\(folder)/who.cgi"), "-A", agent).text }
            var cookie = ""
            for _ in 1...3 {
                let text = try get()
                #expect(text.hasPrefix("\(Account.user) session="), "\(text)")
                cookie = text.trimmingPrefix("\(Account.user) ").filter { !$0.isNewline }
            }
            #expect(server.entries("/dologin.html", from: agent).count == 1)
            #expect(try server.awaitEnd(ofSession: cookie, at: "/\(folder)/who.cgi"))
            #expect(try get().hasPrefix(Account.user))
            #expect(server.entries("/dologin.html", from: agent).count == 2)
        }
    }

    @Test(arguments: cases)
    func `a wrong password is sent once`(folder: String, signs: String) throws {
        try loggingIn(signs, setting: .init(files: ["password": "wrong\n"])) { proxy, server throws in
            let agent = "agent-\(UUID())"
            for _ in 1...3 {
                let answer = try proxy.get(server.url("/\(folder)/who.cgi"), "-A", agent)
                #expect(answer.status == (folder == "inline" ? 401 : 302))
                #expect(answer["Proxy-Status"] != nil)
            }
            // Then the proxy looks whether another form than the page's is there.
            #expect(server.entries("/dologin.html", from: agent).count == 2)
        }
    }

    @Test(arguments: ["redirect", "inline"])
    func `an upload arrives once and whole`(folder: String) throws {
        let file = try Payload.file(bytes: 1 << 20)
        let expected = "\(1 << 20) \(try Hash.sha256(ofFile: file))\n"
        let signs = folder == "inline" ? "recognise status 401" : "recognise status 302 location /login.html*"
        try loggingIn(signs) { proxy, server throws in
            for options in [[], ["-H", "Transfer-Encoding: chunked"], ["-H", "Expect:"]] {
                let sent = try Curl.fetch(
                    server.url("/\(folder)/upload.cgi"), ["-x", proxy.address, "-T", file, "-X", "POST"] + options)
                #expect(sent.text == expected, "\(sent)")
            }
        }
    }

    @Test func `the login goes the request's way, to https and through a parent`() throws {
        let squid = try SquidServer.shared(.basic)
        let server = try FormServer.shared()
        let signs = "recognise status 302 location */login.html*"
        let trust = "challenge { host 127.0.0.1; allow unknown-issuer incomplete-chain wrong-name; trust }"
        let parent = """
            parent corp { http \(squid.address) }
            challenge { proxy yes; use web }
            """
        let ways = [
            "route 127.0.0.1:\(server.port) { upgrade \(server.securePort) }\n" + trust,
            parent + "\nroute * { via corp }",
            parent + "\nroute 127.0.0.1:\(server.port) { upgrade \(server.securePort); via corp }\n" + trust,
        ]
        for way in ways {
            try loggingIn(signs, rules: way) { proxy, server throws in
                for _ in 1...2 {
                    let answer = try proxy.get(server.url("/redirect/who.cgi"))
                    #expect(answer.text.hasPrefix("\(Account.user) session="), "\(way)\n\(answer)")
                }
            }
        }
    }
}
