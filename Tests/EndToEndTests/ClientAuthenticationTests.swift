import Foundation
import TestSupport
import Testing

/// The proxy's own clients are challenged with 407; the users file holds what crypt(3) makes.
struct ClientAuthenticationTests {
    /// A users file with the password as other programs hashed it.
    private static let users = """
        # users of the tests
        bcrypt:$2y$05$uWKKBkzvUtQmbkhafeFNG.wydLb9IlGXEDabHcr4l9XGUAk.cyG7C
        sha512:$6$rounds=5000$Uq7vTm2x$\
        uDddOPjttAt/AmlGr4P2N8Ys762TTh9BMTHz9LvE2jnABypea1XH82IHjnCylbXFx3x/JYOYic6Tj2AbVxO/c0
        sha256:$5$Uq7vTm2x$iFSxMgKzn/WlLI0wlCTgsMeb.z8QheOBj4MwsPQoH24
        yescrypt:$y$j9T$d4qUbT7mHSc2eYv0pLx1z.$8NIgKrRjdY0OyeBfbg8lu0wNNY8U3O34BwM9akcV14A

        """

    private func running(_ body: (AttacheProcess) throws -> Void) throws {
        let clients = "allow 127.0.0.0/8; authenticate basic; realm \"the tests\"; users file @/users"
        let setting = AttacheProcess.Setting(
            clients: clients, files: ["users": Self.users, "password": Account.password])
        try AttacheProcess.running(
            "credential web { user \(Account.user); password file @/password }\nchallenge { host 127.0.0.1; use web }",
            setting: setting, body)
    }

    @Test func `without a name the answer is 407 with a challenge, and the origin hears nothing`() throws {
        let origin = try RecordingOrigin.answering()
        try running { proxy throws in
            let answered = try proxy.get(origin.url())
            #expect(answered.status == 407)
            #expect(answered["Proxy-Authenticate"]?.hasPrefix("Basic realm=\"the tests\"") == true)
            #expect(answered["WWW-Authenticate"] == nil)
            #expect(origin.requests.isEmpty)
        }
    }

    @Test(arguments: ["bcrypt", "sha512", "sha256", "yescrypt"])
    func `a password is checked against every kind of hash`(user: String) throws {
        let origin = try RecordingOrigin.answering()
        try running { proxy throws in
            let right = try proxy.get(origin.url(), "-U", "\(user):\(Account.clientPassword)")
            #expect(right.status == 200, "\(right)")
            #expect(origin.messages.first?["Proxy-Authorization"] == nil)
            for wrong in ["\(user):\(Account.wrongPassword)", "\(user):", "nobody:\(Account.clientPassword)"] {
                #expect(try proxy.get(origin.url(), "-U", wrong).status == 407)
            }
            #expect(origin.requests.count == 1)
            #expect(try proxy.records(atLeast: 4).contains { $0["user"] == user })
            let events = try proxy.events().filter { $0["event"] == "login.refused" }
            #expect(events.map { $0["user"] } == [user, user, "nobody"], "\(events.map(\.line))")
            #expect(events.allSatisfy { $0["client"] == "127.0.0.1" && $0["method"] == "basic" })
            let page = try Curl.fetch("http://127.0.0.1:\(proxy.adminPort)/metrics").text
            #expect(page.contains(#"attache_client_logins_total{result="refused",method="basic"} 3"#))
            #expect(page.contains(#"attache_client_logins_total{result="accepted",method="basic"} 1"#))
        }
    }

    @Test func `a client's name and the origin's challenge are two things`() throws {
        let apache = try ApacheServer.shared()
        try running { proxy throws in
            let account = "bcrypt:\(Account.clientPassword)"
            #expect(try proxy.get(apache.url("/digest/"), "-U", account).status == 200)
            #expect(try proxy.get(apache.url("/basic/"), "-U", account, "--proxy-anyauth").status == 200)
        }
    }

    @Test func `a tunnel needs a name as well`() throws {
        let origin = try RecordingOrigin.answering()
        try running { proxy throws in
            let refused = try proxy.get(origin.url(), "-p")
            #expect(refused.run.status != 0)
            #expect(refused.heads.contains(" 407 "))
            #expect(try proxy.get(origin.url(), "-p", "-U", "yescrypt:\(Account.clientPassword)").status == 200)
            #expect(origin.messages.first?["Proxy-Authorization"] == nil)
        }
    }

    @Test(arguments: [
        "Basic", "Basic !!!!", "Basic bm9jb2xvbg==", "Basic AAo6Yg==", "Digest username=\"bcrypt\"", "Bearer abc",
    ])
    func `a malformed Basic answer is challenged or refused`(value: String) throws {
        let origin = try RecordingOrigin.answering()
        try running { proxy throws in
            let answered = try proxy.get(origin.url(), "-H", "Proxy-Authorization: \(value)")
            #expect([400, 407].contains(answered.status))
            #expect(origin.requests.isEmpty)
        }
    }

