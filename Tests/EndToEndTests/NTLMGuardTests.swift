import Foundation
import Synchronization
import TestSupport
import Testing

/// NTLM against an origin of our own that checks every message and has the whims that servers have.
struct NTLMGuardTests {
    private func guarding(
        _ terms: NTLMGuard.Terms = .init(), password: String = Account.password, client: String = "",
        rules: String = "",
        threads: Int = 2, _ body: (AttacheProcess, RecordingOrigin, NTLMGuard) throws -> Void
    ) throws {
        let sentry = NTLMGuard(terms)
        let origin = try RecordingOrigin.guarded(by: sentry)
        let rule = """
            credential corp { user "D\\\\\(Account.user)"; password file @/password }
            challenge { host 127.0.0.1; port \(origin.port); \(client)method ntlm; use corp }
            \(rules)
            """
        try AttacheProcess.running(rule, setting: .init(threads: threads, files: ["password": password + "\n"])) {
            try body($0, origin, sentry)
        }
    }

    /// Makes `count` requests of one client, one after the other, and returns their statuses.
    private func fetch(_ count: Int, _ origin: RecordingOrigin, _ proxy: AttacheProcess) throws -> [String] {
        let urls = Array(repeating: [origin.url(), "-o", "/dev/null"], count: count).flatMap { $0 }
        let run = try Finished.run(
            "curl", ["-q", "-sS", "-m", "60", "-x", proxy.address, "-w", "%{http_code}\n"] + urls)
        return run.output.split(separator: "\n").map(String.init)
    }

    @Test func `a client logs in once, on the connection that was challenged, and then says no more`() throws {
        try guarding(.init()) { proxy, origin, sentry throws in
            #expect(try fetch(10, origin, proxy) == Array(repeating: "200", count: 10))
            #expect(sentry.faults == [])
            #expect(sentry.logins == 1)
            #expect(origin.connections == 1)
            #expect(origin.messages.count == 12)
            #expect(origin.messages.filter { $0["Authorization"] != nil }.count == 2)
            let records = try proxy.records(atLeast: 10)
            #expect(records.allSatisfy { $0["scheme"] == "ntlm" })
            #expect(records.map(\.attempts) == [2] + Array(repeating: 0, count: 9))
        }
    }

    @Test(arguments: [17 << 10, 64 << 10, 1 << 20])
    func `a large response costs no further login`(size: Int) throws {
        try guarding(.init(contentSize: size)) { proxy, origin, sentry throws in
            #expect(try fetch(20, origin, proxy) == Array(repeating: "200", count: 20))
            #expect(sentry.faults == [])
            #expect(sentry.logins == 1)
            #expect(origin.connections == 1)
        }
    }

