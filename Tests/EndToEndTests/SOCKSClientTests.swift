import Foundation
import TestSupport
import Testing

/// `listen … socks`: clients that reach the proxy by SOCKS.
struct SOCKSClientTests {
    /// Runs a proxy with a SOCKS listener beside the usual one.
    private func listening(
        _ words: String = "", rules: String = "", setting: AttacheProcess.Setting = .init(threads: 1),
        _ body: (AttacheProcess, _ place: String) throws -> Void
    ) throws {
        let port = FreePort.take()
        defer { FreePort.release(port) }
        let listener = "listen 127.0.0.1:\(port) socks \(words)\n"
        try AttacheProcess.running(listener + rules, setting: setting) { try body($0, "127.0.0.1:\(port)") }
    }

    private static func digest(_ origin: GuardedOrigin) -> String {
        """
        credential web { user \(Account.user); password file @/password }
        challenge { host 127.0.0.1; port \(origin.origin.port); use web }
        route * { intercept }
        """
    }

    @Test(arguments: ["--socks5-hostname", "--socks5", "--socks4a", "--socks4"])
    func `curl reaches an origin with Digest inside of its tunnel`(option: String) throws {
        let origin = try GuardedOrigin(.digest)
        try listening(rules: Self.digest(origin)) { proxy, place throws in
            for _ in 1...2 {
                let fetched = try Curl.fetch(origin.origin.url(), [option, place])
                #expect(fetched.status == 200, "\(fetched)")
            }
            let records = try proxy.records(atLeast: 4)
            let version = ["--socks4a": "4a", "--socks4": "4"][option] ?? "5"
            // An address is no name: 4a has the address, as 4 would.
            let tunnels = records.filter { $0["method"] == "CONNECT" }
            #expect(tunnels.map { $0["socks"] } == [version, version], "\(records.map(\.line))")
            #expect(tunnels.allSatisfy { $0.status == 200 && $0["tunnel"] == "http" })
            #expect(
                records.filter { $0["method"] == "GET" }.allSatisfy { $0["credential"] == "web" && $0["socks"] == nil })
            // The same port speaks HTTP.
            #expect(try Curl.fetch(origin.origin.url(), ["-x", "http://\(place)"]).status == 200)
        }
    }

    @Test func `curl reaches https, relayed and intercepted, by a name that the proxy resolves`() throws {
        let (good, blind) = (try Specimen["good"], try Specimen["rsa"])
        let port = FreePort.take()
        defer { FreePort.release(port) }
        let rules = "listen 127.0.0.1:\(port) socks\nroute \(blind.host) { tunnel }\n"
        try AttacheProcess.visitingZoo(rules) { proxy throws in
            let (zoo, root) = try (Zoo.shared(), Hierarchy.shared().root.certificate)
            let options = ["--socks5-hostname", "127.0.0.1:\(port)", "--cacert"]
            let inside = try Curl.fetch(zoo.url(good), options + [proxy.exportedAuthority()])
            #expect(inside.text == "this is good\n", "\(inside)")
            let relayed = try Curl.fetch(zoo.url(blind), options + [root])
            #expect(relayed.text == "this is rsa\n", "\(relayed)")
        }
    }

    @Test func `a unix socket and SOCKS go together`() throws {
        let origin = try GuardedOrigin(.digest)
        let rules = "listen unix:@/s.sock as agent socks\n" + Self.digest(origin)
        try AttacheProcess.running(rules, setting: .init(threads: 1)) { proxy throws in
            let way = "socks5h://localhost\(proxy.folder)/s.sock"
            let fetched = try Curl.fetch(origin.origin.url(), ["-x", way])
            #expect(fetched.status == 200, "\(fetched)")
            #expect(try proxy.records(atLeast: 2).allSatisfy { $0["user"] == "agent" && $0["uid"] == "\(getuid())" })
        }
    }

    @Test func `users of the users file log in, and a wrong password is an event`() throws {
        let origin = try GuardedOrigin(.digest)
        var setting = AttacheProcess.Setting(threads: 1)
        setting.clients = "allow 127.0.0.0/8; authenticate basic; users file @/users"
        setting.files["users"] = "\(Account.user):$apr1$jyZwaDFl$p13pbvN0SE2ayWpCL4gMY1\n"
        try listening(rules: Self.digest(origin), setting: setting) { proxy, place throws in
            let get = { (user: String?) in
                try Curl.fetch(
                    origin.origin.url(), ["--socks5-hostname", place] + (user.map { ["--proxy-user", $0] } ?? []))
            }
            let fetched = try get("\(Account.user):secret")
            #expect(fetched.status == 200, "\(fetched)")
            #expect(try proxy.records(atLeast: 2).allSatisfy { $0["user"] == Account.user })
            for user in ["\(Account.user):other", nil] { #expect(try get(user).run.status == 97) }
            #expect(Wait.until { (try? proxy.events().contains { $0["event"] == "login.refused" }) == true })
            #expect(try proxy.metric(#"attache_client_logins_total{result="refused",method="basic"}"#) == 1)
        }
    }

    @Test func `what CONNECT may not reach is refused with its code`() throws {
        var setting = AttacheProcess.Setting(threads: 1)
        setting.egress = "deny any; allow 127.0.0.1; connect-ports any"
        try listening("", rules: "route denied.test { deny }", setting: setting) { proxy, place throws in
            let closed = FreePort.take()
            defer { FreePort.release(closed) }
            let targets = [
                ("127.0.0.1:\(proxy.port)", 2), ("127.0.0.1:\(proxy.adminPort)", 2), ("169.254.169.254:80", 2),
                ("denied.test:80", 2), ("127.0.0.1:\(closed)", 5),
            ]
            for (target, code) in targets {
                let fetched = try Curl.fetch("http://\(target)/", ["--socks5-hostname", place])
                #expect(
                    fetched.run.status == 97 && fetched.run.errorOutput.contains("(\(code))"), "\(target) \(fetched)")
            }
            #expect(try proxy.records(atLeast: targets.count).allSatisfy { $0["socks"] == "5" && $0["error"] != nil })
        }
    }

    // MARK: - Other clients

    private static func has(_ program: String) -> Bool { (try? Spawn.executable(program)) != nil }

    @Test(.enabled(if: has("proxychains4"), "proxychains4 is not installed"), arguments: ["socks5", "socks4"])
    func `proxychains leads a tool that knows no proxy`(version: String) throws {
        let origin = try GuardedOrigin(.digest)
        try listening(rules: Self.digest(origin)) { proxy, place throws in
            let path = proxy.folder + "/proxychains.conf"
            try Scratch.write(
                "strict_chain\n[ProxyList]\n\(version) \(place.replacing(":", with: " "))\n", to: path)
            let run = try Finished.run("proxychains4", ["-q", "-f", path, "curl", "-qsS", origin.origin.url()])
            #expect(run.succeeded, "\(run)")
            #expect(try proxy.records(atLeast: 2).contains { $0["credential"] == "web" })
        }
    }

    private static let hasPySocks = (try? Finished.run("python3", ["-c", "import socks"]).succeeded) == true

    @Test(.enabled(if: hasPySocks, "python3-socks is not installed"), arguments: ["SOCKS5", "SOCKS4"])
    func `PySocks reaches an origin by a name`(version: String) throws {
        let origin = try GuardedOrigin(.digest)
        try listening(rules: Self.digest(origin)) { _, place throws in
            let script = """
                import socks
                one = socks.socksocket()
                one.set_proxy(socks.\(version), "127.0.0.1", \(place.drop { $0 != ":" }.dropFirst()), rdns=True)
                one.connect(("127.0.0.1", \(origin.origin.port)))
                one.sendall(b"GET / HTTP/1.1\\r\\nHost: 127.0.0.1:\(origin.origin.port)\\r\\nConnection: close\\r\\n\\r\\n")
                print(one.makefile().readline())
                """
            let run = try Finished.run("python3", ["-c", script])
            #expect(run.output.hasPrefix("HTTP/1.1 200"), "\(run)")
        }
    }

    @Test(.enabled(if: has("nc"), "netcat-openbsd is not installed"), arguments: ["5", "4"])
    func `nc, by which ssh and git go, relays bytes both ways`(version: String) throws {
        let server = try RecordingOrigin { connection in
            try connection.wire.send("220 ready\r\n")
            let line = try connection.wire.read(6)
            try connection.wire.send("250 \(String(decoding: line, as: UTF8.self))")
        }
        try listening { proxy, place throws in
            try Scratch.write("HELO\r\n", to: proxy.folder + "/words")
            let run = try Finished.run(
                "nc", ["-X", version, "-x", place, "127.0.0.1", "\(server.port)"], input: proxy.folder + "/words")
            #expect(run.output == "220 ready\r\n250 HELO\r\n", "\(run)")
        }
    }

    private static let hasSSH = ["ssh", "ssh-keygen", "sshd", "nc"].allSatisfy { has($0) }

    @Test(.enabled(if: hasSSH, "openssh-server, openssh-client or netcat-openbsd is not installed"))
    func `ssh runs a command through nc`() throws {
        let server = try SSHServer()
        try listening { proxy, place throws in
            let run = try server.run("echo over ssh", by: "nc -X 5 -x \(place) %h %p")
            #expect(run.output == "over ssh\n", "\(run) \(server.errorOutput)")
            let record = try #require(try proxy.records().last)
            #expect(record["socks"] == "5" && record["target"] == "127.0.0.1:\(server.port)", "\(record.line)")
        }
    }

    // MARK: - Broken ones

    @Test func `five thousand broken greetings leave nothing behind, and keep nobody out`() throws {
        let origin = try RecordingOrigin.answering()
        // Some of them are requests for an address.
        var setting = AttacheProcess.Setting(threads: 1)
        setting.egress = "deny any; allow 127.0.0.0/8; connect-ports any"
        try listening("", rules: "timeouts { head 1s }", setting: setting) { proxy, place throws in
            let port = try #require(UInt16(place.drop { $0 != ":" }.dropFirst()))
            let open = { try FileManager.default.contentsOfDirectory(atPath: "/proc/\(proxy.identifier)/fd").count }
            #expect(try Curl.fetch(origin.url(), ["-x", "http://\(place)"]).status == 200)
            let before = try open()
            var random = SystemRandomNumberGenerator()
            for _ in 1...10 {
                let wires = try (1...500).map { _ in
                    let wire = try Wire(to: port)
                    let count = Int.random(in: 0...40, using: &random)
                    let bytes = (0..<count).map { _ in UInt8.random(in: 0...6, using: &random) }
                    try? wire.send([UInt8.random(in: 4...5, using: &random)] + bytes)
                    return wire
                }
                #expect(try Curl.fetch(origin.url(), ["-x", "http://\(place)"]).status == 200)
                // Each ends by itself: with a reply, or by the time of a head.
                for wire in wires { _ = try wire.readToEnd() }
            }
            // The origin's kept connection may be another one.
            #expect(Wait.until { (try? open()).map { $0 <= before + 2 } ?? false }, "\(before) descriptors before")
            #expect(proxy.isRunning)
        }
    }
}
