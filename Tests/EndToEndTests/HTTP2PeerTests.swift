import Foundation
import TestSupport
import Testing

/// Clients of other projects that the distribution does not have, or that need a program: by HTTP/2 to the proxy.
struct HTTP2PeerTests {
    private static let rules = """
        credential web { user \(Account.user); password file @/password }
        challenge { host \(ApacheServer.secureHost); secure yes; use web }
        route *.example.test { intercept; http2 yes }

        """

    /// Runs a proxy that intercepts tunnels to Apache and answers there, with a TLS listener.
    private func serving(
        _ body: (AttacheProcess, _ origin: String, _ authority: String, _ port: UInt16) throws -> Void
    ) throws {
        let origin = "https://\(ApacheServer.secureHost):\(try ApacheServer.shared().securePorts.three)"
        let port = FreePort.take()
        defer { FreePort.release(port) }
        let identity = try Hierarchy.shared().issuing.issue(CertificateTerms(host: "localhost"))
        let files = [
            "proxy.pem": Scratch.read(try identity.chain()), "proxy.key": Scratch.read(identity.key),
            "password": Account.password,
        ]
        let line = "listen 127.0.0.1:\(port) tls certificate @/proxy.pem key @/proxy.key http2 yes\n"
        try AttacheProcess.visitingZoo(line + Self.rules, setting: .init(threads: 1, files: files)) { proxy throws in
            try body(proxy, origin, proxy.exportedAuthority(), port)
        }
    }

    private static func isInstalled(_ name: String) -> Bool { (try? Spawn.executable(name)) != nil }

    @Test(arguments: ["basic", "digest"])
    func `httpx in an intercepted tunnel`(name: String) throws {
        try serving { proxy, origin, authority, _ throws in
            let script = """
                import asyncio, httpx, ssl, sys
                proxy, authority, url = sys.argv[1:]
                async def main():
                    context = ssl.create_default_context(cafile=authority)
                    async with httpx.AsyncClient(http2=True, proxy=proxy, verify=context, timeout=60) as client:
                        answers = await asyncio.gather(*[client.get(f'{url}?{n}') for n in range(20)])
                        upload = await client.post(url, content=b'x' * 200000)
                    print({(a.http_version, a.status_code, a.text) for a in answers}, upload.http_version, upload.status_code)
                asyncio.run(main())
                """
            let run = try Finished.run(
                "python3", ["-c", script, proxy.address, authority, "\(origin)/\(name)/"],
                environment: PythonPackages.http2Environment(), seconds: 120)
            #expect(run.output == "{('HTTP/2', 200, 'this is \(name)\\n')} HTTP/2 200\n", "\(run)")
        }
    }

    /// libcurl 8, which speaks HTTP/2 to the proxy itself: its tunnels are streams of one connection.
    @Test func `libcurl 8 opens tunnels by HTTP/2`() throws {
        try serving { proxy, origin, authority, port throws in
            let script = """
                import pycurl, sys
                from io import BytesIO
                port, authority, root, *urls = sys.argv[1:]
                multi, handles = pycurl.CurlMulti(), []
                for url in urls:
                    text, handle = BytesIO(), pycurl.Curl()
                    # 3 is CURLPROXY_HTTPS2.
                    for option, value in [(pycurl.URL, url), (pycurl.PROXY, f'https://localhost:{port}'),
                            (pycurl.PROXYTYPE, 3), (pycurl.PROXY_CAINFO, root),
                            (pycurl.CAINFO, authority), (pycurl.WRITEDATA, text), (pycurl.TIMEOUT, 60)]:
                        handle.setopt(option, value)
                    handles.append((handle, text))
                    multi.add_handle(handle)
                running = 1
                while running:
                    _, running = multi.perform()
                    multi.select(1)
                print([(handle.getinfo(pycurl.RESPONSE_CODE), text.getvalue().decode()) for handle, text in handles])
                """
            let urls = (0..<5).map { "\(origin)/basic/?\($0)" }
            let run = try Finished.run(
                "python3", ["-c", script, "\(port)", authority, Hierarchy.shared().root.certificate] + urls,
                environment: PythonPackages.http2Environment(), seconds: 120)
            let one = "(200, 'this is basic\\n')"
            #expect(run.output == "[\([String](repeating: one, count: 5).joined(separator: ", "))]\n", "\(run)")
            #expect(try proxy.metric("attache_http2_streams_total") == 5)
        }
    }

