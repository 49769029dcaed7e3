import Foundation
import Testing

/// Parents whose connections log in, and what they do to requests that carry content.
struct ParentLoginTests {
    // MARK: - NTLM, checked message by message

    private func guarding(
        _ terms: NTLMGuard.Terms, _ body: (AttacheProcess, RecordingOrigin, NTLMGuard) throws -> Void
    ) throws {
        var terms = terms
        terms.isParent = true
        let sentry = NTLMGuard(terms)
        let parent = try RecordingOrigin.guarded(by: sentry)
        let rules = """
            credential corp { user "D\\\\\(Account.user)"; password file @/password }
            parent corp { http 127.0.0.1:\(parent.port) }
            challenge { proxy yes; method ntlm; use corp }
            route * { via corp }
            """
        try AttacheProcess.running(rules, setting: .init(threads: 1)) { try body($0, parent, sentry) }
    }

    private func fetch(_ count: Int, _ proxy: AttacheProcess) throws -> [String] {
        let urls = (1...count).flatMap { ["http://origin\($0 % 3).example/", "-o", "/dev/null"] }
        let run = try Finished.run(
            "curl", ["-q", "-sS", "-m", "60", "-x", proxy.address, "-w", "%{http_code}\n"] + urls)
        return run.output.split(separator: "\n").map(String.init)
    }

