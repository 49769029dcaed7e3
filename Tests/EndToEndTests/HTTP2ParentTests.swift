import Foundation
import TestSupport
import Testing

/// Parents that choose HTTP/2 in their TLS handshake: tunnels are streams of a connection that all clients share.
struct HTTP2ParentTests {
    /// A parent of Node, which speaks HTTP/2, and HTTP/1.1 to clients that ask for it. It prints a line for each CONNECT.
    private final class NodeParent: Sendable {
        enum Mode: String, Sendable {
            case open
            /// It wants a password.
            case login
            /// It refuses each second stream unprocessed.
            case refuse
            /// It wants HTTP/1.1.
            case old
            /// It ends a connection in order after forty tunnels.
            case rolling
            /// It opens a tunnel when the server in it has spoken.
            case late
        }

        let port = FreePort.take()
        private let child: Subprocess

        init(_ mode: Mode) throws {
            let folder = Scratch.folder("h2-parent")
            let identity = try ServerIdentity(
                Hierarchy.shared().issuing.issue(CertificateTerms(host: HTTP2Origin.host)))
            try Scratch.write(Self.script, to: folder + "/parent.js")
            let login = Data("\(Account.user):\(Account.password)".utf8).base64EncodedString()
            child = try Subprocess(
                "node", [folder + "/parent.js", "\(port)", identity.chain, identity.leaf.key, mode.rawValue, login],
                directory: folder)
            try Socket.awaitListener(on: port, of: child)
        }

        /// The tunnels that were asked for: version, connection, and whether a password came.
        var lines: [String] { child.output.split(separator: "\n").map(String.init) }
        /// The number of HTTP/2 connections on which tunnels were asked for.
        var sessions: Int { Set(lines.filter { $0.hasPrefix("2.0") }.map { $0.split(separator: " ")[1] }).count }

        private static let script = """
            const fs = require('fs'), http2 = require('http2'), net = require('net');
            const [port, chain, key, mode, login] = process.argv.slice(2);
            const server = http2.createSecureServer({ cert: fs.readFileSync(chain), key: fs.readFileSync(key),
                allowHTTP1: true, maxSessionMemory: 500, settings: { maxConcurrentStreams: 1000 } });
            let sessions = 0, refused = 0;
            server.on('sessionError', () => {});
            server.on('session', session => {
                session.number = ++sessions;
                session.served = 0;
                session.on('error', () => {});
            });
            const word = fields => fields['proxy-authorization'] ? 'login' : 'none';
            const isAdmitted = fields => mode !== 'login' || fields['proxy-authorization'] === 'Basic ' + login;
            const connect = (authority, opened, failed) => {
                const socket = net.connect({ host: '127.0.0.1', port: Number(authority.split(':').pop()), allowHalfOpen: true },
                    () => opened(socket));
                socket.on('error', failed);
                return socket;
            };
            server.on('stream', (stream, head) => {
                stream.on('error', () => {});
                console.log(`2.0 ${stream.session.number} ${word(head)} ${head[':method']} ${head[':scheme']} ${head[':path']}`);
                if (!isAdmitted(head)) {
                    stream.respond({ ':status': 407, 'proxy-authenticate': 'Basic realm="up"' });
                    return stream.end('log in');
                }
                if (mode === 'refuse' && refused++ % 2 === 0) return stream.close(7);
                if (mode === 'old') return stream.close(13);
                if (mode === 'rolling' && ++stream.session.served === 40) stream.session.close();
                const socket = connect(head[':authority'], async socket => {
                    if (mode === 'late') socket.unshift(await new Promise(done => socket.once('data', done)));
                    stream.respond({ ':status': 200 });
                    socket.pipe(stream);
                    stream.pipe(socket);
                }, () => stream.close(10));
                stream.on('close', () => socket.destroy());
            });
            server.on('connect', (request, client) => {
                client.on('error', () => {});
                console.log(`1.1 0 ${word(request.headers)}`);
                if (!isAdmitted(request.headers)) {
                    return client.end('HTTP/1.1 407 No\\r\\nProxy-Authenticate: Basic realm="up"\\r\\nContent-Length: 0\\r\\n\\r\\n');
                }
                const socket = connect(request.url, socket => {
                    client.write('HTTP/1.1 200 OK\\r\\n\\r\\n');
                    socket.pipe(client);
                    client.pipe(socket);
                }, () => client.destroy());
                client.on('close', () => socket.destroy());
            });
            server.listen(Number(port), '127.0.0.1');
            """
    }

    private static let isInstalled = (try? Spawn.executable("node")) != nil
    private static let account = "credential web { user \(Account.user); password file @/password }\n"
    private static let challenge = "\(account)challenge { proxy yes; host \(HTTP2Origin.host); use web }\n"

    /// Runs a proxy whose requests go through the parent at that port.
    private func passing(
        _ port: UInt16, rules: String = "", words: String = "", password: String = Account.password,
        _ body: (AttacheProcess) throws -> Void
    ) throws {
        let parent = "parent up { https \(HTTP2Origin.host):\(port) }\nroute * { via up; \(words) }\n"
        let setting = AttacheProcess.Setting(threads: 1, files: ["password": password + "\n"])
        try AttacheProcess.visitingZoo(rules + parent, setting: setting, body)
    }

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