    @Test(.enabled(if: isInstalled("keytool") && isInstalled("javac")))
    func `Java's HttpClient in an intercepted tunnel`() throws {
        try serving { proxy, origin, authority, _ throws in
            let source = """
                import java.net.*;
                import java.net.http.*;
                public class Fetch {
                    public static void main(String[] words) throws Exception {
                        HttpClient client = HttpClient.newBuilder().version(HttpClient.Version.HTTP_2)
                            .proxy(ProxySelector.of(new InetSocketAddress("127.0.0.1", Integer.parseInt(words[0])))).build();
                        for (int i = 1; i < words.length; i++) {
                            var answer = client.send(HttpRequest.newBuilder(URI.create(words[i])).build(),
                                HttpResponse.BodyHandlers.ofString());
                            System.out.print(answer.version() + " " + answer.statusCode() + " " + answer.body());
                        }
                    }
                }
                """
            let program = try JavaProgram(source, trusting: authority)
            let urls = ["basic", "digest", "basic"].map { "\(origin)/\($0)/" }
            let run = try program.run(["\(proxy.port)"] + urls)
            let expected = ["basic", "digest", "basic"].map { "HTTP_2 200 this is \($0)\n" }.joined()
            #expect(run.output == expected, "\(run)")
        }
    }

    /// RFC 8441: a WebSocket on a stream, at a server of HTTP/1.1.
    @Test(.enabled(if: isInstalled("node")))
    func `Node opens a WebSocket on a stream`() throws {
        try serving { proxy, _, _, port throws in
            let script = """
                const http = require('http'), http2 = require('http2'), crypto = require('crypto');
                const magic = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11';
                const server = http.createServer((request, response) => { response.statusCode = 403; response.end('no'); });
                server.on('upgrade', (request, socket) => {
                    const key = request.headers['sec-websocket-key'];
                    const right = crypto.createHash('sha1').update(key + magic).digest('base64');
                    const accept = request.url === '/wrong' ? 'wrong' : right;
                    if (request.url === '/refused') return socket.end('HTTP/1.1 403 Forbidden\\r\\nContent-Length: 2\\r\\n\\r\\nno');
                    if (request.url === '/odd') return socket.end('HTTP/1.1 200 OK\\r\\nContent-Length: 2\\r\\n\\r\\nno');
                    socket.write('HTTP/1.1 101 Switching Protocols\\r\\nUpgrade: websocket\\r\\nConnection: Upgrade\\r\\n'
                        + `Sec-WebSocket-Accept: ${accept}\\r\\nSec-WebSocket-Protocol: chat\\r\\n\\r\\n`);
                    socket.pipe(socket);
                });
                server.listen(0, '127.0.0.1', () => {
                    const session = http2.connect('https://localhost:\(port)');
                    const ask = (path, protocol) => new Promise(resolve => {
                        const stream = session.request({ ':method': 'CONNECT', ':protocol': protocol, ':scheme': 'http',
                            ':path': path, ':authority': `localhost:${server.address().port}`, 'sec-websocket-version': '13',
                            'sec-websocket-key': 'ours', 'sec-websocket-protocol': 'chat' });
                        let head = {}, text = '';
                        stream.on('response', fields => {
                            head = fields;
                            if (fields[':status'] === 200) stream.write('hello');
                        });
                        stream.on('data', piece => { text += piece; if (text === 'hello') stream.end(); });
                        stream.on('error', () => {});
                        stream.on('close', () => resolve([head[':status'], head['sec-websocket-accept'],
                            head['sec-websocket-protocol'], text.trim(), stream.rstCode].join(' ')));
                    });
                    session.once('remoteSettings', async settings => {
                        console.log(settings.enableConnectProtocol);
                        for (const path of ['/chat', '/refused', '/wrong', '/odd']) console.log(await ask(path, 'websocket'));
                        console.log(await ask('/chat', 'webtransport'));
                        session.close();
                        server.close();
                        process.exit(0);
                    });
                });
                """
            let run = try Finished.run(
                "node", ["-e", script],
                environment: ["NODE_EXTRA_CA_CERTS": Hierarchy.shared().root.certificate], seconds: 90)
            let lines = run.output.split(separator: "\n").map(String.init)
            #expect(lines.first == "true", "\(run)")
            #expect(lines.dropFirst().first == "200  chat hello 0", "\(run)")
            #expect(lines.dropFirst(2).first?.hasPrefix("403   no") == true, "\(run)")
            // The server's answer does not prove that it speaks the protocol.
            #expect(lines.dropFirst(3).prefix(2).allSatisfy { $0.hasPrefix("    ") && $0.hasSuffix(" 10") }, "\(run)")
            #expect(lines.last?.hasPrefix("501 ") == true, "\(run)")
            #expect(Wait.until { proxy.accessLog.contains(#""status":101"#) }, "\(proxy.accessLog)")
        }
    }
}
