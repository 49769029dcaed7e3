import Foundation
import TestSupport
import Testing

/// Parents that choose HTTP/2 in their TLS handshake: tunnels are streams of a connection that all clients share.
struct HTTP2ParentTests {
    private func connections(of proxy: AttacheProcess) throws -> Int {
        try proxy.metric("attache_upstream_http2_connections_total")
    }

    /// Asks an origin with TLS so often, each time in a tunnel of its own.
    private func fetch(_ count: Int, through proxy: AttacheProcess) throws -> [Int] {
        try Parallel(
            count, Zoo.shared().url(Specimen["good"]), through: proxy,
            options: [
                "--cacert", Hierarchy.shared().root.certificate, "--parallel-max", "50", "-H", "Connection: close",
            ]
        ).statuses()
    }

    /// Opens a tunnel to an origin on this machine.
    private func tunnel(to port: UInt16, through proxy: AttacheProcess) throws -> Wire {
        let wire = try Wire(to: proxy.port)
        try wire.send("CONNECT 127.0.0.1:\(port) HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\n\r\n")
        #expect(try wire.readResponse(to: "CONNECT").status == 200)
        return wire
    }

    @Test(.enabled(if: NodeParent.isInstalled))
    func `tunnels share a connection, and the parent's 407 is answered on it`() throws {
        let parent = try NodeParent(.login)
        try AttacheProcess.passing(through: parent.port, rules: NodeParent.challenge) { proxy throws in
            #expect(try fetch(1, through: proxy) == [200])
            let statuses = try fetch(200, through: proxy)
            #expect(statuses.count == 200 && statuses.allSatisfy { $0 == 200 }, "\(statuses)")
            #expect(parent.sessions == 1)
            #expect(parent.lines.count { $0 == "2.0 1 login CONNECT undefined undefined" } == 201, "\(parent.lines)")
            #expect(parent.lines.count { $0.contains("none") } == 1)
            #expect(try connections(of: proxy) == 1)
            #expect(try proxy.metric("attache_upstream_http2_streams_total") == 202)
        }
    }

