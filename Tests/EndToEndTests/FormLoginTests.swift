import Foundation
import Testing

/// HTML forms are filled in as rules say, and their sessions answer from then on.
struct FormLoginTests {
    private static let redirect = "recognise status 302 location /login*"
    private static let text = "recognise status 200 contains \"csrf_token\""

    private func loggingIn(
        to server: LoginServer, _ signs: String = Self.redirect, login: String = "/login", rules: String = "",
        setting: AttacheProcess.Setting = .init(), _ body: (AttacheProcess) throws -> Void
    ) throws {
        let rule = """
            credential web { user \(Account.user); password file @/password }
            \(rules)
            challenge "portal" {
                host 127.0.0.1
                port \(server.port)
                method html-form
                form { \(signs); login \(login); fields username={user} password={password} }
                use web
            }
            """
        try AttacheProcess.running(rule, setting: setting) { proxy throws in
            try body(proxy)
            #expect(server.count("login forged") == 0)
        }
    }

    @Test func `one login serves the requests that follow, and the client sees none of it`() throws {
        let server = try LoginServer()
        try loggingIn(to: server) { proxy throws in
            for path in ["/a", "/b/c?d", "/a"] {
                let answer = try proxy.get(server.url(path))
                #expect(answer.text == "home\n", "\(answer)")
                #expect(answer.status == 200)
                #expect(!answer.heads.contains("sid=") && !answer.heads.contains("visitor="))
                #expect(answer["Set-Cookie"] == "shown=1; Path=/")
            }
            #expect(server.count("login good") == 1)
            // The client's three, and where the login led to.
            #expect(server.journal.filter { $0.hasPrefix("GET") } == ["GET /home", "GET /a", "GET /b/c", "GET /a"])
            let record = try #require(try proxy.records(atLeast: 3).first)
            #expect(record["scheme"] == "html-form")
            #expect(record["credential"] == "web")
            #expect(record["rule"] == "portal")
        }
    }

    @Test(arguments: [[], ["--compressed"], ["-H", "Accept-Encoding: br, zstd"], ["-H", "Accept-Encoding: br, gzip"]])
    func `a login page is told by its text, in whatever coding it comes`(options: [String]) throws {
        let server = try LoginServer(.page)
        try loggingIn(to: server, Self.text) { proxy throws in
            for _ in 1...2 {
                let answer = try Curl.fetch(server.url("/a"), ["-x", proxy.address] + options)
                #expect(answer.text == "home\n", "\(answer)")
            }
            #expect(server.count("login good") == 1)
            // The page that came was the one that was filled in.
            #expect(server.count("form") == 1)
        }
    }

