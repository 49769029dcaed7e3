import Foundation
import Synchronization
import TestSupport
import Testing

/// Parents that refuse a wrong password with a `401`, as if they were the origin.
@Suite(.serialized) struct UnauthorizedParentTests {
    private func rules(_ parent: UInt16, _ origin: UInt16, at host: String = "127.0.0.1") -> String {
        """
        credential corp { user \(Account.user); password file @/corp }
        credential web { user \(Account.user); password file @/password }
        parent corp { http 127.0.0.1:\(parent) }
        challenge { proxy yes; use corp }
        challenge { proxy no; host \(host); port \(origin); use web }
        route * { via corp }
        """
    }

    private func setting(_ parentPassword: String, _ password: String = Account.password) -> AttacheProcess.Setting {
        .init(files: ["password": password + "\n", "corp": parentPassword + "\n"])
    }

    // MARK: - tinyproxy

    @Test func `tinyproxy: a wrong password is refused by the parent, and the origin's stays good`() throws {
        let (sentry, parent) = (BasicGuard(), try TinyproxyServer())
        let origin = try RecordingOrigin.guarded(by: sentry)
        let rules = rules(parent.port, origin.port)
        try AttacheProcess.running(rules, setting: setting(Account.wrongPassword)) { proxy throws in
            for page in 1...4 {
                let fetched = try proxy.get(origin.url("/\(page)"))
                #expect(fetched.status == 502)
                #expect(fetched.text.contains("the parent corp (\(parent.address)) asks for a login"), "\(fetched)")
            }
            #expect(origin.messages.isEmpty)
            try proxy.replace("corp", with: TinyproxyServer.password + "\n")
            #expect(try Wait.until { try proxy.get(origin.url("/after")).status == 200 })
            #expect(sentry.refused == 0)
            #expect(sentry.accepted > 0)
        }
    }

    @Test func `tinyproxy: a wrong password is refused in answer to CONNECT`() throws {
        let (origin, parent) = (try RecordingOrigin.answering(), try TinyproxyServer())
        let rules = rules(parent.port, 1)
        try AttacheProcess.running(rules, setting: setting(Account.wrongPassword)) { proxy throws in
            for _ in 1...3 {
                let fetched = try proxy.get(origin.url(), "-p", "--fail-with-body")
                #expect(fetched.status != 200)
            }
            let line = try proxy.records(atLeast: 3).last
            #expect(line?["details"]?.contains("credential corp was refused before") == true, "\(proxy.accessLog)")
            #expect(line?["realm"] == "Tinyproxy")
            try proxy.replace("corp", with: TinyproxyServer.password + "\n")
            #expect(try Wait.until { try proxy.get(origin.url(), "-p").status == 200 })
        }
    }

    @Test func `tinyproxy: behind the right password a wrong one of the origin is the origin's`() throws {
        let (sentry, parent) = (BasicGuard(), try TinyproxyServer())
        let origin = try RecordingOrigin.guarded(by: sentry)
        let wrong = setting(TinyproxyServer.password, Account.wrongPassword)
        try AttacheProcess.running(rules(parent.port, origin.port), setting: wrong) { proxy throws in
            for page in 1...6 { #expect(try proxy.get(origin.url("/\(page)")).status == 401) }
            #expect(sentry.refused <= 2, "the wrong password was sent \(sentry.refused) times")
            try proxy.replace("password", with: Account.password + "\n")
            #expect(try Wait.until { try proxy.get(origin.url("/after")).status == 200 })
        }
    }
}

// MARK: - A parent that never asks

extension UnauthorizedParentTests {
    private final class SilentParent: Sendable {
        let sentry = BasicGuard()

        func server() throws -> RecordingOrigin {
            try RecordingOrigin.answering { request, connection in
                guard self.sentry.admits(request["Proxy-Authorization"]) else {
                    return try connection.reply("401 Unauthorized")
                }
                guard request.method == "CONNECT" else { return try connection.reply(body: "ok") }
                try connection.wire.send("HTTP/1.1 200 OK\r\n\r\n")
                // The origin behind it.
                _ = try connection.wire.readHead()
                try connection.reply(body: "inside")
            }
        }
    }

    private func running(
        _ modifiers: String, _ password: String = Account.password,
        _ body: (AttacheProcess, BasicGuard, RecordingOrigin) throws -> Void
    ) throws {
        let parent = SilentParent()
        let server = try parent.server()
        let rules = """
            credential corp { user \(Account.user); password file @/password }
            parent corp { http 127.0.0.1:\(server.port) }
            challenge { proxy yes; host 127.0.0.1; method basic; use corp; \(modifiers) }
            route * { via corp }
            """
        let setting = AttacheProcess.Setting(files: ["password": password + "\n"])
        try AttacheProcess.running(rules, setting: setting) { try body($0, parent.sentry, server) }
    }

