import Foundation
import TestSupport
import Testing

/// `listen … transparent`: clients that know of no proxy, in a network of their own whose firewall redirects them.
@Suite(.enabled(if: OwnNetwork.obstacle == nil, "\(OwnNetwork.obstacle ?? "")"))
struct TransparentTests {
    /// Names of the tests and their addresses.
    private static let hosts = """
        127.0.0.1 ci.example.test
        127.0.0.1 client.example.test
        192.0.2.66 bank.example.test
        192.0.2.66 other.example.test

        """

    /// Runs a proxy with a transparent listener in a network whose firewall redirects these ports to it.
    private func redirecting(
        _ ports: [UInt16], rules: String, exempt: [String]? = ["-m", "mark", "--mark", "3128"],
        _ body: (AttacheProcess) throws -> Void
    ) throws {
        var setting = AttacheProcess.Setting(threads: 2)
        setting.clients = "allow 127.0.0.0/8 ::1"
        setting.egress = "allow 127.0.0.0/8 ::1; connect-ports any"
        setting.environment["CARES_HOSTS"] = Scratch.folder("hosts") + "/hosts"
        setting.environment["SSL_CERT_FILE"] = try Hierarchy.shared().root.certificate
        setting.environment["SSL_CERT_DIR"] = Scratch.folder("no-anchors")
        try Scratch.write(Self.hosts, to: setting.environment["CARES_HOSTS"] ?? "")
        let port = FreePort.take()
        defer { FreePort.release(port) }
        for program in ["iptables", "ip6tables"] {
            let rule = ["-t", "nat", "-A", "OUTPUT", "-p", "tcp"]
            if let exempt { _ = try Finished.run(program, rule + exempt + ["-j", "RETURN"]) }
            for redirected in ports {
                let words = rule + ["--dport", "\(redirected)", "-j", "REDIRECT", "--to-ports", "\(port)"]
                #expect(try Finished.run(program, words).succeeded)
            }
        }
        let listeners = "listen 127.0.0.1:\(port) transparent\nlisten [::1]:\(port) transparent\n"
        try AttacheProcess.running(listeners + rules, setting: setting, body)
    }

    private static func digest(_ host: String, _ port: UInt16) -> String {
        """
        credential web { user \(Account.user); password file @/password }
        challenge { host \(host); port \(port); use web }

        """
    }

    private func fetch(_ host: String, _ port: UInt16, _ scheme: String = "http", _ options: [String] = []) throws
        -> Fetched
    {
        try Curl.fetch(
            "\(scheme)://\(host):\(port)/", ["--noproxy", "*", "--resolve", "\(host):\(port):127.0.0.1"] + options)
    }

    @Test func `curl that knows of no proxy gets a page behind a login, by http`() throws {
        try OwnNetwork.run {
            let origin = try GuardedOrigin(.digest)
            let port = origin.origin.port
            try redirecting([port], rules: Self.digest("ci.example.test", port)) { proxy throws in
                let fetched = try fetch("ci.example.test", port)
                #expect(fetched.status == 200, "\(fetched) \(proxy.accessLog)")
                let record = try #require(try proxy.records().last)
                #expect(record["target"] == "http://ci.example.test:\(port)/")
                #expect(record["credential"] == "web")
            }
        }
    }

    @Test func `a name that DNS does not give the address gets no credential`() throws {
        try OwnNetwork.run {
            let origin = try GuardedOrigin(.digest)
            let port = origin.origin.port
            try redirecting([port], rules: Self.digest("bank.example.test", port)) { proxy throws in
                // A rule is about this name.
                let forged = try fetch("bank.example.test", port)
                #expect(forged.status == 421, "\(forged)")
                #expect(origin.origin.connections == 0)
                // No rule is about this one: the request is for the address alone.
                let other = try fetch("other.example.test", port)
                #expect(other.status == 401, "\(other)")
                #expect(origin.origin.messages.map { $0["Host"] } == ["other.example.test:\(port)"])
                #expect(origin.origin.messages.allSatisfy { $0["Authorization"] == nil })
                #expect(try proxy.records(atLeast: 2).last?["target"] == "http://127.0.0.1:\(port)/")
            }
        }
    }

