import Foundation
import Testing

/// Ways that lead back to the proxy without a client asking for it by name: each ends before a connection is made.
struct LocalListenerTests {
    /// A proxy with these rules, in which `$` is its own port.
    private func running(
        _ rules: String, script: String = "", _ body: (AttacheProcess) throws -> Void
    ) throws {
        var setting = AttacheProcess.Setting(threads: 1)
        setting.files["proxy.pac"] = "function FindProxyForURL(url, host) { return 'DIRECT'; }\n"
        try AttacheProcess.running(setting: setting) { proxy throws in
            try proxy.replace("proxy.pac", with: script.replacing("$", with: "\(proxy.port)"))
            try proxy.reload(rules.replacing("$", with: "\(proxy.port)"))
            #expect(proxy.awaitErrorOutput("the rule file was reloaded"), "\(proxy.errorOutput)")
            try body(proxy)
        }
    }

    /// The response for a client that is the proxy's only one at the time.
    private func get(_ url: String, by proxy: AttacheProcess) throws -> Fetched {
        let before = try proxy.metric("attache_clients_total")
        let answer = try proxy.get(url)
        #expect(try proxy.metric("attache_clients_total") == before + 1)
        return answer
    }

    @Test(arguments: ["PROXY 127.0.0.1:$", "PROXY localhost:$", "SOCKS5 127.0.0.1:$", "HTTPS localhost:$"])
    func `a PAC file that names the proxy itself leads nowhere`(way: String) throws {
        let script = "function FindProxyForURL(url, host) { return '\(way)'; }\n"
        try running("parent corp { pac @/proxy.pac }\nroute * { via corp }", script: script) { proxy throws in
            let refused = try get("http://a.test/", by: proxy)
            #expect(refused.status == 502)
            #expect(refused["Proxy-Status"]?.contains("error=proxy_loop_detected") == true, "\(refused)")
            let wire = try proxy.connect()
            try wire.send("CONNECT a.test:443 HTTP/1.1\r\nHost: a.test:443\r\n\r\n")
            #expect(try wire.readResponse(to: "CONNECT")["Proxy-Status"]?.contains("proxy_loop_detected") == true)
            #expect(try proxy.records(atLeast: 2).count == 2)
        }
    }

    @Test func `a PAC file's next way is taken where the first is the proxy itself`() throws {
        let parent = try RecordingOrigin.answering { try $1.reply(body: "by a parent") }
        let script =
            "function FindProxyForURL(url, host) { return 'PROXY 127.0.0.1:$; PROXY 127.0.0.1:\(parent.port)'; }\n"
        try running("parent corp { pac @/proxy.pac }\nroute * { via corp }", script: script) { proxy throws in
            #expect(try get("http://a.test/", by: proxy).text == "by a parent")
        }
    }

    @Test(arguments: ["http://127.0.0.1:$/token", "https://127.0.0.1:$/token"])
    func `a token endpoint at the proxy's own port is not asked`(endpoint: String) throws {
        let api = try RecordingOrigin.answering { _, connection in
            try connection.reply("401 Unauthorized", ["WWW-Authenticate: Bearer"])
        }
        let rules = """
            credential crm { oauth2 \(endpoint); client-id crm; client-secret file @/password }
            challenge { host 127.0.0.1; port \(api.port); use crm }
            """
        try running(rules) { proxy throws in
            let refused = try get(api.url(), by: proxy)
            #expect(refused.status == 502)
            #expect(refused.text.contains("is this proxy itself"), "\(refused)")
            #expect(api.messages.allSatisfy { $0["Authorization"] == nil })
            #expect(try proxy.records().count == 1)
        }
    }

    /// The part of a login that names the proxy.
    enum Lure: CaseIterable {
        /// Instead of what was asked for.
        case location
        /// The form's action in the page.
        case form
        /// The redirect after the form.
        case sentOn
    }

    @Test(arguments: Lure.allCases)
    func `a login that leads to the proxy itself is not followed, and its password stays with the origin`(
        lure: Lure
    ) throws {
        let origin = try RecordingOrigin.answering { request, connection in
            // Which names the proxy's port.
            let query = request.target.drop { $0 != "?" }
            let place = "http://127.0.0.1:\(query.dropFirst())/login"
            if lure == .location {
                try connection.reply("302 Found", ["Location: \(place)"])
            } else if request.method == "POST" {
                try connection.reply(lure == .sentOn ? "307 Temporary Redirect" : "200 OK", ["Location: \(place)"])
            } else if request.target.hasPrefix("/login") {
                let action = lure == .form ? place : "/login\(query)"
                try connection.reply(
                    "200 OK", ["Content-Type: text/html"],
                    "<form action=\(action) method=post><input name=u><input type=password name=p></form>")
            } else {
                try connection.reply("302 Found", ["Location: /login\(query)"])
            }
        }
        let rules = """
            credential web { user \(Account.user); password file @/password }
            challenge "portal" {
                host 127.0.0.1; method html-form
                form { recognise status 302 location *login*; login /login; fields u={user} p={password} }
                use web
            }
            """
        try running(rules) { proxy throws in
            let answer = try get(origin.url("/a?\(proxy.port)"), by: proxy)
            #expect(lure == .form || answer.status == 502, "\(answer)")
            // A form is sent where the rule says; the page does not decide.
            #expect(origin.messages.count { $0.method == "POST" } == (lure == .location ? 0 : 1))
            #expect(try proxy.records().count == 1)
        }
    }
}
