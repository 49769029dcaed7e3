import Foundation
import TestSupport
import Testing

/// Reports that say what is so.
struct ReportTests {
    @Test func `TLS on a listener without TLS is told with the setting that mends it`() throws {
        try AttacheProcess.running("") { proxy throws in
            let curl = try Finished.run(
                "curl", ["-q", "-sS", "-k", "-x", "https://127.0.0.1:\(proxy.port)", "http://127.0.0.1:9/"])
            #expect(!curl.succeeded)
            let sentence = "the client spoke TLS to a listener without TLS: use http:// in the client's proxy setting"
            #expect(Wait.until { proxy.accessLog.contains(sentence) }, "\(proxy.accessLog)")
        }
    }

    @Test func `a parent has no state before it was tried`() throws {
        let squid = try SquidServer.shared(.nothing)
        let origin = try RecordingOrigin.answering { _, connection in try connection.reply(body: "ok") }
        let rules = "parent up { http 127.0.0.1:\(squid.port) }\nroute * { via up }\n"
        try AttacheProcess.running(rules) { proxy throws in
            let metrics = { try Curl.fetch("http://127.0.0.1:\(proxy.adminPort)/metrics", []).text }
            #expect(try !metrics().contains("attache_parent_up{"))
            #expect(try proxy.get(origin.url()).status == 200)
            #expect(try Wait.until { try metrics().contains("attache_parent_up{") })
        }
    }

    @Test func `explain recognises a login page, by a rule and without one`() throws {
        let server = try FormServer.shared()
        let folder = Scratch.folder("explain form")
        let settings = "egress { allow 127.0.0.1:\(server.port) }\n"
        try Scratch.write(settings, to: folder + "/proxy.conf")
        let ask = {
            try Finished.run(
                AttacheBinary.path, ["explain", "--ask", server.url("/login.html")], directory: folder)
        }
        let unknown = try ask()
        #expect(unknown.output.contains("answers 200 with a login page, and no rule has a 'form' for it"), "\(unknown)")
        // Apache sends a client without a session there.
        let led = try Finished.run(
            AttacheBinary.path, ["explain", "--ask", server.url("/redirect/")], directory: folder)
        #expect(led.output.contains("answers 302 and leads to the login page /login.html, and no rule"), "\(led)")
        let rules = """
            credential web { user a; password file b }
            challenge "web" {
                host 127.0.0.1
                method html-form
                form { recognise contains httpd_password; login /dologin.html; fields httpd_username={user} httpd_password={password} }
                use web
            }

            """
        try Scratch.write(settings + rules, to: folder + "/proxy.conf")
        let known = try ask()
        #expect(known.output.contains("which is its login page by the rule's 'form'"), "\(known)")
        #expect(known.output.contains("use web"), "\(known)")
    }
}
