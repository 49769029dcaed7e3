import Foundation
import Synchronization
import TestSupport
import Testing

/// A secret, a certificate or a trust anchor is replaced while clients ask by HTTP/2.
struct HTTP2RotationTests {
    /// A client that asks until a file appears, and then prints the different answers that it got.
    private final class Load {
        private let child: Subprocess
        private let end = Scratch.folder("load") + "/end"

        /// - Parameter arguments: the program's; it gets the path of the file that ends it as one more.
        init(_ name: String, _ arguments: [String], environment: [String: String]) throws {
            child = try Subprocess(name, arguments + [end], environment: environment)
        }

        /// httpx, with eight requests at a time on one connection in an intercepted tunnel.
        convenience init(_ url: String, through proxy: AttacheProcess) throws {
            let script = """
                import asyncio, httpx, os, ssl, sys
                proxy, authority, url, end = sys.argv[1:]
                async def main():
                    answers, one = set(), httpx.Limits(max_connections=1)
                    context = ssl.create_default_context(cafile=authority)
                    async with httpx.AsyncClient(http2=True, proxy=proxy, verify=context, timeout=60, limits=one) as client:
                        # Before its first answer httpx does not know that it can send more.
                        await client.get(url.rsplit('/', 1)[0] + '/')
                        async def ask():
                            while not os.path.exists(end):
                                answer = await client.get(url)
                                answers.add(f'{answer.http_version} {answer.status_code} {answer.text}')
                        await asyncio.gather(*[ask() for _ in range(8)])
                    print(*answers)
                asyncio.run(main())
                """
            try self.init(
                "python3", ["-c", script, proxy.address, proxy.exportedAuthority(), url],
                environment: PythonPackages.http2Environment())
        }

        /// Lets it begin no more requests.
        func stop() throws { try Scratch.write("", to: end) }

        func finish() -> String {
            _ = child.wait(seconds: 60)
            return child.output + child.errorOutput
        }
    }

    /// A server of HTTP/2 that passes requests below `/origin/` on.
    private static func front(of origin: RecordingOrigin) throws -> HTTP2Origin {
        try HTTP2Origin(.nginx, directives: "location /origin/ { proxy_pass http://127.0.0.1:\(origin.port); }")
    }

    @Test(arguments: [false, true])
    func `a secret that is replaced is used at once, and no request fails`(isStored: Bool) throws {
        func login(_ password: String) -> String {
            "Basic " + Data("\(Account.user):\(password)".utf8).base64EncodedString()
        }
        let fresh = "the-next-\(UUID().uuidString)"
        let accepted = Mutex([login(Account.password), login(fresh)])
        let origin = try RecordingOrigin.answering { request, connection in
            let isRight = accepted.withLock { $0.contains(request["Authorization"] ?? "") }
            let challenge = isRight ? [] : ["WWW-Authenticate: Basic realm=\"r\""]
            try connection.reply(isRight ? "200 OK" : "401 Unauthorized", challenge, isRight ? "ok" : "")
        }
        func count(_ password: String) -> Int { origin.messages.count { $0["Authorization"] == login(password) } }
        let front = try Self.front(of: origin)
        let url = "https://\(HTTP2Origin.host):\(front.port)/origin/"
        let rules =
            isStored
            ? "store sqlite \(Scratch.folder("store"))/credentials.db"
            : """
            credential web { user \(Account.user); password file @/password }
            challenge { host \(HTTP2Origin.host); secure yes; use web }
            """
        try AttacheProcess.visitingZoo(rules) { proxy throws in
            func replace(with password: String) throws {
                if isStored {
                    try proxy.set(password, for: url)
                } else {
                    try proxy.replace("password", with: password + "\n")
                }
            }
            try replace(with: Account.password)
            // The proxy hears of it a little later.
            let authority = "\(HTTP2Origin.host):\(front.port)"
            #expect(try Wait.until { try proxy.visit(authority, "/origin/", by: .upgraded).status == 200 })
            let load = try Load(url, through: proxy)
            #expect(Wait.until { count(Account.password) >= 50 })
            try replace(with: fresh)
            #expect(Wait.until { count(fresh) >= 50 }, "\(proxy.errorOutput)")
            accepted.withLock { $0 = [login(fresh)] }
            let before = count(fresh)
            #expect(Wait.until { count(fresh) >= before + 50 })
            try load.stop()
            #expect(load.finish() == "HTTP/2 200 ok\n")
            #expect(origin.messages.suffix(40).allSatisfy { $0["Authorization"] == login(fresh) })
            #expect(try proxy.metric("attache_http2_connections_total") == 1)
        }
    }

