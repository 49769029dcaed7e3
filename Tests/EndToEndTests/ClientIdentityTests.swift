import Foundation
import TestSupport
import Testing

/// The user that the proxy takes a client for, and how long.
struct ClientIdentityTests {
    private static let token = "tok-5f2c9d1e8b7a6c4d3e2f1a0b"
    private static let realm = "realm \"the tests\""

    private func basic(_ user: String, _ password: String = Account.clientPassword) -> String {
        "Proxy-Authorization: Basic \(Data("\(user):\(password)".utf8).base64EncodedString())"
    }

    private func request(_ origin: RecordingOrigin, _ field: String? = nil) -> String {
        let field = field.map { "\($0)\r\n" } ?? ""
        return "GET \(origin.url()) HTTP/1.1\r\nHost: 127.0.0.1:\(origin.port)\r\n\(field)\r\n"
    }

    private func tokens() throws -> String { try "runner:\(Hash.hex("sha256", Self.token))\n" }

    private func setting(_ clients: String, _ files: [String: String]) -> AttacheProcess.Setting {
        let files = files.merging(["password": Account.password]) { $1 }
        return AttacheProcess.Setting(clients: "allow 127.0.0.0/8; \(Self.realm); \(clients)", files: files)
    }

    @Test func `a user who is removed is refused from the next request on, also on a kept connection`() throws {
        let origin = try RecordingOrigin.answering()
        let users = try UsersLines.of("alice", "bob")
        let setting = setting("authenticate basic; users file @/users", ["users": users])
        try AttacheProcess.running(setting: setting) { proxy throws in
            let (alice, bob) = (try proxy.connect(), try proxy.connect())
            let ask = { (wire: Wire, user: String) throws -> Int in
                try wire.send(request(origin, basic(user)))
                return try wire.readResponse().status
            }
            for _ in 0..<3 {
                #expect(try ask(alice, "alice") == 200)
                #expect(try ask(bob, "bob") == 200)
            }
            #expect(try ask(alice, "bob") == 200, "the connection is nobody's")
            try proxy.replace("users", with: UsersLines.of("bob"))
            #expect(try Wait.until { try ask(alice, "alice") == 407 })
            #expect(try ask(bob, "bob") == 200)
            #expect(try ask(alice, "bob") == 200)
            let users = Set(try proxy.records(atLeast: 10).filter { $0["status"] == "200" }.map { $0["user"] })
            #expect(users == ["alice", "bob"])
        }
    }

    @Test func `a tunnel that is looked into ends with its user`() throws {
        let origin = try RecordingOrigin.answering()
        let setting = setting("authenticate basic; users file @/users", ["users": try UsersLines.of("alice", "bob")])
        try AttacheProcess.running("route * { intercept }", setting: setting) { proxy throws in
            let inside = "GET / HTTP/1.1\r\nHost: 127.0.0.1:\(origin.port)\r\n\r\n"
            let tunnel = { (user: String) throws -> Wire in
                let wire = try proxy.connect()
                let target = "127.0.0.1:\(origin.port)"
                try wire.send("CONNECT \(target) HTTP/1.1\r\nHost: \(target)\r\n\(basic(user))\r\n\r\n")
                #expect(try wire.readResponse(to: "CONNECT").status == 200)
                return wire
            }
            let (alice, bob) = (try tunnel("alice"), try tunnel("bob"))
            let ask = { (wire: Wire) throws -> Message in
                try wire.send(inside)
                return try wire.readResponse()
            }
            #expect(try ask(alice).status == 200)
            #expect(try ask(bob).status == 200)
            try proxy.replace("users", with: UsersLines.of("carol"))
            _ = Wait.until { (try? proxy.get(origin.url(), "-U", "carol:\(Account.clientPassword)").status) == 200 }
            let refused = try ask(alice)
            #expect(refused.status == 403)
            #expect(refused.text.contains("may no longer use the proxy"))
            #expect(refused["Connection"] == "close")
        }
    }

    @Test func `a token is known by its hash, until its line is gone`() throws {
        let origin = try RecordingOrigin.answering()
        let setting = setting("authenticate bearer; tokens file @/tokens", ["tokens": try tokens()])
        try AttacheProcess.running(setting: setting) { proxy throws in
            let none = try proxy.get(origin.url())
            #expect(none.status == 407)
            #expect(none["Proxy-Authenticate"] == "Bearer realm=\"the tests\"")
            let wire = try proxy.connect()
            let ask = { () throws -> Message in
                try wire.send(request(origin, "Proxy-Authorization: Bearer \(Self.token)"))
                return try wire.readResponse()
            }
            #expect(try ask().status == 200)
            #expect(try ask().status == 200)
            let wrong = try proxy.exchange(request(origin, "Proxy-Authorization: bearer \(Self.token)x"))
            #expect(wrong["Proxy-Authenticate"]?.contains("error=\"invalid_token\"") == true)
            try proxy.replace("tokens", with: "")
            #expect(try Wait.until { try ask().status == 407 })
            #expect(origin.messages.allSatisfy { $0["Proxy-Authorization"] == nil })
            #expect(try proxy.records(atLeast: 4).filter { $0["user"] == "runner" }.count >= 2)
            #expect(!(proxy.accessLog + proxy.errorOutput).contains(Self.token))
        }
    }