    @Test(.enabled(if: NodeParent.isInstalled), arguments: ["no", "clients", "origins", "yes"])
    func `a route may say that parents are asked by HTTP 1.1`(word: String) throws {
        let parent = try NodeParent(.open)
        try AttacheProcess.passing(through: parent.port, words: "http2 \(word)") { proxy throws in
            #expect(try fetch(3, through: proxy) == [200, 200, 200])
            let version = word == "no" || word == "clients" ? "1.1" : "2.0"
            #expect(parent.lines.count == 3 && parent.lines.allSatisfy { $0.hasPrefix(version) }, "\(parent.lines)")
            #expect(Wait.until { proxy.accessLogLines.count == 3 })
            let lines = proxy.accessLogLines.filter { $0.contains(#","parent_http":"2""#) }
            #expect(lines.count == (version == "2.0" ? 3 : 0), "\(proxy.accessLog)")
        }
    }

    @Test(.enabled(if: NodeParent.isInstalled))
    func `a rule that names NTLM for the parent wants HTTP 1.1`() throws {
        let parent = try NodeParent(.login)
        let rule = "challenge { proxy yes; host \(HTTP2Origin.host); method ntlm basic; use web }\n"
        try AttacheProcess.passing(through: parent.port, rules: NodeParent.account + rule) { proxy throws in
            #expect(try fetch(3, through: proxy) == [200, 200, 200])
            #expect(parent.lines.allSatisfy { $0.hasPrefix("1.1") }, "\(parent.lines)")
        }
    }

    @Test(.enabled(if: NodeParent.isInstalled))
    func `a tunnel that was refused unprocessed is asked for again`() throws {
        let parent = try NodeParent(.refuse)
        try AttacheProcess.passing(through: parent.port) { proxy throws in
            for _ in 1...6 { #expect(try fetch(1, through: proxy) == [200]) }
            #expect(parent.lines.count == 12, "\(parent.lines)")
        }
    }

    @Test(.enabled(if: NodeParent.isInstalled))
    func `a parent that wants HTTP 1.1 for tunnels gets it, and is not asked again`() throws {
        let parent = try NodeParent(.old)
        try AttacheProcess.passing(through: parent.port) { proxy throws in
            for _ in 1...3 { #expect(try fetch(1, through: proxy) == [200]) }
            #expect(parent.lines.map { $0.prefix(3) } == ["2.0", "1.1", "1.1", "1.1"], "\(parent.lines)")
        }
    }

    @Test(.enabled(if: NodeParent.isInstalled))
    func `a parent that closes its connections in order loses no tunnel`() throws {
        let parent = try NodeParent(.rolling)
        try AttacheProcess.passing(through: parent.port) { proxy throws in
            #expect(try fetch(1, through: proxy) == [200])
            let statuses = try fetch(200, through: proxy)
            #expect(statuses.count == 200 && statuses.allSatisfy { $0 == 200 }, "\(statuses)")
            #expect(parent.sessions >= 5)
        }
    }

    @Test(.enabled(if: NodeParent.isInstalled))
    func `each side of a tunnel ends alone`() throws {
        let parent = try NodeParent(.open)
        let last = try RecordingOrigin { connection in
            try connection.wire.send(try connection.wire.readToEnd() + Array(" bye".utf8))
        }
        let first = try RecordingOrigin { connection in
            try connection.wire.send("welcome")
            connection.wire.finishSending()
            var rest = Message(head: "")
            rest.body = try connection.wire.readToEnd()
            connection.record(content: rest)
        }
        try AttacheProcess.passing(through: parent.port) { proxy throws in
            let wire = try tunnel(to: last.port, through: proxy)
            let large = [UInt8](repeating: 120, count: 300_000)
            try wire.send(large)
            wire.finishSending()
            #expect(try wire.readToEnd() == large + Array(" bye".utf8))
            let other = try tunnel(to: first.port, through: proxy)
            #expect(try other.readToEnd() == Array("welcome".utf8))
            try other.send(large)
            other.finishSending()
            #expect(Wait.until { first.contents.first?.body == large })
            #expect(parent.sessions == 1)
            #expect(Wait.until { proxy.accessLogLines.count { $0.contains("CONNECT") } == 2 }, "\(proxy.accessLog)")
            #expect(!proxy.accessLog.contains(#""error""#), "\(proxy.accessLog)")
        }
    }

    @Test(.enabled(if: NodeParent.isInstalled))
    func `a tunnel that the parent cannot open is a 502`() throws {
        let parent = try NodeParent(.open)
        let nobody = FreePort.take()
        defer { FreePort.release(nobody) }
        try AttacheProcess.passing(through: parent.port) { proxy throws in
            let wire = try Wire(to: proxy.port)
            try wire.send("CONNECT 127.0.0.1:\(nobody) HTTP/1.1\r\nHost: a\r\n\r\n")
            let response = try wire.readResponse()
            #expect(response.status == 502)
            #expect(response["Proxy-Status"]?.contains("CONNECT_ERROR") == true, "\(response)")
        }
    }

    @Test(.enabled(if: NodeParent.isInstalled && HTTP2Origin.Kind.nginx.isInstalled))
    func `streams to an origin go in a tunnel that is a stream`() throws {
        let parent = try NodeParent(.open)
        let origin = try HTTP2Origin(.nginx)
        try AttacheProcess.passing(through: parent.port, words: "upgrade; intercept") { proxy throws in
            #expect(try proxy.get(origin.url()).text == "this is h2\n")
            let statuses = try Parallel.fetch(100, origin.url(), through: proxy)
            #expect(statuses.count == 100 && statuses.allSatisfy { $0 == 200 }, "\(statuses)")
            #expect(parent.sessions == 1)
            // That with the parent, and few in its tunnels.
            #expect(try connections(of: proxy) <= 4)
        }
    }

    /// A parent, and the words for it in the rule file.
    enum Way: String, CaseIterable {
        case open, late, tinyproxy, microsocks

        var isInstalled: Bool {
            switch self {
            case .open, .late: NodeParent.isInstalled
            case .tinyproxy, .microsocks: (try? Spawn.executable(rawValue)) != nil
            }
        }
    }

    /// The client begins with HTTP/2 without TLS in its tunnel. The parents pass its server's bytes on.
    @Test(arguments: Way.allCases.filter(\.isInstalled))
    func `calls of gRPC without TLS go to their server in a tunnel of the parent`(way: Way) throws {
        let server = try GRPCServer(accepting: "token", isSecure: false)
        let node = way == .open || way == .late ? try NodeParent(way == .open ? .open : .late) : nil
        let tinyproxy = way == .tinyproxy ? try TinyproxyServer() : nil
        let parent =
            try node.map { "https \(HTTP2Origin.host):\($0.port)" } ?? tinyproxy.map { "http \($0.address)" }
            ?? "socks5 \(SOCKSServer.shared().address)"
        let password = way == .tinyproxy ? TinyproxyServer.password : Account.password
        let rules = """
            credential web { user \(Account.user); password file @/password }
            challenge { proxy yes; use web }
            parent up { \(parent) }
            route 127.0.0.1 { intercept; via up }

            """
        let script = """
            import grpc, sys
            own = [('authorization', 'Bearer token')]
            channel = grpc.insecure_channel(sys.argv[1])
            unary = channel.unary_unary('/test/Unary')
            print(unary(b'hello', timeout=30, metadata=own).decode())
            calls = [unary.future(b'%d' % n, timeout=60, metadata=own) for n in range(100)]
            print(sum(1 for n, c in enumerate(calls) if c.result().decode() == str(n)[::-1]))
            print(sum(1 for m in channel.unary_stream('/test/Many')(b'3000', timeout=60, metadata=own)))
            """
        let setting = AttacheProcess.Setting(threads: 1, files: ["password": password + "\n"])
        try AttacheProcess.visitingZoo(rules, setting: setting) { proxy throws in
            let proxied = server.environment.merging(["https_proxy": proxy.address, "GRPC_VERBOSITY": "ERROR"]) { $1 }
            let run = try Finished.run(
                "python3", ["-c", script, "127.0.0.1:\(server.port)"], environment: proxied, seconds: 120)
            #expect(run.output == "olleh\n100\n3000\n", "\(run)\n\(proxy.errorOutput)\n\(proxy.accessLog)")
            let lines = {
                proxy.accessLogLines.filter { $0.contains(#""http":"2""#) && $0.contains(#""upstream_http":"2""#) }
            }
            #expect(Wait.until { lines().count == 102 }, "\(proxy.accessLog)")
            #expect(lines().allSatisfy { $0.contains(#""parent":"up"#) })
            #expect(lines().allSatisfy { $0.contains(#""parent_http":"2""#) == (node != nil) }, "\(lines().prefix(2))")
            #expect(node?.sessions ?? 1 == 1)
        }
    }

    /// Two of this proxy. The second has a listener with TLS, and wants a login.
    @Test func `a parent of our own carries the tunnels of many clients on one connection`() throws {
        let port = FreePort.take()
        defer { FreePort.release(port) }
        let identity = try Hierarchy.shared().issuing.issue(CertificateTerms(host: HTTP2Origin.host))
        var setting = AttacheProcess.Setting(
            threads: 1,
            files: [
                "proxy.pem": Scratch.read(try identity.chain()), "proxy.key": Scratch.read(identity.key),
                "users": try UsersLines.of(Account.user),
            ])
        setting.clients = "allow 127.0.0.0/8; authenticate basic; users file @/users"
        let listener = "listen 127.0.0.1:\(port) tls certificate @/proxy.pem key @/proxy.key\n"
        try AttacheProcess.visitingZoo(listener + "route * { tunnel }\n", setting: setting) { parent throws in
            try AttacheProcess.passing(through: port, rules: NodeParent.challenge, password: Account.clientPassword) {
                proxy throws in
                #expect(try fetch(1, through: proxy) == [200])
                let statuses = try fetch(200, through: proxy)
                #expect(statuses.count == 200 && statuses.allSatisfy { $0 == 200 }, "\(statuses)")
                #expect(try connections(of: proxy) == 1)
                #expect(try parent.metric("attache_http2_streams_total") == 202)
                #expect(try parent.metric("attache_http2_floods_total") == 0)
                #expect(Wait.until { parent.accessLogLines.count { $0.contains(#""http":"2""#) } == 202 })
            }
        }
    }

    /// nghttpx passes CONNECT on to a proxy of HTTP/1.1, which is ours.
    @Test(.enabled(if: HTTP2Relay.has("nghttpx")))
    func `nghttpx is the parent`() throws {
        var setting = AttacheProcess.Setting(threads: 1, files: ["users": try UsersLines.of(Account.user)])
        setting.clients = "allow 127.0.0.0/8; authenticate basic; users file @/users"
        try AttacheProcess.visitingZoo("route * { tunnel }\n", setting: setting) { behind throws in
            let nghttpx = try HTTP2Relay(.nghttpx(behind.port))
            try AttacheProcess.passing(
                through: nghttpx.port, rules: NodeParent.challenge, password: Account.clientPassword
            ) { proxy throws in
                #expect(try fetch(1, through: proxy) == [200])
                let statuses = try fetch(100, through: proxy)
                #expect(statuses.count == 100 && statuses.allSatisfy { $0 == 200 }, "\(statuses)")
                #expect(try connections(of: proxy) == 1)
            }
        }
    }
}
