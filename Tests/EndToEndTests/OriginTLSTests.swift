import Foundation
import Testing

/// How the proxy speaks TLS with origins.
struct OriginTLSTests {
    private func relay(
        _ name: String, cuttingAt cuts: @escaping @Sendable (RecordRelay.Record) -> Bool = { _ in false }
    )
        throws -> (relay: RecordRelay, authority: String)
    {
        let specimen = try Specimen[name]
        let relay = try RecordRelay(to: Zoo.shared().port(of: specimen), cuttingAt: cuts)
        return (relay, "\(specimen.host):\(relay.port)")
    }

    // MARK: The handshake

    @Test(arguments: Entrance.allCases)
    func `the ClientHello says whom it wants and what it speaks`(entrance: Entrance) throws {
        let (relay, authority) = try relay("good")
        let (address, plain) = try self.relay("address")
        try AttacheProcess.visitingZoo { proxy throws in
            #expect(try proxy.visit(authority, by: entrance).status == 200)
            #expect(try proxy.visit(plain, by: entrance).status == 200)
            let hello = try #require(relay.passages.first?.hello)
            #expect(hello.serverName == "good.example.test")
            #expect(hello.protocols == ["h2", "http/1.1"])
            #expect(hello.asksForStaple)
            // RFC 6066 section 3: an address is no server name.
            #expect(try #require(address.passages.first?.hello).serverName == nil)
        }
    }