    @Test func `a changed users file counts without a restart`() throws {
        let origin = try RecordingOrigin.answering()
        try running { proxy throws in
            let account = "later:\(Account.clientPassword)"
            #expect(try proxy.get(origin.url(), "-U", account).status == 407)
            try proxy.replace("users", with: Self.users.replacing("bcrypt:", with: "later:"))
            let isKnown = try Wait.until { try proxy.get(origin.url(), "-U", account).status == 200 }
            #expect(isKnown)
            let former = try Wait.until {
                try proxy.get(origin.url(), "-U", "bcrypt:\(Account.clientPassword)").status == 407
            }
            #expect(former)
        }
    }

    @Test func `a line of attache password lets its user in`() throws {
        let path = Scratch.folder("password") + "/word"
        try Scratch.write(Account.clientPassword + "\n", to: path)
        let made = try AttacheBinary.run("password", "dave", input: path)
        #expect(made.succeeded, "\(made)")
        #expect(made.output.hasPrefix("dave:$"))
        let origin = try RecordingOrigin.answering()
        let setting = AttacheProcess.Setting(
            clients: "allow 127.0.0.0/8; authenticate basic; users file @/users", files: ["users": made.output])
        try AttacheProcess.running(setting: setting) { proxy throws in
            #expect(try proxy.get(origin.url(), "-U", "dave:\(Account.clientPassword)").status == 200)
        }
    }

    /// Runs with a users file whose hashes are so slow that useless checks show.
    private func runningSlowly(_ body: (AttacheProcess) throws -> Void) throws {
        let made = try Finished.run("htpasswd", ["-nbB", "-C", "13", "alice", Account.clientPassword])
        let setting = AttacheProcess.Setting(
            clients: "allow 127.0.0.0/8; authenticate basic; users file @/users", threads: 1,
            files: ["users": made.output])
        try AttacheProcess.running(setting: setting, body)
    }

    private func request(to port: UInt16, by user: String, _ password: String) -> String {
        let pair = Data("\(user):\(password)".utf8).base64EncodedString()
        let host = "127.0.0.1:\(port)"
        return "GET http://\(host)/ HTTP/1.1\r\nHost: \(host)\r\nProxy-Authorization: Basic \(pair)\r\n\r\n"
    }

    /// The checks of all these logins would take minutes.
    @Test func `wrong logins of clients that leave keep no right one waiting`() throws {
        let origin = try RecordingOrigin.answering()
        try runningSlowly { proxy throws in
            for number in 1...400 {
                let wire = try proxy.connect()
                try wire.send(request(to: origin.port, by: "user\(number)", "guess"))
                if number.isMultiple(of: 2) { wire.close() } else { wire.abort() }
            }
            let wire = try proxy.connect()
            try wire.send(request(to: origin.port, by: "alice", Account.clientPassword))
            #expect(try wire.readResponse().status == 200)
        }
    }

    /// How a client ends its side behind a request whose password is being checked.
    enum Ending: CaseIterable {
        /// It said nothing that would let it do so.
        case leaving
        case afterClose
        /// It speaks HTTP/1.0, and would keep the connection.
        case byOldVersion
        /// The client's next request has arrived already.
        case pipelined

        /// The paths, in the order of the requests; all of them are answered, unless the client has left.
        var requests: [(path: String, version: String, field: String)] {
            switch self {
            case .leaving: [("/a", "1.1", "Accept: */*")]
            case .afterClose: [("/a", "1.1", "Connection: close")]
            case .byOldVersion: [("/a", "1.0", "Connection: keep-alive")]
            case .pipelined: [("/a", "1.1", "Accept: */*"), ("/b", "1.1", "Connection: close")]
            }
        }
    }

    @Test(arguments: Ending.allCases)
    func `a client that ends its side during the check has left by the same signs as later`(ending: Ending) throws {
        let origin = try RecordingOrigin.answering { try $1.reply(body: $0.target) }
        let pair = Data("alice:\(Account.clientPassword)".utf8).base64EncodedString()
        try runningSlowly { proxy throws in
            let wire = try proxy.connect()
            let heads = ending.requests.map { path, version, field in
                "GET \(origin.url(path)) HTTP/\(version)\r\nHost: 127.0.0.1:\(origin.port)\r\n"
                    + "Proxy-Authorization: Basic \(pair)\r\n\(field)\r\n\r\n"
            }
            try wire.send(heads.joined())
            wire.finishSending()
            if ending == .leaving {
                #expect(try wire.isEnded())
                #expect(try proxy.records().map { $0["details"] } == ["the client left"])
                #expect(origin.messages.isEmpty)
            } else {
                for request in ending.requests { #expect(try wire.readResponse().text == request.path) }
            }
        }
    }

    @Test func `one password too many is answered with 503, and who comes back later gets in`() throws {
        let origin = try RecordingOrigin.answering()
        try runningSlowly { proxy throws in
            var crowd: [Wire] = []
            for number in 1...160 {
                let wire = try proxy.connect()
                try wire.send(request(to: origin.port, by: "user\(number)", "guess"))
                crowd.append(wire)
            }
            let late = try #require(crowd.last).readResponse()
            #expect(late.status == 503, "\(late)")
            #expect(late["Retry-After"].flatMap { Int($0) } ?? 0 > 0)
            for wire in crowd { wire.close() }
            let wire = try proxy.connect()
            try wire.send(request(to: origin.port, by: "alice", Account.clientPassword))
            #expect(try wire.readResponse().status == 200)
        }
    }
}
