import Foundation
import Testing

/// No password and no answer made of one is ever seen by a client or written down. (Each proxy of the other suites has
/// its output searched as well when it ends.)
struct SecrecyTests {
    /// The secrets that a text must not contain: the passwords, and Basic answers.
    private func leaks(in text: String) -> [String] {
        let answers = Account.secrets.map { Data("\(Account.user):\($0)".utf8).base64EncodedString() }
        return (Account.secrets + answers).filter { text.contains($0) }
    }

    @Test func `responses, log and administrator's pages hold no password`() throws {
        let apache = try ApacheServer.shared()
        let refusing = try RecordingOrigin.answering { _, connection in
            try connection.reply("401 Unauthorized", ["WWW-Authenticate: Basic realm=\"never\""], "no")
        }
        try AttacheProcess.answering(apache.port, refusing.port) { proxy throws in
            var seen = ""
            for url in [
                apache.url("/basic/"), apache.url("/digest/"), apache.url("/multi/"), apache.url("/basic/missing"),
                refusing.url(), refusing.url("/again"), "http://127.0.0.1:\(FreePort.take())/",
            ] {
                let answered = try proxy.get(url)
                #expect(answered["Authorization"] == nil)
                seen += answered.heads + answered.text
            }
            for path in ["/", "/metrics", "/healthz", "/readyz", "/challenges", "/nothing"] {
                let page = try Curl.fetch("http://127.0.0.1:\(proxy.adminPort)\(path)")
                seen += page.heads + page.text
            }
            #expect(leaks(in: seen) == [])
            #expect(try proxy.records(atLeast: 7).count == 7)
            #expect(leaks(in: proxy.accessLog + proxy.errorOutput) == [])
            #expect(!proxy.accessLog.contains("response="))
        }
    }

    @Test func `a password in a request's URL is not written down`() throws {
        let origin = try RecordingOrigin.answering()
        try AttacheProcess.running { proxy throws in
            let target = "http://someone:\(Account.colonPassword)@127.0.0.1:\(origin.port)/"
            _ = try proxy.exchange("GET \(target) HTTP/1.1\r\nHost: 127.0.0.1:\(origin.port)\r\n\r\n")
            _ = try proxy.records()
            #expect(origin.messages.allSatisfy { !$0.target.contains("@") })
        }
    }

    @Test func `an account given to the proxy for one origin does not reach another`() throws {
        let other = try RecordingOrigin.answering { request, connection in
            try connection.reply("401 Unauthorized", ["WWW-Authenticate: Basic realm=\"basic-realm\""], "give it to me")
        }
        let apache = try ApacheServer.shared()
        try AttacheProcess.answering(apache.port) { proxy throws in
            #expect(try proxy.get(apache.url("/basic/")).status == 200)
            #expect(try proxy.get(other.url("/basic/")).status == 401)
            #expect(other.messages.allSatisfy { $0["Authorization"] == nil })
        }
    }

    @Test func `diagnostics of a rule file hide the value beside the error`() throws {
        let path = Scratch.folder("rules") + "/proxy.conf"
        let texts = [
            "credential web { user u; passwrod \"\(Account.password)\" }\n",
            "credential web { user u; password \"\(Account.password)\" nonsense }\n",
            "credential web { user u; password \"\(Account.password)\n",
            "credential web { user u; password \(Account.password) } }\n",
        ]
        for text in texts {
            try Scratch.write(text, to: path)
            let run = try AttacheBinary.run("check", path)
            #expect(run.status == 2, "\(text)")
            #expect(leaks(in: run.output + run.errorOutput) == [], "\(text)")
        }
    }

    @Test func `an explanation names the credential, not its value`() throws {
        let path = Scratch.folder("rules") + "/proxy.conf"
        try Scratch.write(
            """
            listen 127.0.0.1:1
            credential web { user \(Account.user); password "\(Account.password)" }
            challenge "the site" { host site.test; use web }

            """, to: path)
        let run = try AttacheBinary.run(
            "explain", path, "GET", "http://site.test/", "--challenge", "Basic realm=\"x\"")
        #expect(run.succeeded, "\(run)")
        #expect(run.output.contains("web"))
        #expect(run.output.contains("the site"))
        #expect(leaks(in: run.output + run.errorOutput) == [])
    }
}
