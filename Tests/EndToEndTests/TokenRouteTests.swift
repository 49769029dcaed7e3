import Foundation
import TestSupport
import Testing

/// Token endpoints are asked by the way that the route of their URL says, as clients' requests are.
struct TokenRouteTests {
    private static let account = """
        credential corp { user \(Account.user); password "\(Account.password)" }
        challenge { proxy yes; method basic ntlm; use corp }
        """

    private static func rules(_ url: String, _ server: TokenServer, _ more: String) -> String {
        """
        credential crm { oauth2 \(url); client-id crm; client-secret s }
        challenge { proxy no; host 127.0.0.1; port \(server.api.port); use crm }
        route 127.0.0.1:\(server.api.port) { tunnel }
        \(more)
        """
    }

    @Test(arguments: [SquidServer.Demand.basic, .ntlm])
    func `an endpoint behind a parent is asked through it, whatever the parent wants`(
        demand: SquidServer.Demand
    ) throws {
        let squid = try SquidServer.shared(demand)
        let through = "\(Self.account)\nparent corp { http \(squid.address) }\nroute * { via corp }"
        let server = try TokenServer()
        let mark = ApacheServer.mark()
        try AttacheProcess.running(Self.rules("\(server.url)?\(mark)", server, through)) { proxy throws in
            #expect(try proxy.get(server.api.url()).text == "ok", "\(proxy.errorOutput)")
            let seen = squid.entries(marked: mark, atLeast: demand == .ntlm ? 3 : 2)
            #expect(seen.map(\.target).allSatisfy { $0 == "\(server.url)?\(mark)" })
            #expect(seen.last?.status == 200 && seen.first?.status == 407)
            let request = try #require(server.endpoint.messages.first)
            #expect(request.startLine == "POST /token?\(mark) HTTP/1.1")
            #expect(request.text == "grant_type=client_credentials")
            #expect(server.endpoint.messages.allSatisfy { $0["Proxy-Authorization"] == nil })
            #expect(server.endpoint.messages.count == 1)
        }
        let terminator = try TLSTerminator(to: server.endpoint.port)
        let secure = Self.rules("https://\(terminator.authority)/token", server, through)
        try AttacheProcess.visitingZoo(secure) { proxy throws in
            #expect(try proxy.get(server.api.url()).text == "ok", "\(proxy.errorOutput)")
            // A tunnel's entry is written when it has ended.
            #expect(Wait.until { squid.entries(marked: terminator.authority).last?.status == 200 })
            let seen = squid.entries(marked: terminator.authority)
            #expect(seen.allSatisfy { $0.method == "CONNECT" }, "\(seen)")
            #expect(server.endpoint.messages.count == 2)
        }
    }

    @Test func `a PAC file says the way to an endpoint, and no client's limits apply to it`() throws {
        let server = try TokenServer()
        let parent = try RecordingOrigin.answering { _, connection in
            try connection.reply("200 OK", [], "{\"access_token\":\"\(TokenServer.stem)0\",\"token_type\":\"Bearer\"}")
        }
        var setting = AttacheProcess.Setting()
        setting.files["proxy.pac"] =
            "function FindProxyForURL(url, host) { return 'PROXY 127.0.0.1:\(parent.port)'; }\n"
        let automatic = "parent auto { pac @/proxy.pac }\nroute * { via auto }"
        let rules = Self.rules("http://127.0.0.1:9/token", server, automatic)
        try AttacheProcess.running(rules, setting: setting) { proxy throws in
            _ = try proxy.get(server.api.url())
            #expect(parent.messages.first?.startLine == "POST http://127.0.0.1:9/token HTTP/1.1")
        }
        setting = AttacheProcess.Setting(egress: "deny 127.0.0.1:\(server.endpoint.port); allow 127.0.0.0/8")
        let denied = Self.rules(server.url, server, "route 127.0.0.1:\(server.endpoint.port) { deny }")
        try AttacheProcess.running(denied, setting: setting) { proxy throws in
            let fetched = try proxy.get(server.api.url())
            #expect(fetched.text == "ok", "\(fetched)")
            #expect(try proxy.get(server.url).status == 403)
        }
    }

    /// A parent that makes all requests itself: for tokens, and for what wants one.
    private static func parent(demanding challenge: String, by scheme: String) throws -> RecordingOrigin {
        try RecordingOrigin.answering { request, connection in
            if request.target.contains("busy.example") { return try connection.reply("503 Service Unavailable") }
            guard request["Proxy-Authorization"]?.hasPrefix(scheme) == true else {
                return try connection.reply(
                    "407 Proxy Authentication Required", ["Proxy-Authenticate: \(challenge)"])
            }
            if request.target.hasSuffix("/token") {
                let token = "{\"access_token\":\"t\",\"token_type\":\"Bearer\",\"expires_in\":1}"
                return try connection.reply("200 OK", [], token)
            }
            guard request["Authorization"] == "Bearer t" else {
                return try connection.reply("401 Unauthorized", ["WWW-Authenticate: Bearer"])
            }
            try connection.reply("200 OK", [], "ok")
        }
    }

    private static let crm = "credential crm { oauth2 http://127.0.0.1:9/token; client-id crm; client-secret s }"

    @Test func `a parent that wants the very token is not waited for`() throws {
        let parent = try Self.parent(demanding: "Bearer", by: "Bearer")
        let rules = """
            \(Self.crm)
            challenge { proxy yes; use crm }
            parent corp { http 127.0.0.1:\(parent.port) }
            route * { via corp }
            """
        try AttacheProcess.running(rules) { proxy throws in
            let fetched = try proxy.get("http://api.example/", "-m", "60")
            #expect(fetched.status == 502)
            #expect(fetched.text.contains("asks for a token, but none can be fetched through it"), "\(fetched)")
            #expect(parent.messages.allSatisfy { $0["Proxy-Authorization"] == nil })
        }
    }

    @Test func `a parent that wants a token gets one that is fetched around it`() throws {
        let server = try TokenServer()
        let parent = try RecordingOrigin.answering { request, connection in
            guard request["Proxy-Authorization"] == "Bearer \(TokenServer.stem)1" else {
                return try connection.reply("407 No", ["Proxy-Authenticate: Bearer realm=\"p\""])
            }
            if request.method == "CONNECT" { return try connection.wire.send("HTTP/1.1 200 OK\r\n\r\nhello") }
            try connection.reply(body: "by the parent")
        }
        let rules = """
            credential crm { oauth2 \(server.url); client-id crm; client-secret s }
            challenge { proxy yes; use crm }
            parent corp { http 127.0.0.1:\(parent.port); except 127.0.0.0/8 }
            route * { via corp }
            """
        try AttacheProcess.running(rules) { proxy throws in
            for _ in 1...2 { #expect(try proxy.get("http://api.example/").text == "by the parent") }
            let wire = try proxy.connect()
            try wire.send("CONNECT api.example:443 HTTP/1.1\r\nHost: api.example:443\r\n\r\n")
            #expect(try wire.readHead()?.status == 200)
            #expect(try wire.read(5) == Array("hello".utf8))
            #expect(server.issued == 1)
        }
    }
}