    @Test func `rules speak of clients by the name that they proved`() throws {
        let apache = try ApacheServer.shared()
        let rules = """
            credential web { user \(Account.user); password file @/password }
            challenge { host 127.0.0.1; client "alice" "run*"; use web }
            """
        let setting = setting(
            "authenticate digest bearer basic; users file @/users; tokens file @/tokens",
            ["users": try UsersLines.digest("alice", "bob", realm: "the tests"), "tokens": try tokens()])
        try AttacheProcess.running(rules, setting: setting) { proxy throws in
            let fetch = { (options: [String]) throws -> Int in
                try Curl.fetch(apache.url("/basic/"), ["-x", proxy.address] + options).status
            }
            for scheme in ["--proxy-digest", "--proxy-basic"] {
                #expect(try fetch([scheme, "-U", "alice:\(Account.clientPassword)"]) == 200)
                #expect(try fetch([scheme, "-U", "bob:\(Account.clientPassword)"]) == 401)
            }
            #expect(try fetch(["--proxy-header", "Proxy-Authorization: Bearer \(Self.token)"]) == 200)
        }
    }

    @Test func `a login of one user's at an origin is not left to the next on the same connection`() throws {
        let origin = try RecordingOrigin.answering { request, connection in
            if request["Authorization"] == "NTLM TlRMTVNTUAAB" {
                try connection.reply("401 Unauthorized", ["WWW-Authenticate: NTLM TlRMTVNTUAAC"])
            } else {
                try connection.reply(body: "ok")
            }
        }
        let setting = setting("authenticate basic; users file @/users", ["users": try UsersLines.of("alice", "bob")])
        try AttacheProcess.running(setting: setting) { proxy throws in
            let wire = try proxy.connect()
            let ask = { (fields: String...) throws -> Int in
                try wire.send(request(origin, fields.joined(separator: "\r\n")))
                return try wire.readResponse().status
            }
            #expect(try ask(basic("alice"), "Authorization: NTLM TlRMTVNTUAAB") == 401)
            #expect(try ask(basic("alice"), "Authorization: NTLM TlRMTVNTUAAD") == 200)
            #expect(try ask(basic("alice")) == 200)
            #expect(try ask(basic("bob")) == 200)
            let connections = origin.requests.map(\.connection)
            #expect(connections.prefix(3) == [connections[0], connections[0], connections[0]])
            #expect(connections.last != connections[0])
        }
    }

    @Test func `two answers in one request are refused`() throws {
        let origin = try RecordingOrigin.answering()
        let setting = setting("authenticate basic; users file @/users", ["users": try UsersLines.of("alice")])
        try AttacheProcess.running(setting: setting) { proxy throws in
            let wire = try proxy.connect()
            try wire.send(request(origin, basic("alice")))
            #expect(try wire.readResponse().status == 200)
            try wire.send(request(origin, "\(basic("alice"))\r\n\(basic("bob"))"))
            #expect(try wire.readResponse().status == 400)
            #expect(origin.requests.count == 1)
        }
    }

    /// The rest of an unwanted body is read, or the connection says that it ends.
    @Test(arguments: [(1000, true), (1 << 20, false)])
    func `a refused upload leaves the connection as the answer says`(size: Int, isKept: Bool) throws {
        let origin = try RecordingOrigin.answering()
        let setting = setting("authenticate basic; users file @/users", ["users": try UsersLines.of("alice")])
        try AttacheProcess.running(setting: setting) { proxy throws in
            let wire = try proxy.connect()
            try wire.send(
                "POST \(origin.url()) HTTP/1.1\r\nHost: 127.0.0.1:\(origin.port)\r\nContent-Length: \(size)\r\n\r\n")
            try wire.send([UInt8](repeating: 120, count: min(size, 200_000)))
            let refused = try wire.readResponse()
            #expect(refused.status == 407)
            #expect(refused["Proxy-Authenticate"]?.hasPrefix("Basic ") == true)
            #expect(refused.text.contains("set a user name and a password"))
            #expect((refused["Connection"] == "close") == !isKept)
            guard isKept else { return }
            try wire.send(request(origin, basic("alice")))
            #expect(try wire.readResponse().status == 200)
        }
    }
}