    @Test(.enabled(if: (try? Spawn.executable("node")) != nil))
    func `a renewed certificate is shown to new connections, and streams go on`() throws {
        let gate = Gate()
        defer { gate.open() }
        let origin = try RecordingOrigin.answering { request, connection in
            if request.target == "/slow" { gate.wait() }
            try connection.reply(body: "ok")
        }
        let script = """
            const http2 = require('http2'), fs = require('fs');
            const [port, place, end] = process.argv.slice(1);
            const session = http2.connect(`https://localhost:${port}`);
            session.on('error', error => { console.log(error.code); });
            session.on('goaway', code => { console.log(`goaway ${code}`); });
            const answers = new Set();
            const ask = path => new Promise(resolve => {
                const stream = session.request({ ':scheme': 'http', ':authority': place, ':path': path });
                let status = 0, text = '';
                stream.on('response', head => { status = head[':status']; });
                stream.on('data', piece => { text += piece; });
                stream.on('error', error => { text += error.code; });
                stream.on('close', () => { answers.add(`${status} ${text}`); resolve(); });
            });
            (async () => {
                const slow = [1, 2, 3, 4].map(() => ask('/slow'));
                while (!fs.existsSync(end)) await Promise.all([1, 2, 3, 4].map(() => ask('/')));
                await Promise.all(slow);
                console.log(...answers);
                session.close();
            })();
            """
        let files = try ["first", "renewed"].map { name in
            let identity = try Hierarchy.shared().issuing.issue(
                CertificateTerms(host: "localhost").with { $0.name = name })
            return ["proxy.pem": Scratch.read(try identity.chain()), "proxy.key": Scratch.read(identity.key)]
        }
        let port = FreePort.take()
        defer { FreePort.release(port) }
        let listener = "listen 127.0.0.1:\(port) tls certificate @/proxy.pem key @/proxy.key\n"
        try AttacheProcess.running(listener, setting: .init(threads: 1, files: files[0])) { proxy throws in
            let load = try Load(
                "node", ["-e", script, "\(port)", "127.0.0.1:\(origin.port)"],
                environment: ["NODE_EXTRA_CA_CERTS": try Hierarchy.shared().root.certificate])
            #expect(Wait.until { origin.messages.count { $0.target == "/slow" } == 4 && origin.messages.count > 50 })
            for (name, text) in files[1] { try proxy.replace(name, with: text) }
            proxy.signal(SIGHUP)
            let isRenewed = try Wait.until {
                try Finished.run("openssl", ["s_client", "-alpn", "h2", "-connect", "127.0.0.1:\(port)"]).output
                    .contains("renewed")
            }
            #expect(isRenewed, "\(proxy.errorOutput)")
            let before = origin.messages.count
            #expect(Wait.until { origin.messages.count >= before + 50 })
            try load.stop()
            gate.open()
            #expect(load.finish() == "200 ok\n")
        }
    }

    @Test func `a server that is trusted no longer gets no request, and streams that run end well`() throws {
        let gate = Gate()
        defer { gate.open() }
        let origin = try RecordingOrigin.answering { request, connection in
            if request.target == "/origin/slow" { gate.wait() }
            try connection.reply(body: "ok")
        }
        let front = try Self.front(of: origin)
        func rules(_ anchor: CertificateIssuer) -> String {
            """
            credential web { user \(Account.user); password file @/password }
            challenge { host \(HTTP2Origin.host); method server-trust; anchor \(anchor.certificate) only; trust }
            challenge { host \(HTTP2Origin.host); secure yes; method basic; preempt always; use web }

            """ + AttacheProcess.routesToZoo
        }
        let hierarchy = try Hierarchy.shared()
        try AttacheProcess.visitingZoo(rules(hierarchy.root)) { proxy throws in
            func reload(_ anchor: CertificateIssuer, _ number: Int) throws {
                try proxy.reload(rules(anchor))
                #expect(Wait.until { proxy.accessLog.components(separatedBy: "rules.reloaded").count > number })
            }
            let load = try Load("https://\(HTTP2Origin.host):\(front.port)/origin/slow", through: proxy)
            #expect(Wait.until { origin.messages.count == 9 })
            #expect(origin.messages.allSatisfy { $0["Authorization"] != nil })
            try load.stop()
            try reload(hierarchy.elsewhere, 1)
            for _ in 1...5 {
                let refused = try proxy.get(front.url("/origin/"))
                #expect(refused.status == 502 && refused.text.contains("is not trusted"), "\(refused)")
            }
            #expect(origin.messages.count == 9)
            gate.open()
            #expect(load.finish() == "HTTP/2 200 ok\n")
            #expect(try proxy.metric("attache_upstream_http2_connections_total") == 1)
            try reload(hierarchy.root, 2)
            #expect(try proxy.get(front.url("/origin/")).status == 200)
            #expect(try proxy.metric("attache_upstream_http2_connections_total") == 2)
        }
    }

    @Test func `a certificate for the server is replaced while requests run, and none fails`() throws {
        let origin = try RecordingOrigin.answering()
        let demand = try Demand.certificate { [$0.root] }.directives(Hierarchy.shared())
        let front = try HTTP2Origin(
            .nginx,
            directives: demand + """

                location /origin/ {
                    proxy_set_header X-Client $ssl_client_s_dn;
                    proxy_pass http://127.0.0.1:\(origin.port);
                }
                """)
        let rules = """
            credential device { certificate @/device.pem; key @/device.pem }
            challenge { host \(HTTP2Origin.host); method client-certificate; use device }
            """
        func both(_ certificate: Result<IssuedCertificate, any Error>) throws -> String {
            let identity = try certificate.get()
            return try Scratch.read(identity.chain()) + Scratch.read(identity.key)
        }
        func count(_ name: String) -> Int { origin.messages.count { $0["X-Client"]?.contains(name) == true } }
        let setting = AttacheProcess.Setting(threads: 1, files: ["device.pem": try both(ClientCertificate.good)])
        try AttacheProcess.visitingZoo(rules, setting: setting) { proxy throws in
            let load = try Load("https://\(HTTP2Origin.host):\(front.port)/origin/", through: proxy)
            #expect(Wait.until { count("client-good") >= 50 }, "\(proxy.errorOutput)")
            try proxy.replace("device.pem", with: both(ClientCertificate.renewed))
            #expect(Wait.until { count("client-renewed") >= 50 }, "\(proxy.errorOutput)")
            let before = count("client-good")
            let all = origin.messages.count
            #expect(Wait.until { origin.messages.count >= all + 50 })
            try load.stop()
            #expect(load.finish() == "HTTP/2 200 ok\n")
            #expect(count("client-good") == before)
            // Before the first answer has proved the certificate, requests at the same time have connections of their own.
            #expect(try (2...20).contains(proxy.metric("attache_upstream_http2_connections_total")))
        }
    }
}