    @Test func `a login may take two pages, and its forms be sent in parts`() throws {
        let server = try LoginServer(.steps)
        try loggingIn(to: server) { proxy throws in
            for path in ["/a", "/b"] { #expect(try proxy.get(server.url(path)).text == "home\n") }
            #expect(
                server.journal == ["form", "login named", "form", "login good", "GET /home", "GET /a", "GET /b"])
        }
        let other = try LoginServer(.steps)
        let setting = AttacheProcess.Setting(files: ["password": "wrong\n"])
        try loggingIn(to: other, setting: setting) { proxy throws in
            for _ in 0..<2 { #expect(try proxy.get(other.url("/a")).status == 302) }
            #expect(other.count("login named") == 1 && other.count("login bad") == 1)
        }
    }

    @Test func `an answer in few words is enough, and the form is found where it is sent to`() throws {
        let server = try LoginServer(.words)
        try loggingIn(to: server, "recognise status 401 contains login") { proxy throws in
            #expect(try proxy.get(server.url("/api")).text == "home\n")
            #expect(try proxy.get(server.url("/api"), "-X", "POST", "-d", "x=1").text.hasPrefix("3 "))
            #expect(server.count("login good") == 1)
        }
    }

    @Test(arguments: [LoginServer.Manner.redirect, .page])
    func `a session that has ended is begun again`(manner: LoginServer.Manner) throws {
        let server = try LoginServer(manner, uses: 3)
        try loggingIn(to: server, manner == .page ? Self.text : Self.redirect) { proxy throws in
            for number in 1...10 {
                let answer = try proxy.get(server.url("/\(number)"))
                #expect(answer.text == "home\n", "\(number): \(answer)")
            }
            #expect(server.count("login good") == 4)
        }
    }

    @Test func `a wrong password is sent once, until it changes`() throws {
        let server = try LoginServer()
        try loggingIn(to: server, setting: .init(files: ["password": "wrong\n"])) { proxy throws in
            for _ in 1...4 {
                let answer = try proxy.get(server.url("/a"))
                #expect(answer.status == 302)
                #expect(answer["Proxy-Status"]?.hasPrefix("attache; details=\"") == true, "\(answer)")
            }
            #expect(server.count("login bad") == 1)
            #expect(proxy.errorOutput.contains("credential web was refused"))
            #expect(try proxy.records(atLeast: 4).allSatisfy { $0["details"] != nil })
            try proxy.replace("password", with: Account.password + "\n")
            #expect(try proxy.get(server.url("/a")).text == "home\n")
            #expect(server.count("login good") == 1)
        }
    }

    @Test func `a rule may have a refusal explained instead`() throws {
        let server = try LoginServer(.page)
        let rules = "challenge \"no luck\" { host 127.0.0.1; method html-form; failures 1..; cancel }"
        try loggingIn(to: server, Self.text, rules: rules, setting: .init(files: ["password": "wrong\n"])) {
            proxy throws in
            let answer = try proxy.get(server.url("/a"))
            #expect(answer.status == 502)
            #expect(answer.text.contains("no luck"))
            // Once with the form of the page that asked, and once with that of the rule's page.
            #expect(server.count("login bad") == 2)
        }
    }

    @Test(arguments: [1_000_000, 16])
    func `16 requests at once log in once, and once more when the session ends`(uses: Int) throws {
        let server = try LoginServer(.redirect, uses: uses)
        try loggingIn(to: server) { proxy throws in
            #expect(try Parallel.fetch(16, server.url("/a"), through: proxy) == Array(repeating: 200, count: 16))
            #expect(server.count("login good") == 1)
            #expect(try Parallel.fetch(16, server.url("/b"), through: proxy) == Array(repeating: 200, count: 16))
            #expect(server.count("login good") == (uses == 16 ? 2 : 1))
        }
    }

    @Test func `16 requests at once with a wrong password cost one login`() throws {
        let server = try LoginServer(.page)
        try loggingIn(to: server, Self.text, setting: .init(files: ["password": "wrong\n"])) { proxy throws in
            _ = try Parallel.fetch(16, server.url("/a"), through: proxy)
            // Once with the form of the page that asked, and once with that of the rule's page.
            #expect(server.count("login bad") == 2)
        }
    }

    @Test(arguments: [LoginServer.Manner.redirect, .page], [[], ["-H", "Transfer-Encoding: chunked"]])
    func `content is sent again behind the login`(manner: LoginServer.Manner, options: [String]) throws {
        let file = try Payload.file(bytes: 1 << 20)
        let expected = "\(1 << 20) \(try Hash.sha256(ofFile: file))\n"
        let server = try LoginServer(manner, uses: 2)
        try loggingIn(to: server, manner == .page ? Self.text : Self.redirect) { proxy throws in
            for number in 1...5 {
                let sent = try Curl.fetch(
                    server.url("/\(number)"), ["-x", proxy.address, "-T", file, "-X", "POST"] + options)
                #expect(sent.text == expected, "\(number): \(sent)")
            }
            #expect(server.journal.count { $0.hasPrefix("POST") } == 5)
        }
    }

    @Test func `the client's own cookies go along, but for names that are the session's`() throws {
        let server = try LoginServer()
        try loggingIn(to: server) { proxy throws in
            for _ in 1...2 {
                let seen = try proxy.get(server.url("/cookies"), "-H", "Cookie: a=1; sid=mine; b=2").text
                #expect(seen.hasSuffix("; a=1; b=2\n") && seen.hasPrefix("sid="), "\(seen)")
                #expect(!seen.contains("mine"))
            }
            // Without a login the cookies are passed on as they came.
            let renewed = try proxy.get(server.url("/renew"))
            #expect(!renewed.heads.contains("sid="))
            #expect(try proxy.get(server.url("/a")).text == "home\n")
            #expect(server.count("login good") == 1)
        }
    }

    @Test func `a login on another port is not gone to`() throws {
        let server = try LoginServer(.elsewhere)
        try loggingIn(to: server, "recognise status 302 location http://127.0.0.1:9/*") { proxy throws in
            let answer = try proxy.get(server.url("/a"))
            #expect(answer.status == 502)
            #expect(answer.text.contains("http://127.0.0.1:9, which is another protection space"), "\(answer)")
            #expect(server.journal == [])
        }
    }

    @Test func `a page that the user may not see does not end the session for others`() throws {
        let server = try LoginServer()
        try loggingIn(to: server) { proxy throws in
            #expect(try proxy.get(server.url("/a")).text == "home\n")
            for _ in 1...3 {
                #expect(try proxy.get(server.url("/forbidden")).status == 302)
                #expect(try proxy.get(server.url("/a")).text == "home\n")
            }
            // The first, and one in half a minute for the page.
            #expect(server.count("login good") == 2)
        }
    }

    @Test func `a first page that the user may not see is no refusal either`() throws {
        let server = try LoginServer()
        try loggingIn(to: server) { proxy throws in
            for _ in 1...3 { #expect(try proxy.get(server.url("/forbidden")).status == 302) }
            #expect(try proxy.get(server.url("/a")).text == "home\n")
        }
    }

    @Test func `pages that the user may not see are no refusal, however many there are`() throws {
        let server = try LoginServer()
        try loggingIn(to: server) { proxy throws in
            #expect(try proxy.get(server.url("/a")).text == "home\n")
            for _ in 1...3 { #expect(try proxy.get(server.url("/forbidden")).status == 302) }
            #expect(try proxy.get(server.url("/a")).text == "home\n")
            // The first, and one in half a minute for the page.
            #expect(server.count("login good") == 2)
            let all = try Parallel.fetch(8, server.url("/forbidden"), through: proxy)
            #expect(all == Array(repeating: 302, count: 8))
            #expect(try proxy.get(server.url("/a")).text == "home\n")
            #expect(server.count("login bad") == 0)
        }
    }

    @Test func `a large page that is none passes whole, in its coding or without`() throws {
        let server = try LoginServer(.page)
        try loggingIn(to: server, Self.text) { proxy throws in
            let direct = try Curl.fetch(server.url("/open"), [])
            for options in [[], ["--compressed"]] {
                let passed = try Curl.fetch(server.url("/open"), ["-x", proxy.address] + options)
                #expect(passed.text == direct.text)
            }
            #expect(server.journal == [])
        }
    }

    @Test func `events are not held back`() throws {
        let gate = Gate()
        let origin = try RecordingOrigin.answering { _, connection in
            try connection.wire.send("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\ndata: 1\n\n")
            gate.wait()
            connection.wire.close()
        }
        let rule = """
            credential web { user \(Account.user); password file @/password }
            challenge { host 127.0.0.1; form { \(Self.text); login /l; fields u={user} p={password} }; use web }
            """
        try AttacheProcess.running(rule) { proxy throws in
            let wire = try proxy.connect()
            try wire.send("GET \(origin.url()) HTTP/1.1\r\nHost: 127.0.0.1:\(origin.port)\r\n\r\n")
            let head = try wire.readHead()
            #expect(head?.status == 200)
            let first = try wire.read(1)
            #expect(!first.isEmpty)
            gate.open()
        }
    }

    @Test func `an interim response does not tell the client the session either`() throws {
        let origin = try RecordingOrigin.answering { request, connection in
            if request.method == "POST" {
                return try connection.reply("200 OK", ["Set-Cookie: sid=1; Path=/"], "welcome")
            }
            if request.target == "/login" {
                let form = "<form action=/login><input name=username><input type=password name=password></form>"
                return try connection.reply("200 OK", ["Content-Type: text/html"], form)
            }
            guard request["Cookie"] == "sid=1" else {
                return try connection.reply("302 Found", ["Location: /login"], "")
            }
            try connection.wire.send("HTTP/1.1 103 Early Hints\r\nLink: </a>\r\nSet-Cookie: sid=1; Path=/\r\n\r\n")
            try connection.reply("200 OK", ["Set-Cookie: sid=1; Path=/"], "home")
        }
        let rule = """
            credential web { user \(Account.user); password file @/password }
            challenge {
                host 127.0.0.1
                method html-form
                form { \(Self.redirect); login /login; fields username={user} password={password} }
                use web
            }
            """
        try AttacheProcess.running(rule) { proxy throws in
            let wire = try proxy.connect()
            try wire.send("GET \(origin.url()) HTTP/1.1\r\nHost: 127.0.0.1:\(origin.port)\r\n\r\n")
            let interim = try wire.readResponse()
            #expect(interim.status == 103 && interim["Link"] == "</a>")
            let answer = try wire.readResponse()
            #expect(answer.text == "home")
            for message in [interim, answer] { #expect(message["Set-Cookie"] == nil) }
        }
    }
}