    @Test func `one login at the parent serves all clients, for all origins behind it`() throws {
        try guarding(.init()) { proxy, parent, sentry throws in
            for _ in 1...2 { #expect(try fetch(6, proxy) == Array(repeating: "200", count: 6)) }
            #expect(sentry.faults == [])
            #expect(sentry.logins == 1)
            #expect(parent.messages.count == 2 + 2 * 6)
        }
    }

    @Test(arguments: 2...4)
    func `a parent that ends connections is met on new ones`(count: Int) throws {
        try guarding(.init(closesEvery: count)) { proxy, parent, sentry throws in
            #expect(try fetch(8, proxy) == Array(repeating: "200", count: 8))
            #expect(sentry.faults == [])
        }
    }

    @Test func `a parent that hangs up in the middle is tried again on a new connection`() throws {
        try guarding(.init(dropsAfterChallenge: 1)) { proxy, parent, sentry throws in
            #expect(try fetch(1, proxy) == ["200"])
            #expect(sentry.faults == [])
        }
    }

    @Test func `a challenge on a connection that ends breaks the handshake off, and the client learns why`() throws {
        try guarding(.init(closesOnChallenge: true)) { proxy, parent, sentry throws in
            let fetched = try proxy.get("http://origin.example/")
            #expect(fetched.status == 502)
            #expect(fetched.text.contains("stopped the ntlm handshake"), "\(fetched)")
            #expect(sentry.faults == [])
        }
    }

    @Test func `a 407 without a challenge gets nothing`() throws {
        let parent = try RecordingOrigin.answering { _, connection in
            try connection.reply("407 Proxy Authentication Required")
        }
        let rules = """
            credential corp { user \(Account.user); password file @/password }
            parent corp { http 127.0.0.1:\(parent.port) }
            challenge { proxy yes; use corp }
            route * { via corp }
            """
        try AttacheProcess.running(rules) { proxy throws in
            let fetched = try proxy.get("http://origin.example/")
            #expect(fetched.status == 502)
            #expect(fetched.text.contains("does not say which"))
            #expect(parent.messages.count == 1)
            #expect(parent.messages.allSatisfy { $0["Proxy-Authorization"] == nil })
        }
    }

    @Test func `a client's own login to the proxy goes no further`() throws {
        let parent = try RecordingOrigin.answering()
        let rules = "parent corp { http 127.0.0.1:\(parent.port) }\nroute * { via corp }"
        let setting = AttacheProcess.Setting(
            clients: "allow 127.0.0.0/8; authenticate basic; users file @/users",
            files: ["users": try UsersLines.of("alice")])
        try AttacheProcess.running(rules, setting: setting) { proxy throws in
            let fetched = try proxy.get("http://origin.example/", "-U", "alice:\(Account.clientPassword)")
            #expect(fetched.status == 200)
            #expect(parent.messages.allSatisfy { $0["Proxy-Authorization"] == nil })
        }
    }

    @Test func `connections log in at the parent and at the origin behind it, each client's its own`() throws {
        let server = try NTLMServer.shared()
        for demand in [SquidServer.Demand.nothing, .basic, .digest, .ntlm] {
            let squid = try SquidServer.shared(demand)
            let rules = """
                credential corp { user \(Account.user); password file @/password }
                parent corp { http \(squid.address) }
                challenge { proxy yes; use corp }
                route 127.0.0.1 { via corp }
                """
            let origins = Account.ntlmUsers.map { user in
                """
                credential \(user) { user "NTDOM\\\\\(user)"; password file @/\(user) }
                challenge { proxy no; port \(server.port); client \(user); method ntlm; use \(user) }
                """
            }
            var files = ["users": try UsersLines.of("alice", "bob"), "password": Account.password]
            for user in Account.ntlmUsers { files[user] = Account.ntlmPasswords[user] }
            let setting = AttacheProcess.Setting(
                clients: "allow 127.0.0.0/8; authenticate basic; users file @/users", files: files)
            try AttacheProcess.running(([rules] + origins).joined(separator: "\n"), setting: setting) { proxy throws in
                for user in ["alice", "bob", "alice"] {
                    let run = try Finished.run(
                        "curl",
                        ["-q", "-sS", "-x", proxy.address, "-U", "\(user):\(Account.clientPassword)", "-w"]
                            + ["%{http_code} %header{\(NTLMServer.userField.lowercased())}\n"]
                            + (1...3).flatMap { ["-o", "/dev/null", server.url("/ntlm/?\($0)")] })
                    #expect(run.output == String(repeating: "200 NTDOM\\\(user)\n", count: 3), "\(demand) \(run)")
                }
            }
        }
    }

    // MARK: - Content

    private func expectArrival(
        bytes: Int, through demand: SquidServer.Demand, isChunked: Bool = false, _ options: [String] = []
    ) throws {
        let (apache, squid) = (try ApacheServer.shared(), try SquidServer.shared(demand))
        let mark = ApacheServer.mark()
        let file = try Payload.file(bytes: bytes)
        let expected = "\(bytes) \(try Hash.sha256(ofFile: file))"
        let rules = """
            credential corp { user \(Account.user); password file @/password }
            parent corp { http \(squid.address) }
            challenge { proxy yes; use corp }
            challenge { proxy no; host 127.0.0.1; use corp }
            route 127.0.0.1 { via corp }
            """
        try AttacheProcess.running(rules) { proxy throws in
            for (pass, folder) in ["open", "open", "steady"].enumerated() {
                let url = apache.url("/\(folder)/upload.cgi?\(mark)-\(pass)")
                let framing = isChunked ? ["-H", "Transfer-Encoding: chunked"] : []
                let content = ["-X", "POST", "-T", file]
                let sent = try Curl.fetch(url, ["-x", proxy.address] + content + framing + options)
                #expect(sent.status == 200, "\(pass) \(sent)")
                #expect(try Payload.arrivals(at: apache, marked: "\(mark)-\(pass)") == [expected])
            }
        }
    }

    @Test(arguments: [SquidServer.Demand.basic, .digest, .ntlm])
    func `1 MiB arrives once and whole`(demand: SquidServer.Demand) throws {
        try expectArrival(bytes: 1 << 20, through: demand)
        try expectArrival(bytes: 1 << 20, through: demand, ["-H", "Expect:"])
    }

    @Test(arguments: [SquidServer.Demand.basic, .digest, .ntlm])
    func `1 MiB of unknown length arrives once and whole`(demand: SquidServer.Demand) throws {
        try expectArrival(bytes: 1 << 20, through: demand, isChunked: true, ["-H", "Expect:"])
    }

    @Test(arguments: [SquidServer.Demand.digest, .ntlm])
    func `32 MiB arrive once and whole`(demand: SquidServer.Demand) throws {
        try expectArrival(bytes: 32 << 20, through: demand)
    }

    @Test func `20 KiB arrive once and whole`() throws {
        for demand in SquidServer.Demand.passwords { try expectArrival(bytes: 20 << 10, through: demand) }
    }
}