    @Test(.enabled(if: isInstalled))
    func `tunnels share a connection, and the parent's 407 is answered on it`() throws {
        let parent = try NodeParent(.login)
        try passing(parent.port, rules: Self.challenge) { proxy throws in
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

    @Test(.enabled(if: isInstalled), arguments: ["no", "clients", "origins", "yes"])
    func `a route may say that parents are asked by HTTP 1.1`(word: String) throws {
        let parent = try NodeParent(.open)
        try passing(parent.port, words: "http2 \(word)") { proxy throws in
            #expect(try fetch(3, through: proxy) == [200, 200, 200])
            let version = word == "no" || word == "clients" ? "1.1" : "2.0"
            #expect(parent.lines.count == 3 && parent.lines.allSatisfy { $0.hasPrefix(version) }, "\(parent.lines)")
            #expect(Wait.until { proxy.accessLogLines.count == 3 })
            let lines = proxy.accessLogLines.filter { $0.contains(#","parent_http":"2""#) }
            #expect(lines.count == (version == "2.0" ? 3 : 0), "\(proxy.accessLog)")
        }
    }

    @Test(.enabled(if: isInstalled))
    func `a rule that names NTLM for the parent wants HTTP 1.1`() throws {
        let parent = try NodeParent(.login)
        let rule = "challenge { proxy yes; host \(HTTP2Origin.host); method ntlm basic; use web }\n"
        try passing(parent.port, rules: Self.account + rule) { proxy throws in
            #expect(try fetch(3, through: proxy) == [200, 200, 200])
            #expect(parent.lines.allSatisfy { $0.hasPrefix("1.1") }, "\(parent.lines)")
        }
    }

    @Test(.enabled(if: isInstalled))
    func `a tunnel that was refused unprocessed is asked for again`() throws {
        let parent = try NodeParent(.refuse)
        try passing(parent.port) { proxy throws in
            for _ in 1...6 { #expect(try fetch(1, through: proxy) == [200]) }
            #expect(parent.lines.count == 12, "\(parent.lines)")
        }
    }

    @Test(.enabled(if: isInstalled))
    func `a parent that wants HTTP 1.1 for tunnels gets it, and is not asked again`() throws {
        let parent = try NodeParent(.old)
        try passing(parent.port) { proxy throws in
            for _ in 1...3 { #expect(try fetch(1, through: proxy) == [200]) }
            #expect(parent.lines.map { $0.prefix(3) } == ["2.0", "1.1", "1.1", "1.1"], "\(parent.lines)")
        }
    }

    @Test(.enabled(if: isInstalled))
    func `a parent that closes its connections in order loses no tunnel`() throws {
        let parent = try NodeParent(.rolling)
        try passing(parent.port) { proxy throws in
            #expect(try fetch(1, through: proxy) == [200])
            let statuses = try fetch(200, through: proxy)
            #expect(statuses.count == 200 && statuses.allSatisfy { $0 == 200 }, "\(statuses)")
            #expect(parent.sessions >= 5)
        }
    }

    @Test(.enabled(if: isInstalled))
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
        try passing(parent.port) { proxy throws in
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

    @Test(.enabled(if: isInstalled))
    func `a tunnel that the parent cannot open is a 502`() throws {
        let parent = try NodeParent(.open)
        let nobody = FreePort.take()
        defer { FreePort.release(nobody) }
        try passing(parent.port) { proxy throws in
            let wire = try Wire(to: proxy.port)
            try wire.send("CONNECT 127.0.0.1:\(nobody) HTTP/1.1\r\nHost: a\r\n\r\n")
            let response = try wire.readResponse()
            #expect(response.status == 502)
            #expect(response["Proxy-Status"]?.contains("CONNECT_ERROR") == true, "\(response)")
        }
    }

    @Test(.enabled(if: isInstalled && HTTP2Origin.Kind.nginx.isInstalled))
    func `streams to an origin go in a tunnel that is a stream`() throws {
        let parent = try NodeParent(.open)
        let origin = try HTTP2Origin(.nginx)
        try passing(parent.port, words: "upgrade; intercept") { proxy throws in
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
            case .open, .late: HTTP2ParentTests.isInstalled
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
            try passing(port, rules: Self.challenge, password: Account.clientPassword) { proxy throws in
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
    @Test(.enabled(if: (try? Spawn.executable("nghttpx")) != nil))
    func `nghttpx is the parent`() throws {
        let port = FreePort.take()
        defer { FreePort.release(port) }
        let folder = Scratch.folder("nghttpx")
        let identity = try ServerIdentity(Hierarchy.shared().issuing.issue(CertificateTerms(host: HTTP2Origin.host)))
        var setting = AttacheProcess.Setting(threads: 1, files: ["users": try UsersLines.of(Account.user)])
        setting.clients = "allow 127.0.0.0/8; authenticate basic; users file @/users"
        try AttacheProcess.visitingZoo("route * { tunnel }\n", setting: setting) { behind throws in
            let nghttpx = try Subprocess(
                "nghttpx",
                [
                    // Its default is 8 tunnels to a host.
                    "--http2-proxy", "--no-ocsp", "--backend-connections-per-host=1000", "--frontend=127.0.0.1,\(port)",
                    "--backend=127.0.0.1,\(behind.port)",
                    "--conf=/dev/null", "--errorlog-file=\(folder)/error.log", identity.leaf.key, identity.chain,
                ], directory: folder)
            try Socket.awaitListener(on: port, of: nghttpx)
            try passing(port, rules: Self.challenge, password: Account.clientPassword) { proxy throws in
                #expect(try fetch(1, through: proxy) == [200])
                let statuses = try fetch(100, through: proxy)
                #expect(statuses.count == 100 && statuses.allSatisfy { $0 == 200 }, "\(statuses)")
                #expect(try connections(of: proxy) == 1)
            }
        }
    }
}
