import Foundation
import TestSupport
import Testing

/// Clients of other projects that speak HTTP/2 to the proxy: in intercepted tunnels, and to listeners with TLS.
struct HTTP2ClientTests {
    private static let rules = """
        credential web { user \(Account.user); password file @/password }
        challenge { host \(ApacheServer.secureHost); secure yes; use web }

        """

    /// Runs a proxy that intercepts tunnels to Apache and answers there, with a TLS listener.
    private func serving(
        _ rules: String = "", listener: String = "", clients: String? = nil,
        _ body: (AttacheProcess, _ origin: String, _ authority: String, _ port: UInt16) throws -> Void
    ) throws {
        let origin = "https://\(ApacheServer.secureHost):\(try ApacheServer.shared().securePorts.three)"
        let port = FreePort.take()
        let identity = try Hierarchy.shared().issuing.issue(CertificateTerms(host: "localhost"))
        let files = [
            "proxy.pem": Scratch.read(try identity.chain()), "proxy.key": Scratch.read(identity.key),
            "password": Account.password, "users": try UsersLines.of("alice"),
        ]
        let line = "listen 127.0.0.1:\(port) tls certificate @/proxy.pem key @/proxy.key \(listener)\n"
        let routes = "route *.example.test { upgrade; intercept }\n"
        var setting = AttacheProcess.Setting(threads: 1, files: files)
        if let clients { setting.clients = clients }
        try AttacheProcess.visitingZoo(line + Self.rules + rules + routes, setting: setting) { proxy throws in
            try body(proxy, origin, proxy.exportedAuthority(), port)
        }
    }

    private func curl(_ proxy: AttacheProcess, _ authority: String, _ more: [String]) throws -> Finished {
        try Finished.run(
            "curl",
            ["-q", "-sS", "--max-time", "60", "-x", proxy.address, "--cacert", authority, "--http2"] + more, seconds: 90
        )
    }

    /// Runs a program of Node with the CA that it must trust.
    private func node(_ script: String, trusting authority: String, _ arguments: [String]) throws -> Finished {
        try Finished.run(
            "node", ["-e", script] + arguments, environment: ["NODE_EXTRA_CA_CERTS": authority], seconds: 90)
    }

    private static func isInstalled(_ name: String) -> Bool { (try? Spawn.executable(name)) != nil }