    @Test(arguments: ["tls12", "tls13"])
    func `a connection is kept, and a session resumed on the next`(name: String) throws {
        let specimen = try Specimen[name]
        let mark = ApacheServer.mark()
        try AttacheProcess.visitingZoo { proxy throws in
            for _ in 1...5 { #expect(try proxy.visit(specimen, "/?\(mark)-kept", by: .upgraded).status == 200) }
            for _ in 1...4 { #expect(try proxy.visit(specimen, "/close?\(mark)-closed", by: .upgraded).status == 200) }
            let server = try Zoo.shared().server
            let kept = server.entries(marked: mark + "-kept", atLeast: 5)
            #expect(Set(kept.map(\.connection)).count == 1)
            #expect(kept.first?.isResumed == false)
            let closed = server.entries(marked: mark + "-closed", atLeast: 4)
            // The first rode the kept one.
            #expect(closed.dropFirst().allSatisfy { $0.isResumed }, "\(closed)")
            let record = try proxy.record(marked: mark + "-closed")
            #expect(record?["tls"] == (name == "tls12" ? "1.2" : "1.3"))
        }
    }

    /// RFC 8446 appendix C.4: a session of TLS 1.3 is resumed once, so sixteen connections at once need sixteen.
    @Test func `connections that a server ends one after the other are resumed, sixteen at once`() throws {
        let specimen = try Specimen["tls13"]
        let mark = ApacheServer.mark()
        let url = try Zoo.shared().url(specimen, "/close?\(mark)", scheme: "http")
        let configuration = "\(Scratch.folder("many"))/urls"
        try Scratch.write(
            String(repeating: "url = \"\(url)\"\noutput = \"/dev/null\"\n", count: 320), to: configuration)
        try AttacheProcess.visitingZoo { proxy throws in
            let parallel = ["--parallel", "--parallel-immediate", "--parallel-max", "16", "-w", "%{http_code}\n"]
            let run = try Finished.run(
                "curl", ["-q", "-sS", "-x", proxy.address, "-K", configuration] + parallel, seconds: 120)
            #expect(run.output.split(separator: "\n").count { $0 == "200" } == 320, "\(run)")
            let entries = try Zoo.shared().server.entries(marked: mark, atLeast: 320)
            let full = entries.count { !$0.isResumed }
            #expect(entries.count == 320 && full <= 48, "\(full) of \(entries.count) were not resumed")
        }
    }

    @Test(arguments: ["tls10", "tls11"])
    func `an old protocol is spoken only where a route says so`(name: String) throws {
        let specimen = try Specimen[name]
        try AttacheProcess.visitingZoo { proxy throws in
            for entrance in Entrance.allCases {
                let refused = try proxy.visit(specimen, by: entrance)
                #expect(refused.status == 502, "\(refused)")
                #expect(refused["Proxy-Status"]?.contains("error=tls_") == true, "\(refused)")
                #expect(refused.text.contains("'tls minimum 1.0'"), "\(refused)")
            }
        }
        let route = "route \(specimen.host) { upgrade; intercept; tls minimum 1.0 }"
        try AttacheProcess.visitingZoo(route) { proxy throws in
            for entrance in Entrance.allCases {
                let answered = try proxy.visit(specimen, by: entrance)
                #expect(answered.text == "this is \(name)\n", "\(answered)")
            }
            // An operator sees who still speaks it.
            let status = try Finished.run(
                AttacheBinary.path, ["status", "--config", "proxy.conf"], directory: proxy.folder, seconds: 20)
            let version = name == "tls10" ? "1.0" : "1.1"
            #expect(status.output.contains("  TLS \(version) to https://\(specimen.host):"), "\(status)")
            #expect(status.output.contains(" by 127.0.0.1, curl/"), "\(status)")
            // What is weak is still found.
            let weak = try Specimen["weak-key"]
            try TrustVerdict.of(weak, by: .upgraded, through: proxy).expectRefused(weak, .upgraded)
        }
    }

    @Test(arguments: Entrance.allCases)
    func `a server without secure renegotiation is refused with the line that reaches it`(entrance: Entrance) throws {
        let good = try Specimen["good"]
        let identity = try Zoo.shared().identity(of: good)
        let port = FreePort.take()
        let server = try Subprocess(
            "gnutls-serv",
            [
                "--http", "--port", "\(port)", "--x509certfile", identity.chain, "--x509keyfile", identity.leaf.key,
                "--priority", "NORMAL:-VERS-ALL:+VERS-TLS1.2:%DISABLE_SAFE_RENEGOTIATION",
            ])
        try Socket.awaitListener(on: port, of: server)
        defer { _ = server.kill() }
        try AttacheProcess.visitingZoo { proxy throws in
            let refused = try proxy.visit("\(good.host):\(port)", by: entrance)
            #expect(refused.status == 502, "\(refused)")
            #expect(refused.text.contains("RFC 5746"), "\(refused)")
            #expect(refused.text.contains("'tls minimum 1.0'"), "\(refused)")
        }
        try AttacheProcess.visitingZoo("route \(good.host) { upgrade; intercept; tls minimum 1.0 }") { proxy throws in
            #expect(try proxy.visit("\(good.host):\(port)", by: entrance).status == 200)
        }
    }

    @Test func `a newer protocol can be asked for`() throws {
        try AttacheProcess.visitingZoo("route *.example.test { upgrade; tls minimum 1.3 }") { proxy throws in
            #expect(try proxy.visit(Specimen["tls13"], by: .upgraded).status == 200)
            #expect(try proxy.visit(Specimen["tls12"], by: .upgraded).status == 502)
        }
    }

    @Test func `a newer protocol can be ruled out`() throws {
        try AttacheProcess.visitingZoo("route *.example.test { upgrade; tls maximum 1.2 }") { proxy throws in
            #expect(try proxy.visit(Specimen["tls12"], by: .upgraded).status == 200)
            #expect(try proxy.visit(Specimen["tls13"], by: .upgraded).status == 502)
        }
    }

    @Test(arguments: Entrance.allCases)
    func `an origin that speaks HTTP_2 only is refused in words where HTTP_2 is not allowed`(entrance: Entrance) throws
    {
        let good = try Specimen["good"]
        let server = try NghttpServer(Zoo.shared().identity(of: good))
        try AttacheProcess.visitingZoo { proxy throws in
            #expect(try proxy.visit("\(good.host):\(server.port)", by: entrance).text == "this is nghttpd\n")
        }
        let route = "route *.example.test { upgrade; intercept; http2 clients }\n"
        try AttacheProcess.visitingZoo(route) { proxy throws in
            let refused = try proxy.visit("\(good.host):\(server.port)", by: entrance)
            #expect(refused.status == 502, "\(refused)")
            #expect(refused["Proxy-Status"]?.contains("error=") == true)
            #expect(refused.text.split(separator: " ").count > 3)
            #expect(try proxy.visit(Specimen["http2"], by: entrance).text == "this is http2\n")
        }
    }

    @Test(arguments: Entrance.allCases)
    func `a server without TLS is refused in words`(entrance: Entrance) throws {
        let talkative = try RecordingOrigin { try $0.wire.send("SSH-2.0-OpenSSH\r\n\r\n") }
        let http = try RecordingOrigin { connection in
            _ = try connection.wire.read(1)
            try connection.wire.send("HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
        }
        let silent = try RecordingOrigin { connection in _ = try connection.wire.read(1) }
        try AttacheProcess.visitingZoo { proxy throws in
            for origin in [talkative, http, silent] {
                let refused = try proxy.visit("other.example.test:\(origin.port)", by: entrance)
                #expect(refused.status == 502, "\(refused)")
                #expect(refused["Proxy-Status"]?.contains("error=") == true)
            }
        }
    }

    @Test func `a handshake that is not answered ends with the time-out`() throws {
        let gate = Gate()
        let origin = try RecordingOrigin { _ in gate.wait() }
        try AttacheProcess.visitingZoo("timeouts { connect 1s }") { proxy throws in
            let refused = try proxy.visit("other.example.test:\(origin.port)", by: .upgraded)
            #expect(refused.status == 504, "\(refused)")
            #expect(refused["Proxy-Status"]?.contains("timeout") == true, "\(refused)")
            gate.open()
        }
    }

    // MARK: The end of the stream

    private static let untilClose = "HTTP/1.0 200 OK\r\nContent-Type: text/plain\r\n\r\nuntil the end\n"
    private static let measured = "HTTP/1.0 200 OK\r\nContent-Length: 14\r\n\r\nuntil the end\n"

    @Test(arguments: ["-tls1_2", "-tls1_3"])
    func `an end without close_notify is an error where it delimits the content`(version: String) throws {
        let good = try Specimen["good"]
        let server = try OpenSSLServer(
            Zoo.shared().identity(of: good), [version], responses: ["/open": Self.untilClose, "/long": Self.measured])
        let honest = try RecordRelay(to: server.port)
        let cutting = try RecordRelay(to: server.port, cuttingAt: \.isAlert)
        try AttacheProcess.visitingZoo { proxy throws in
            for entrance in Entrance.allCases {
                let visit = { (relay: RecordRelay, path: String) in
                    try proxy.visit("\(good.host):\(relay.port)", path, by: entrance)
                }
                for (relay, path) in [(honest, "/open"), (honest, "/long"), (cutting, "/long")] {
                    let whole = try visit(relay, path)
                    #expect(whole.run.status == 0 && whole.text == "until the end\n", "\(entrance): \(whole)")
                }
                let cut = try visit(cutting, "/open")
                #expect(cut.run.status != 0, "\(entrance): \(cut)")
            }
            #expect(try proxy.records().contains { $0["error"] != nil })
        }
    }

    @Test(arguments: Entrance.allCases)
    func `content that is cut off is not taken for whole`(entrance: Entrance) throws {
        let (_, authority) = try relay("tls12", cuttingAt: { $0.type == 23 && $0.length < 16_000 && $0.length > 8_000 })
        try AttacheProcess.visitingZoo { proxy throws in
            let cut = try proxy.visit(authority, "/large", by: entrance)
            #expect(cut.run.status != 0 || cut.status == 502, "\(cut)")
        }
    }

    // MARK: Content

    @Test(arguments: Entrance.allCases)
    func `large content arrives whole in both directions`(entrance: Entrance) throws {
        let apache = try ApacheServer.shared()
        try AttacheProcess.visitingZoo { proxy throws in
            let large = try proxy.visit(Specimen["good"], "/large", by: entrance)
            #expect(large.text == String(repeating: "zoo\n", count: 250_000))
            for port in [apache.securePorts.two, apache.securePorts.three] {
                let mark = ApacheServer.mark()
                let file = try Payload.file(bytes: 5 << 20)
                let sent = try proxy.visit(
                    "\(ApacheServer.secureHost):\(port)", "/open/upload.cgi?\(mark)", by: entrance, ["-T", file])
                #expect(sent.text == "\(5 << 20) \(try Hash.sha256(ofFile: file))\n", "\(sent)")
            }
        }
    }

    @Test(arguments: Entrance.allCases)
    func `challenges behind TLS are answered`(entrance: Entrance) throws {
        let apache = try ApacheServer.shared()
        let rules = """
            credential web { user \(Account.user); password file @/password }
            challenge { host \(ApacheServer.secureHost); method basic digest; secure yes; use web }

            """
        try AttacheProcess.visitingZoo(rules) { proxy throws in
            for port in [apache.securePorts.two, apache.securePorts.three] {
                for name in ["basic", "digest", "steady", "multi"] {
                    let mark = ApacheServer.mark()
                    let answered = try proxy.visit(
                        "\(ApacheServer.secureHost):\(port)", "/\(name)/?\(mark)", by: entrance)
                    #expect(answered.text == "this is \(name)\n", "\(answered)")
                    #expect(try proxy.record(marked: mark)?["credential"] == "web")
                }
            }
        }
    }

    @Test func `many requests at once are all answered`() throws {
        try AttacheProcess.visitingZoo(setting: .init(threads: 2)) { proxy throws in
            let url = try Zoo.shared().url(Specimen["good"], scheme: "http")
            let statuses = try Parallel.fetch(300, url, through: proxy)
            #expect(statuses == Array(repeating: 200, count: 300))
        }
    }

    @Test(arguments: Entrance.allCases)
    func `egress holds for https as well`(entrance: Entrance) throws {
        let setting = AttacheProcess.Setting(egress: "deny 127.0.0.1; connect-ports any", threads: 1)
        try AttacheProcess.visitingZoo(setting: setting) { proxy throws in
            let refused = try proxy.visit(Specimen["good"], by: entrance)
            #expect(refused.status == 403, "\(refused)")
            #expect(refused["Proxy-Status"]?.contains("destination_ip_prohibited") == true)
        }
    }
}
