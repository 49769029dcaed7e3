import Foundation
import Testing

/// NTLM against Apache with mod_auth_gssapi and gss-ntlmssp.
struct NTLMTests {
    /// Runs a proxy that logs in as this user.
    private func loggingIn(
        as user: String = "NTDOM\\alice", password: String? = Account.ntlmPasswords["alice"], rules: String = "",
        _ body: (AttacheProcess, NTLMServer) throws -> Void
    ) throws {
        let server = try NTLMServer.shared()
        let setting = AttacheProcess.Setting(files: ["password": (password ?? "") + "\n"])
        let rule = """
            credential corp { user \(user); password file @/password }
            challenge "ntlm" { host 127.0.0.1; port \(server.port); method ntlm; use corp }
            \(rules)
            """
        try AttacheProcess.running(rule, setting: setting) { try body($0, server) }
    }

    @Test func `a client that knows no NTLM is logged in`() throws {
        try loggingIn { proxy, server throws in
            let mark = ApacheServer.mark()
            let fetched = try proxy.get(server.url("/ntlm/?\(mark)"))
            #expect(fetched.status == 200, "\(fetched)")
            #expect(fetched[NTLMServer.userField] == "NTDOM\\alice")
            let entries = server.entries(marked: mark, atLeast: 3)
            #expect(entries.map { $0.split(separator: " ")[1] } == ["401", "401", "200"])
        }
    }

    @Test(arguments: ["NTDOM\\\\alice", "alice"])
    func `a user may be written with a domain and without`(user: String) throws {
        try loggingIn(as: "\"\(user)\"") { proxy, server throws in
            let fetched = try proxy.get(server.url())
            #expect(fetched.status == 200, "\(fetched)")
        }
    }