    @Test(arguments: ["basic", "digest", "steady", "multi"])
    func `curl in an intercepted tunnel`(name: String) throws {
        try serving { proxy, origin, authority, _ throws in
            let urls = (1...3).map { "\(origin)/\(name)/?\($0)" }
            let run = try curl(proxy, authority, ["-w", "%{http_version}\n"] + urls)
            #expect(run.output == String(repeating: "this is \(name)\n2\n", count: 3), "\(run)")
            let log = { proxy.accessLog.split(separator: "\n").filter { $0.contains(#""http":"2""#) }.count }
            #expect(Wait.until { log() == 3 }, "\(proxy.accessLog)")
            #expect(try proxy.metric("attache_http2_streams_total") == 3)
            #expect(try proxy.metric("attache_http2_connections_total") == 1)
        }
    }

    /// A page and twenty requests of its script at once, each of which the origin challenges.
    @Test(arguments: ["basic", "digest"])
    func `Chromium shows a page behind a login, and its script asks on the same connection`(name: String) throws {
        try serving { proxy, origin, _, _ throws in
            let browser = try Browser(trustsAnyCertificate: true, through: proxy.address)
            try browser.visit("\(origin)/\(name)/")
            try browser.awaitText("this is \(name)")
            let used = "performance.getEntriesByType('navigation')[0].nextHopProtocol"
            #expect(try browser.evaluate(used) as? String == "h2")
            let texts = """
                Promise.all([...Array(20).keys()].map(i => fetch('/\(name)/?' + i).then(answer => answer.text())))
                    .then(texts => texts.filter(text => text.trim() === 'this is \(name)').length)
                """
            #expect(try browser.evaluate(texts) as? Int == 20)
            let log = { proxy.accessLog.split(separator: "\n").filter { $0.contains(#""http":"2""#) }.count }
            #expect(Wait.until { log() >= 21 }, "\(proxy.accessLog)")
            #expect(try proxy.metric("attache_http2_connections_total") <= 2)
        }
    }

    @Test func `large content goes both ways`() throws {
        let apache = try ApacheServer.shared()
        try serving { proxy, origin, authority, _ throws in
            let (mark, file) = (ApacheServer.mark(), try Payload.file(bytes: 5 << 20))
            let sent = try curl(proxy, authority, ["-T", file, "\(origin)/open/upload.cgi?\(mark)"])
            #expect(sent.output == "\(5 << 20) \(try Hash.sha256(ofFile: file))\n", "\(sent)")
            _ = apache
            let large = try curl(
                proxy, authority,
                ["-o", "/dev/null", "-w", "%{http_version} %{size_download}"]
                    + [Zoo.shared().url(Specimen["good"], "/large")])
            #expect(large.output == "2 1000000", "\(large)")
        }
    }

    @Test func `with http2 no there is only HTTP 1.1`() throws {
        let route = "route \(ApacheServer.secureHost) { intercept; http2 no }\n"
        try serving(route, listener: "http2 no") { proxy, origin, authority, port throws in
            let run = try curl(proxy, authority, ["-w", "%{http_version}", "\(origin)/basic/"])
            #expect(run.output == "this is basic\n1.1", "\(run)")
            let shown = try Finished.run(
                "openssl", ["s_client", "-connect", "127.0.0.1:\(port)", "-alpn", "h2,http/1.1"])
            #expect(shown.output.contains("ALPN protocol: http/1.1"), "\(shown)")
        }
    }

    @Test func `a client that logs in by NTLM itself is sent to HTTP 1.1`() throws {
        try serving { proxy, origin, authority, _ throws in
            let run = try curl(
                proxy, authority,
                [
                    "-H", "Authorization: NTLM TlRMTVNTUAABAAAAB4IIogAAAAAAAAAAAAAAAAAAAAAGAbEdAAAADw==", "-o",
                    "/dev/null", "-w", "%{http_version} %{http_code}", "\(origin)/open/",
                ])
            #expect(run.output.hasPrefix("1.1 "), "\(run)")
            #expect(Wait.until { proxy.accessLog.contains("it must ask by HTTP/1.1") }, "\(proxy.accessLog)")
        }
    }

    /// 100 streams at once meet one unknown challenge: the origin sees few.
    @Test(.enabled(if: isInstalled("node")), arguments: ["basic", "digest"])
    func `Node asks 100 times at once in an intercepted tunnel`(name: String) throws {
        try serving { proxy, origin, authority, _ throws in
            let url = try #require(URL(string: origin))
            let script = """
                const http = require('http'), http2 = require('http2'), tls = require('tls');
                const [host, port] = ['\(url.host ?? "")', \(url.port ?? 0)];
                http.request({ host: '127.0.0.1', port: \(proxy.port), method: 'CONNECT', path: `${host}:${port}` })
                    .on('connect', (response, socket) => {
                        const secure = tls.connect({ socket, servername: host, ALPNProtocols: ['h2'] }, () => {
                            const session = http2.connect(`https://${host}:${port}`, { createConnection: () => secure });
                            let done = 0, good = 0;
                            for (let i = 0; i < 100; i++) {
                                const stream = session.request({ ':path': `/\(name)/?${i}` });
                                let status = 0, text = '';
                                stream.on('response', head => { status = head[':status']; });
                                stream.on('data', piece => { text += piece; });
                                stream.on('error', () => {});
                                stream.on('close', () => {
                                    if (status === 200 && text === 'this is \(name)\\n') good++;
                                    if (++done === 100) { console.log(good); session.close(); secure.destroy(); }
                                });
                            }
                        });
                    }).end();
                """
            let run = try node(script, trusting: authority, [])
            #expect(run.output == "100\n", "\(run)")
            let unauthorized = proxy.accessLog.components(separatedBy: #""status":401"#).count - 1
            #expect(unauthorized == 0)
        }
    }

    /// Requests, tunnels and the login of a client by streams of a connection to the proxy itself.
    @Test(.enabled(if: isInstalled("node")))
    func `Node at a listener with TLS`() throws {
        let origin = try RecordingOrigin.answering()
        try serving { proxy, _, _, port throws in
            let script = """
                const http2 = require('http2');
                const session = http2.connect('https://localhost:\(port)');
                const ask = (head, body) => new Promise(resolve => {
                    const stream = session.request(head, { endStream: body === undefined });
                    let status = 0, text = '', trailers = '';
                    stream.on('response', head => { status = head[':status']; });
                    stream.on('data', piece => { text += piece; });
                    stream.on('error', error => { text += error.code; });
                    stream.on('close', () => resolve(`${status} ${text}`));
                    if (body !== undefined) stream.end(body);
                });
                const place = 'localhost:\(origin.port)';
                const head = { ':scheme': 'http', ':authority': place };
                (async () => {
                    console.log(await ask({ ...head, ':path': '/a' }));
                    console.log(await ask({ ...head, ':path': '/b', ':method': 'POST' }, 'hello'));
                    console.log(await ask({ ...head, ':path': '/c', ':method': 'PUT', 'content-length': '2' }, 'hi'));
                    const tunnel = session.request({ ':method': 'CONNECT', ':authority': place });
                    tunnel.on('response', head => {
                        console.log(head[':status']);
                        tunnel.write('GET /d HTTP/1.1\\r\\nHost: x\\r\\n\\r\\n');
                    });
                    let text = '';
                    tunnel.on('data', piece => {
                        text += piece;
                        if (text.endsWith('ok')) { console.log(text.split('\\r\\n')[0]); tunnel.end(); session.close(); }
                    });
                })();
                """
            let run = try node(script, trusting: Hierarchy.shared().root.certificate, [])
            #expect(run.output == "200 ok\n200 ok\n200 ok\n200\nHTTP/1.1 200 OK\n", "\(run)")
            let seen = origin.messages
            #expect(
                seen.map(\.startLine) == ["GET /a HTTP/1.1", "POST /b HTTP/1.1", "PUT /c HTTP/1.1", "GET /d HTTP/1.1"])
            #expect(seen.dropFirst().first?.text == "hello")
            #expect(seen.dropFirst(2).first?.text == "hi")
            #expect(seen.first?["Via"]?.hasPrefix("2 attache-") == true, "\(seen.first?.head ?? "")")
            #expect(seen.first?.values("Host").count == 1)
            _ = proxy
        }
    }

    @Test(.enabled(if: isInstalled("h2load")))
    func `h2load at a listener with TLS`() throws {
        let origin = try RecordingOrigin.answering()
        try serving { proxy, _, _, port throws in
            let run = try Finished.run(
                "h2load",
                [
                    "-c", "4", "-m", "32", "-n", "4000", "--connect-to=127.0.0.1:\(port)", "-H", ":scheme: http",
                    "https://localhost:\(origin.port)/",
                ], seconds: 120)
            #expect(run.output.contains("4000 succeeded, 0 failed, 0 errored, 0 timeout"), "\(run)")
            #expect(try proxy.metric("attache_http2_floods_total") == 0)
        }
    }

    @Test(.enabled(if: isInstalled("nghttp")))
    func `nghttp at a listener with TLS`() throws {
        let origin = try RecordingOrigin.answering()
        try serving { _, _, _, port throws in
            let run = try Finished.run(
                "nghttp",
                [
                    "-m", "5", "-H", ":scheme: http", "-H", ":authority: localhost:\(origin.port)",
                    "https://localhost:\(port)/x",
                ])
            #expect(run.output == String(repeating: "ok", count: 5), "\(run)")
        }
    }

    /// One login serves the streams that bring it, and no other.
    @Test(.enabled(if: isInstalled("node")))
    func `a login at the proxy is asked of each stream`() throws {
        let origin = try RecordingOrigin.answering()
        let clients = "allow 127.0.0.0/8; authenticate basic; users file @/users"
        try serving(clients: clients) { _, _, _, port throws in
            let login = Data("alice:\(Account.clientPassword)".utf8).base64EncodedString()
            let script = """
                const http2 = require('http2');
                const session = http2.connect('https://localhost:\(port)');
                const ask = more => new Promise(resolve => {
                    const stream = session.request({ ':scheme': 'http', ':authority': 'localhost:\(origin.port)', ...more });
                    let head = {};
                    stream.on('response', fields => { head = fields; });
                    stream.on('error', () => {});
                    stream.resume();
                    stream.on('close', () => resolve(head[':status']));
                });
                const login = { 'proxy-authorization': 'Basic \(login)' };
                (async () => {
                    console.log(await ask({}), ...await Promise.all([ask(login), ask(login), ask({})]), await ask(login));
                    session.close();
                })();
                """
            let run = try node(script, trusting: Hierarchy.shared().root.certificate, [])
            #expect(run.output == "407 200 200 407 200\n", "\(run)")
            #expect(origin.messages.allSatisfy { $0["Proxy-Authorization"] == nil })
        }
    }
}