    @Test func `a rule for the address applies to every name`() throws {
        try OwnNetwork.run {
            let origin = try GuardedOrigin(.digest)
            let port = origin.origin.port
            let rules = Self.digest("127.0.0.1", port) + "route bad.example.test { deny }\n"
            try redirecting([port], rules: rules) { proxy throws in
                #expect(try fetch("127.0.0.1", port).status == 200)
                #expect(try fetch("other.example.test", port).status == 200)
                #expect(try fetch("bad.example.test", port).status == 403)
            }
        }
    }

    @Test func `curl that knows of no proxy gets a page behind a login, by https`() throws {
        try OwnNetwork.run {
            let origin = try GuardedOrigin(.digest)
            let front = try TLSTerminator(to: origin.origin.port)
            let host = TLSFront.host
            let rules = Self.digest(host, front.port) + "route \(host) { intercept }\n"
            try redirecting([front.port], rules: rules) { proxy throws in
                let trusting = ["--cacert", proxy.folder + "/ca.pem"]
                let fetched = try fetch(host, front.port, "https", trusting)
                #expect(fetched.status == 200, "\(fetched) \(proxy.accessLog)")
                let records = try proxy.records(atLeast: 2)
                #expect(records.last?["target"] == "https://\(host):\(front.port)/")
                #expect(records.last?["credential"] == "web")
                #expect(records.first { $0["method"] == "CONNECT" }?.line.contains(#""redirected":true"#) == true)
                // Names without such a route are passed on unseen, with the server's own certificate.
                let blind = try fetch(
                    "localhost", front.port, "https", ["--cacert", try Hierarchy.shared().root.certificate, "-k"])
                #expect(blind.status == 401, "\(blind)")
            }
        }
    }

    @Test func `a server whose certificate is for another name gets nothing`() throws {
        try OwnNetwork.run {
            let origin = try GuardedOrigin(.digest)
            let front = try TLSTerminator(to: origin.origin.port)
            let rules =
                Self.digest("*.example.test", front.port)
                    + """
                    challenge { host bank.example.test; method server-trust; allow wrong-name; trust }
                    route *.example.test { intercept }

                    """
            try redirecting([front.port], rules: rules) { proxy throws in
                let trusting = ["--cacert", proxy.folder + "/ca.pem"]
                let forged = try fetch("ci.example.test", front.port, "https", trusting)
                #expect(forged.status == 502, "\(forged)")
                // The rule forgives the certificate, so DNS has to prove the name.
                let forgiven = try fetch("bank.example.test", front.port, "https", trusting)
                #expect(forgiven.status == 421, "\(forgiven)")
                #expect(origin.origin.messages.isEmpty)
                #expect(proxy.isRunning)
            }
        }
    }

    @Test func `IPv6, and protocols in which the server speaks first`() throws {
        try OwnNetwork.run {
            let port = FreePort.take()
            defer { FreePort.release(port) }
            let folder = Scratch.folder("six")
            try Scratch.write("six", to: folder + "/index.html")
            let six = try Subprocess(
                "python3", ["-m", "http.server", "--bind", "::1", "--directory", folder, "\(port)"],
                environment: [:], directory: folder)
            defer { _ = six.kill() }
            let speaker = try RecordingOrigin { connection in
                try connection.wire.send("220 ready\r\n")
                _ = try connection.wire.read(6)
                try connection.wire.send("250 fine\r\n")
            }
            try redirecting([port, speaker.port], rules: "") { proxy throws in
                let url = "http://[::1]:\(port)/"
                #expect(Wait.until { (try? Curl.fetch(url, ["--noproxy", "*"]).text) == "six" })
                #expect(try proxy.records().last?["target"] == url)
                let wire = try Wire(to: speaker.port)
                #expect(String(decoding: try wire.read(11), as: UTF8.self) == "220 ready\r\n")
                try wire.send("HELO\r\n")
                #expect(String(decoding: try wire.read(10), as: UTF8.self) == "250 fine\r\n")
                #expect(Wait.until { proxy.accessLog.contains("\"tunnel\":\"opaque\"") })
            }
        }
    }