    @Test(arguments: ["preempt always", "secure no; preempt always"])
    func `a parent that answers a CONNECT without a login by a bare 401 gets it with the first one`(
        modifiers: String
    ) throws {
        try running(modifiers) { proxy, sentry, _ throws in
            for _ in 1...2 { #expect(try proxy.get("http://origin.example/", "-p").text == "inside") }
            for page in 1...3 { #expect(try proxy.get("http://origin.example/\(page)").text == "ok") }
            #expect(sentry.unanswered == 0)
            #expect(sentry.refused == 0)
        }
    }

    @Test func `such a parent by TLS gets it with the first request`() throws {
        let parent = SilentParent()
        let server = try parent.server()
        defer { withExtendedLifetime(server) {} }
        let front = try TLSTerminator(to: server.port)
        try byTLS(front, "secure yes; preempt always") { proxy throws in
            for _ in 1...2 { #expect(try proxy.get("http://origin.example/", "-p").text == "inside") }
            for page in 1...3 { #expect(try proxy.get("http://origin.example/\(page)").text == "ok") }
            #expect(parent.sentry.unanswered == 0 && parent.sentry.refused == 0)
        }
        // Without the words about it, it is not sent to a parent that does not ask.
        try byTLS(front, "") { proxy throws in
            #expect(try proxy.get("http://origin.example/").status == 401)
            #expect(parent.sentry.refused == 0)
        }
    }

    @Test func `squid by TLS gets the password before it asks`() throws {
        let (apache, squid) = (try ApacheServer.shared(), try SquidServer.shared(.basic))
        let mark = ApacheServer.mark()
        try byTLS(try TLSTerminator(to: squid.port), "secure yes; preempt always") { proxy throws in
            for page in 1...3 { #expect(try proxy.get(apache.url("/open/?\(mark)\(page)")).status == 200) }
            let entries = squid.entries(marked: mark, atLeast: 3)
            #expect(entries.map(\.status) == [200, 200, 200])
            let target = "http://localhost:\(apache.port)/open/"
            #expect(try proxy.get(target, "-p").status == 200)
            #expect(
                !squid.entries(marked: "localhost:\(apache.port)").contains {
                    $0.method == "CONNECT" && $0.status == 407
                })
        }
    }

    private func byTLS(_ front: TLSTerminator, _ modifiers: String, _ body: (AttacheProcess) throws -> Void) throws {
        let rules = """
            credential corp { user \(Account.user); password file @/password }
            parent corp { https \(front.authority) }
            challenge { proxy yes; host \(TLSFront.host); method basic; use corp; \(modifiers) }
            route * { via corp }
            """
        var setting = AttacheProcess.Setting()
        setting.environment["SSL_CERT_FILE"] = try Hierarchy.shared().root.certificate
        setting.environment["CARES_HOSTS"] = HostsFile.path
        try AttacheProcess.running(rules, setting: setting, body)
    }

    @Test func `a rule for parents by https gives nothing to one by http`() throws {
        try running("secure yes; preempt always") { proxy, sentry, _ throws in
            #expect(try proxy.get("http://origin.example/").status == 401)
            #expect(sentry.accepted == 0)
        }
    }

    @Test func `a wrong password that goes to such a parent unasked is sent twice, until it is set anew`() throws {
        try running("preempt always", Account.wrongPassword) { proxy, sentry, _ throws in
            for page in 1...4 { #expect(try proxy.get("http://origin.example/\(page)").status != 200) }
            for _ in 1...3 { _ = try? proxy.get("http://origin.example/", "-p") }
            #expect((1...2).contains(sentry.refused), "the wrong password was sent \(sentry.refused) times")
            try proxy.replace("password", with: Account.password + "\n")
            #expect(try Wait.until { try proxy.get("http://origin.example/").status == 200 })
        }
    }
}

// MARK: - A played one

extension UnauthorizedParentTests {
    /// A parent that refuses a wrong password with a `401`, and counts them. What it lets through it answers itself, as an origin
    /// that asks for a password below `/secret/`, and answers a bare `401` below `/bare/`.
    private final class Parent: Sendable {
        /// The challenge of the `401` by which it refuses; nil: a bare one.
        let challenge: String?
        let password = Mutex(TinyproxyServer.password)
        let wrong = Mutex(0)
        /// Answers that the origin behind it got, right and wrong.
        let origin = BasicGuard()

        init(_ challenge: String?) { self.challenge = challenge }

        func server() throws -> RecordingOrigin {
            try RecordingOrigin.answering { request, connection in
                let right = self.password.withLock { password in
                    "Basic " + Data("\(Account.user):\(password)".utf8).base64EncodedString()
                }
                guard let answer = request["Proxy-Authorization"] else {
                    return try connection.reply(
                        "407 Proxy Authentication Required", ["Proxy-Authenticate: Basic realm=\"P\""])
                }
                guard answer == right else {
                    self.wrong.withLock { $0 += 1 }
                    return try connection.reply(
                        "401 Unauthorized", self.challenge.map { ["WWW-Authenticate: \($0)"] } ?? [])
                }
                if request.method == "CONNECT" { return try connection.wire.send("HTTP/1.1 200 OK\r\n\r\n") }
                if request.target.contains("/bare/") { return try connection.reply("401 Unauthorized", [], "origin") }
                let isRight = !request.target.contains("/secret/") || self.origin.admits(request["Authorization"])
                let realm = request.target.contains("/secret/P") ? "P" : "O"
                try connection.reply(
                    isRight ? "200 OK" : "401 Unauthorized",
                    isRight ? [] : ["WWW-Authenticate: Basic realm=\"\(realm)\""], isRight ? "ok" : "origin")
            }
        }
    }

    private func running(
        _ challenge: String?, _ corp: String = TinyproxyServer.password, _ web: String = Account.password,
        _ body: (AttacheProcess, Parent) throws -> Void
    ) throws {
        let parent = Parent(challenge)
        let server = try parent.server()
        let rules = rules(server.port, 80, at: "origin.example")
        try AttacheProcess.running(rules, setting: setting(corp, web)) { try body($0, parent) }
    }

    private static let challenges: [String?] = ["Basic realm=\"P\"", "Basic realm=\"another\"", "Negotiate", nil]

    @Test(arguments: challenges)
    func `a wrong password is sent twice, and nothing is held against the origin's`(challenge: String?) throws {
        try running(challenge, Account.wrongPassword) { proxy, parent throws in
            let clients = Clients(12, through: [proxy], requests: 4, pause: 0) {
                "http://origin.example/secret/\($0)/\($1)"
            }
            #expect(clients.finish() == [502: 48])
            let wrong = parent.wrong.withLock { $0 }
            #expect((1...2).contains(wrong), "the wrong password was sent \(wrong) times")
            try proxy.replace("corp", with: TinyproxyServer.password + "\n")
            #expect(try Wait.until { try proxy.get("http://origin.example/secret/after").status == 200 })
            #expect(parent.origin.refused == 0)
        }
    }

    @Test(arguments: challenges)
    func `a password that was right becomes wrong: at most four follow, and the origin's stays good`(
        challenge: String?
    ) throws {
        try running(challenge) { proxy, parent throws in
            for page in ["open", "secret/1", "secret/2"] {
                #expect(try proxy.get("http://origin.example/\(page)").status == 200)
            }
            parent.password.withLock { $0 = "an0therPassw0rd" }
            let clients = Clients(4, through: [proxy], requests: 6, pause: 0) {
                "http://origin.example/secret/\($0)/\($1)"
            }
            let statuses = clients.finish()
            let wrong = parent.wrong.withLock { $0 }
            // Those under way when the first was refused do not count.
            #expect(wrong <= 4 + 4, "the wrong password was sent \(wrong) times: \(statuses)")
            try proxy.replace("corp", with: "an0therPassw0rd\n")
            #expect(try Wait.until { try proxy.get("http://origin.example/secret/after").status == 200 })
            #expect(parent.origin.refused == 0)
        }
    }

    @Test(arguments: challenges)
    func `behind a right password, a 401 of the origin is the origin's from the first request on`(
        challenge: String?
    ) throws {
        try running(challenge, TinyproxyServer.password, Account.wrongPassword) { proxy, parent throws in
            for page in ["secret/1", "secret/P/1", "bare/1", "bare/2", "secret/2", "secret/P/2"] {
                let fetched = try proxy.get("http://origin.example/\(page)")
                #expect(fetched.status == 401, "\(page): \(fetched)")
                #expect(fetched.text == "origin")
            }
            #expect(try proxy.get("http://other.example/").status == 200)
            #expect(parent.wrong.withLock { $0 } == 0)
            #expect(parent.origin.refused <= 2)
        }
    }

    @Test func `a page of the origin with a bare 401 that is polled takes the parent's password from nobody`() throws {
        try running(nil) { proxy, parent throws in
            #expect(try proxy.get("http://origin.example/open").status == 200)
            let poll = Clients(4, through: [proxy], requests: 20, pause: 0) { "http://origin.example/bare/\($0)/\($1)" }
            let others = Clients(4, through: [proxy], requests: 20, pause: 0) { "http://b.example/\($0)/\($1)" }
            #expect(others.finish() == [200: 80])
            #expect(poll.finish() == [401: 80])
        }
    }
}