    @Test func `a wrong password is sent once`() throws {
        try loggingIn(password: Account.wrongPassword) { proxy, server throws in
            let mark = ApacheServer.mark()
            for _ in 1...3 { #expect(try proxy.get(server.url("/ntlm/?\(mark)")).status == 401) }
            // Two legs and the request before them, then one for each that was not answered.
            #expect(server.entries(marked: mark, atLeast: 5).count == 5)
            #expect(proxy.awaitErrorOutput("credential corp was refused by 127.0.0.1"))
        }
    }

    @Test func `where OpenSSL has no MD4 the client and the log learn why`() throws {
        let server = try NTLMServer.shared()
        let rule = """
            credential corp { user alice; password file @/password }
            challenge { host 127.0.0.1; method ntlm; use corp }
            """
        let setting = AttacheProcess.Setting(environment: ["OPENSSL_MODULES": "/nonexistent"])
        try AttacheProcess.running(rule, setting: setting) { proxy throws in
            let fetched = try proxy.get(server.url())
            #expect(fetched.status == 401)
            #expect(fetched["Proxy-Status"]?.contains("legacy.so") == true, "\(fetched)")
            #expect(try proxy.records().first?["details"]?.contains("legacy.so") == true)
        }
    }

    // MARK: - Uploads

    /// Uploads a file through the login, with and without a login that stands, and expects one arrival each time.
    private func expectArrival(bytes: Int, isChunked: Bool = false) throws {
        try loggingIn { proxy, server throws in
            let file = try Payload.file(bytes: bytes)
            let expected = "\(bytes) \(try Hash.sha256(ofFile: file))"
            let mark = ApacheServer.mark()
            let content = ["-X", "POST", "-T", file, "-o", "/dev/null", "-w", "%{http_code}\n"]
            let framing = isChunked ? ["-H", "Transfer-Encoding: chunked"] : []
            var uploads: [String] = []
            for pass in 1...2 {
                if pass > 1 { uploads.append("--next") }
                uploads += content + framing + ["-sS", "-x", proxy.address]
                uploads.append(server.url("/ntlm/upload.cgi?\(mark)-\(pass)"))
            }
            let run = try Finished.run("curl", ["-q", "-m", "300"] + uploads, seconds: 310)
            #expect(run.output == "200\n200\n", "\(run)")
            for pass in 1...2 {
                let arrived = Scratch.read(server.folder + "/uploads/arrived").split(separator: "\n")
                    .filter { $0.hasPrefix("\(mark)-\(pass) ") }.map { $0.dropFirst("\(mark)-\(pass) ".count) }
                #expect(arrived == [expected[...]])
            }
        }
    }

    @Test func `1 MiB of known length arrives once and whole`() throws { try expectArrival(bytes: 1 << 20) }

    @Test func `1 MiB of unknown length arrives once and whole`() throws {
        try expectArrival(bytes: 1 << 20, isChunked: true)
    }

    @Test func `32 MiB, or as many as asked for, arrive once and whole`() throws {
        let megabytes = ProcessInfo.processInfo.environment["ATTACHE_NTLM_MEGABYTES"].flatMap { Int($0) } ?? 32
        try expectArrival(bytes: megabytes << 20)
        try expectArrival(bytes: megabytes << 20, isChunked: true)
    }

    // MARK: - Many at once

    /// Each client has its own proxy connection. Every eighth has one for each request.
    @Test func `64 clients of two users are never taken for each other`() throws {
        let requests = ProcessInfo.processInfo.environment["ATTACHE_NTLM_REQUESTS"].flatMap { Int($0) } ?? 4_000
        let (clients, each) = (64, (requests + 63) / 64)
        let server = try NTLMServer.shared()
        let hash = "$5$Uq7vTm2x$iFSxMgKzn/WlLI0wlCTgsMeb.z8QheOBj4MwsPQoH24"
        var files = ["users": Account.ntlmUsers.map { "\($0):\(hash)\n" }.joined()]
        for user in Account.ntlmUsers { files[user] = Account.ntlmPasswords[user] }
        let setting = AttacheProcess.Setting(
            clients: "allow 127.0.0.0/8; authenticate basic; users file @/users", files: files)
        let rules = Account.ntlmUsers.map { user in
            """
            credential \(user) { user "NTDOM\\\\\(user)"; password file @/\(user) }
            challenge { host 127.0.0.1; port \(server.port); client \(user); method ntlm; use \(user) }
            """
        }
        try AttacheProcess.running(rules.joined(separator: "\n"), setting: setting) { proxy throws in
            let mark = ApacheServer.mark()
            let runs = try (0..<clients).map { index in
                let user = Account.ntlmUsers[index % 2]
                let list = "\(Scratch.root)/list.\(UUID().uuidString)"
                let one = "url = \"\(server.url("/ntlm/?\(mark)"))\"\noutput = \"/dev/null\"\n"
                try Scratch.write(String(repeating: one, count: each), to: list)
                let options = [
                    "-q", "-sS", "-x", proxy.address, "-U", "\(user):\(Account.clientPassword)", "-K", list, "-m",
                    "300",
                    "-w", "%{http_code} %header{\(NTLMServer.userField.lowercased())}\n",
                ]
                let closing = index % 8 == 7 ? ["-H", "Proxy-Connection: close"] : []
                return (user: user, client: try Subprocess("curl", options + closing))
            }
            for run in runs {
                #expect(run.client.wait(seconds: 300) == 0, "\(run.client.errorOutput)")
                let lines = run.client.output.split(separator: "\n")
                #expect(lines.count == each)
                #expect(Set(lines) == ["200 NTDOM\\\(run.user)"])
            }
            // A login costs at most the request that is challenged and the first message.
            let logins = clients / 8 * 7 + clients / 8 * each
            let refused = server.entries(marked: mark, atLeast: clients * each).filter { $0.contains(" 401 ") }
            #expect(refused.count <= logins * 2, "\(refused.count) challenges for \(logins) logins")
        }
    }
}