    @Test func `the proxy's own connections that come back to it are refused, and so is its own address`() throws {
        try OwnNetwork.run {
            let origin = try RecordingOrigin.answering()
            try redirecting([origin.port], rules: "", exempt: nil) { proxy throws in
                let fetched = try fetch("127.0.0.1", origin.port)
                #expect(fetched.status == 502, "\(fetched)")
                #expect(Wait.until { proxy.accessLog.contains("proxy_loop_detected") })
                #expect(origin.connections == 0)
            }
        }
    }

    /// The port of the transparent listener.
    private func port(of proxy: AttacheProcess) throws -> String {
        let listener = try #require(
            Scratch.read(proxy.folder + "/proxy.conf").split(separator: "\n")
                .first { $0.hasSuffix("transparent") }?.split(separator: " ").dropFirst().first)
        return String(listener.drop { $0 != ":" }.dropFirst())
    }

    @Test(.enabled(if: HelperScript.isInstalled("setpriv")))
    func `the manual's lines for a firewall let the proxy's user pass, and redirect all others`() throws {
        try OwnNetwork.run {
            let origin = try GuardedOrigin(.digest)
            let port = origin.origin.port
            try redirecting([], rules: Self.digest("ci.example.test", port), exempt: nil) { proxy throws in
                let manual = try AttacheBinary.run("help", "transparent").output
                let lines = manual.split(separator: "\n").filter { $0.contains("tables -t nat -A OUTPUT ") }
                #expect(lines.count == 4, "\(manual)")
                for line in lines {
                    let line = line.replacing("--uid-owner attache", with: "--uid-owner \(geteuid())")
                        .replacing("80,443", with: "\(port)").replacing("3129", with: try self.port(of: proxy))
                    try OwnNetwork.command("sh", "-c", String(line))
                }
                // This process is of the proxy's user: it reaches the server itself.
                #expect(try fetch("ci.example.test", port).status == 401)
                #expect(proxy.accessLogLines.isEmpty)
                let other = try Finished.run(
                    "setpriv",
                    [
                        "--reuid=65534", "--regid=65534", "--clear-groups", "curl", "-q", "-sS", "--max-time", "60",
                        "--noproxy", "*", "--resolve", "ci.example.test:\(port):127.0.0.1", "-o", "/dev/null", "-w",
                        "%{http_code}", "http://ci.example.test:\(port)/",
                    ], directory: "/")
                #expect(other.output == "200", "\(other) \(proxy.accessLog)")
                #expect(try proxy.records().last?["credential"] == "web")
            }
        }
    }

    @Test func `TPROXY leaves the address as it is`() throws {
        try OwnNetwork.run {
            let origin = try GuardedOrigin(.digest)
            let port = origin.origin.port
            try redirecting([], rules: Self.digest("ci.example.test", port)) { proxy throws in
                try OwnNetwork.command("ip", "rule", "add", "fwmark", "1", "lookup", "100")
                try OwnNetwork.command("ip", "route", "add", "local", "default", "dev", "lo", "table", "100")
                try OwnNetwork.command(
                    "iptables", "-t", "mangle", "-A", "OUTPUT", "-p", "tcp", "--dport", "\(port)", "-m", "mark", "!",
                    "--mark", "3128", "-j", "MARK", "--set-mark", "1")
                try OwnNetwork.command(
                    "iptables", "-t", "mangle", "-A", "PREROUTING", "-p", "tcp", "--dport", "\(port)", "-m", "mark",
                    "--mark", "1", "-j", "TPROXY", "--on-port", try self.port(of: proxy), "--tproxy-mark", "1")
                let fetched = try fetch("ci.example.test", port)
                #expect(fetched.status == 200, "\(fetched) \(proxy.accessLog)")
                #expect(try proxy.records().last?["credential"] == "web")
            }
        }
    }
}