    @Test func `one login with a rule's credential serves every client, and none of them is asked first`() throws {
        try guarding(threads: 1) { proxy, origin, sentry throws in
            for _ in 1...3 { #expect(try fetch(2, origin, proxy) == ["200", "200"]) }
            #expect(sentry.faults == [])
            #expect(sentry.logins == 1)
            #expect(origin.connections == 1)
            #expect(origin.messages.count == 4 + 2 + 2)
        }
    }

    @Test func `where a rule looks at who asks, every client logs in on a connection of its own`() throws {
        try guarding(client: "client 127.0.0.0/8; ") { proxy, origin, sentry throws in
            for _ in 1...3 { #expect(try fetch(2, origin, proxy) == ["200", "200"]) }
            #expect(sentry.faults == [])
            #expect(sentry.logins == 3)
            #expect(origin.connections == 3)
            #expect(origin.messages.count == 4 + 3 + 3)
        }
    }

    @Test(arguments: [true, false])
    func `a login that is lost after each request is made anew`(saysSo: Bool) throws {
        try guarding(.init(losesLogin: true, saysSo: saysSo)) { proxy, origin, sentry throws in
            #expect(try fetch(6, origin, proxy) == Array(repeating: "200", count: 6))
            #expect(sentry.faults == [])
            #expect(sentry.logins == 6)
            // Where the server says so, nothing goes out without an answer but the first request.
            #expect(origin.messages.count == (saysSo ? 1 + 6 * 2 : 6 * 3))
        }
    }

    @Test(arguments: 2...5)
    func `a server that ends connections after a few requests is met on new ones`(count: Int) throws {
        try guarding(.init(closesEvery: count)) { proxy, origin, sentry throws in
            #expect(try fetch(8, origin, proxy) == Array(repeating: "200", count: 8))
            #expect(sentry.faults == [])
        }
    }

    @Test func `a challenge on a connection that ends breaks the handshake off, without a loop`() throws {
        try guarding(.init(closesOnChallenge: true)) { proxy, origin, sentry throws in
            let fetched = try proxy.get(origin.url())
            #expect(fetched.status == 401)
            #expect(fetched["Proxy-Status"]?.contains("stopped the ntlm handshake") == true, "\(fetched)")
            #expect(origin.messages.count <= 3)
            #expect(sentry.faults == [])
            #expect(sentry.logins == 0)
        }
    }

    @Test func `a server that hangs up in the middle is tried again on a new connection`() throws {
        try guarding(.init(dropsAfterChallenge: 1)) { proxy, origin, sentry throws in
            #expect(try proxy.get(origin.url()).status == 200)
            #expect(sentry.logins == 1)
            #expect(sentry.faults == [])
        }
    }

    @Test func `a server that hangs up in the middle for ever is given up, and the password is not parked`() throws {
        try guarding(.init(dropsAfterChallenge: .max)) { proxy, origin, sentry throws in
            let fetched = try proxy.get(origin.url())
            #expect([401, 502].contains(fetched.status), "\(fetched)")
            #expect(origin.messages.count < 20)
            #expect(!proxy.errorOutput.contains("was refused"))
        }
    }

    @Test func `a wrong password is sent once`() throws {
        try guarding(password: Account.wrongPassword) { proxy, origin, sentry throws in
            for _ in 1...5 { #expect(try proxy.get(origin.url()).status == 401) }
            #expect(sentry.faults == ["a wrong password"])
            #expect(proxy.awaitErrorOutput("credential corp was refused by 127.0.0.1"))
            try proxy.replace("password", with: Account.password + "\n")
            let isUnparked = try Wait.until { try proxy.get(origin.url()).status == 200 }
            #expect(isUnparked, "the changed file did not un-park the credential")
        }
    }

    @Test func `a wrong password among a hundred requests at once is sent once`() throws {
        try guarding(password: Account.wrongPassword) { proxy, origin, sentry throws in
            let statuses = try Parallel.fetch(100, origin.url(), through: proxy)
            #expect(statuses.count { $0 == 401 } == 100)
            #expect(sentry.faults == ["a wrong password"])
        }
    }

    @Test func `a changed password logs in on a new connection`() throws {
        try guarding { proxy, origin, sentry throws in
            let wire = try proxy.connect()
            let request = "GET \(origin.url()) HTTP/1.1\r\nHost: 127.0.0.1:\(origin.port)\r\n\r\n"
            try wire.send(request)
            #expect(try wire.readResponse().status == 200)
            try proxy.replace("password", with: Account.wrongPassword + "\n")
            try proxy.reload(
                """
                credential corp { user "D\\\\\(Account.user)"; password file @/password }
                challenge { host 127.0.0.1; port \(origin.port); method ntlm; use corp }
                """)
            let isRefused = try Wait.until {
                try wire.send(request)
                return try wire.readResponse().status == 401
            }
            #expect(isRefused, "the old login served a request of the new password")
        }
    }

    @Test(arguments: [true, false])
    func `content follows the third message, once and whole`(isChunked: Bool) throws {
        try guarding(client: "client 127.0.0.0/8; ") { proxy, origin, sentry throws in
            let file = try Payload.file(bytes: 300_000)
            let framing = isChunked ? ["-H", "Transfer-Encoding: chunked"] : []
            for _ in 1...2 {
                let options = ["-x", proxy.address, "--data-binary", "@" + file, "-H", "Expect:"] + framing
                let sent = try Curl.fetch(origin.url(), options)
                #expect(sent.text == "received 300000", "\(sent)")
            }
            #expect(sentry.faults == [])
            #expect(sentry.logins == 2)
        }
    }

    @Test func `content goes at once where the login stands`() throws {
        try guarding { proxy, origin, sentry throws in
            let (host, url) = ("Host: 127.0.0.1:\(origin.port)\r\n", origin.url())
            let wire = try proxy.connect()
            for body in ["", "some content", "more"] {
                try wire.send("POST \(url) HTTP/1.1\r\n\(host)Content-Length: \(body.utf8.count)\r\n\r\n\(body)")
                #expect(try wire.readResponse().text == "received \(body.utf8.count)")
            }
            #expect(origin.messages.count == 5)
            #expect(sentry.faults == [])
        }
    }

    @Test func `content that was kept back for a login that nobody asks for is sent after all`() throws {
        // The login of the first client serves no other, on whichever thread that is.
        try guarding(.init(openPath: "/open/x"), client: "client 127.0.0.0/8; ") { proxy, origin, sentry throws in
            #expect(try proxy.get(origin.url()).status == 200)
            let sent = try proxy.get(origin.url("/open/x"), "-d", "some content")
            #expect(sent.text == "received 12", "\(sent)")
            let again = try proxy.get(origin.url("/open/x"), "-d", "some content")
            #expect(again.text == "received 12", "\(again)")
            // The directory is known to be open now: the second time no login is begun.
            #expect(origin.messages.filter { $0.target == "/open/x" }.count == 3)
        }
    }

    @Test func `a first message that meets neither challenge nor use ends the request, not the proxy`() throws {
        try guarding(.init(answersFirstMessageWith: "403 Forbidden")) { proxy, origin, sentry throws in
            let fetched = try proxy.get(origin.url())
            #expect(fetched.status == 403)
            let sent = try proxy.get(origin.url(), "-d", "some content")
            #expect([401, 403].contains(sent.status), "\(sent)")
            #expect(origin.messages.count < 20)
        }
    }

    @Test func `two users on one client connection are never taken for each other`() throws {
        let sentry = NTLMGuard()
        let origin = try RecordingOrigin.guarded(by: sentry)
        let hash = "$5$Uq7vTm2x$iFSxMgKzn/WlLI0wlCTgsMeb.z8QheOBj4MwsPQoH24"
        let setting = AttacheProcess.Setting(
            clients: "allow 127.0.0.0/8; authenticate basic; users file @/users",
            files: ["password": Account.password, "users": "one:\(hash)\ntwo:\(hash)\n"])
        let rules = ["one", "two"].map { name in
            """
            credential \(name) { user \(name); password file @/password }
            challenge { host 127.0.0.1; client \(name); method ntlm; use \(name) }
            """
        }
        try AttacheProcess.running(rules.joined(separator: "\n"), setting: setting) { proxy throws in
            let wire = try proxy.connect()
            for round in 1...4 {
                for name in ["one", "two"] {
                    let account = Data("\(name):\(Account.clientPassword)".utf8).base64EncodedString()
                    try wire.send(
                        "GET \(origin.url("/\(name)")) HTTP/1.1\r\nHost: 127.0.0.1:\(origin.port)\r\n"
                            + "Proxy-Authorization: Basic \(account)\r\n\r\n")
                    #expect(try wire.readResponse().status == 200, "round \(round), \(name)")
                }
            }
            #expect(sentry.logins == 2)
            #expect(sentry.faults == [])
            let users = Dictionary(grouping: origin.requests.dropFirst(2), by: \.connection)
            for requests in users.values { #expect(Set(requests.map(\.message.target)).count == 1) }
        }
    }

    @Test(arguments: Entrance.allCases)
    func `a login over TLS is bound to the certificate, and kept like any other`(entrance: Entrance) throws {
        // The guard has to know the certificate, and the terminator the guard's port.
        let terms = Mutex<NTLMGuard?>(nil)
        let origin = try RecordingOrigin { connection in try terms.withLock { $0 }?.serve(connection) }
        let terminator = try TLSTerminator(to: origin.port)
        let sentry = NTLMGuard(.init(certificate: try terminator.fingerprint()))
        terms.withLock { $0 = sentry }
        let rule = """
            credential corp { user "D\\\\\(Account.user)"; password file @/password }
            challenge { host \(TLSFront.host); client 127.0.0.0/8; method ntlm; use corp }
            """
        try AttacheProcess.visitingZoo(rule) { proxy throws in
            for _ in 1...2 {
                let fetched = try proxy.visit(terminator.authority, by: entrance, ["-d", "some content"])
                #expect(fetched.text == "received 12", "\(fetched)")
            }
            #expect(sentry.faults == [])
            #expect(sentry.logins == 2)
            #expect(origin.connections == 2)
        }
    }

    @Test func `a client that logs in itself has its connection to itself`() throws {
        let origin = try RecordingOrigin.answering { request, connection in
            guard let token = request["Authorization"] else {
                let body = "\(connection.number)"
                if request.target == "/open" { return try connection.reply(body: body) }
                return try connection.reply("401 Unauthorized", ["WWW-Authenticate: NTLM"], body)
            }
            if token == "NTLM b25l" {
                try connection.reply("401 Unauthorized", ["WWW-Authenticate: NTLM dHdv"], "\(connection.number)")
            } else {
                try connection.reply(body: "\(connection.number)")
            }
        }
        try AttacheProcess.running { proxy throws in
            let host = "Host: 127.0.0.1:\(origin.port)\r\n"
            let ask = { (wire: Wire, path: String, token: String?) throws in
                let field = token.map { "Authorization: NTLM \($0)\r\n" } ?? ""
                try wire.send("GET \(origin.url(path)) HTTP/1.1\r\n\(host)\(field)\r\n")
                return try wire.readResponse()
            }
            let (one, two) = (try proxy.connect(), try proxy.connect())
            let challenged = try ask(one, "/a", nil)
            #expect(challenged.status == 401)
            #expect(challenged["Proxy-Support"] == "Session-Based-Authentication")
            let first = try ask(one, "/a", "b25l")
            #expect(first["WWW-Authenticate"] == "NTLM dHdv")
            // What others ask in between goes elsewhere.
            #expect(try ask(two, "/open", nil).text != first.text)
            #expect(try ask(one, "/a", "dGhyZWU=").text == first.text)
            #expect(try ask(one, "/open", nil).text == first.text)
            #expect(try ask(two, "/open", nil).text != first.text)
            #expect(try ask(two, "/open", nil)["Proxy-Support"] == nil)
        }
    }
}
