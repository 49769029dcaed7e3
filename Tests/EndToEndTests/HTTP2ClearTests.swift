import Foundation
import TestSupport
import Testing

/// Clients of other projects that speak HTTP/2 without TLS to a listener with `h2c`.
struct HTTP2ClearTests {
    /// Runs a proxy with a listener that takes HTTP/2 without TLS, beside the one that does not.
    private func serving(
        _ rules: String = "", clients: String? = nil, listener: String = "h2c", threads: Int = 1,
        _ body: (AttacheProcess, _ port: UInt16) throws -> Void
    ) throws {
        let port = FreePort.take()
        defer { FreePort.release(port) }
        var setting = AttacheProcess.Setting(threads: threads)
        setting.files["users"] = try UsersLines.of("alice", "carol")
        if let clients { setting.clients = clients }
        try AttacheProcess.running("listen 127.0.0.1:\(port) \(listener)\n\(rules)", setting: setting) { proxy throws in
            try body(proxy, port)
        }
    }

    private static func isInstalled(_ name: String) -> Bool { (try? Spawn.executable(name)) != nil }

    /// The frames of a request in absolute form.
    private static func head(of origin: RecordingOrigin, _ path: String = "/") -> FieldList {
        [(":method", "GET"), (":scheme", "http"), (":authority", "127.0.0.1:\(origin.port)"), (":path", path)]
    }

    @Test(.enabled(if: isInstalled("nghttp")))
    func `nghttp asks by prior knowledge, and log and Via show the version`() throws {
        let origin = try RecordingOrigin.answering()
        try serving { proxy, port throws in
            let run = try Finished.run(
                "nghttp", ["-m", "5", "-H", ":authority: localhost:\(origin.port)", "http://127.0.0.1:\(port)/x"])
            #expect(run.output == String(repeating: "ok", count: 5), "\(run)")
            #expect(origin.messages.allSatisfy { $0["Via"]?.hasPrefix("2 ") == true }, "\(origin.messages)")
            let lines = { proxy.accessLogLines.count { $0.contains(#""http":"2""#) } }
            #expect(Wait.until { lines() == 5 }, "\(proxy.accessLog)")
            #expect(try proxy.metric("attache_http2_streams_total") == 5)
        }
    }

    @Test(.enabled(if: isInstalled("h2load")))
    func `h2load at a listener in clear`() throws {
        let origin = try RecordingOrigin.answering()
        try serving { proxy, port throws in
            let run = try Finished.run(
                "h2load",
                [
                    "-p", "h2c", "-c", "4", "-m", "32", "-n", "4000", "--connect-to=127.0.0.1:\(port)",
                    "http://localhost:\(origin.port)/",
                ], seconds: 120)
            #expect(run.output.contains("4000 succeeded, 0 failed, 0 errored, 0 timeout"), "\(run)")
            #expect(try proxy.metric("attache_http2_floods_total") == 0)
            #expect(try proxy.metric("attache_http2_streams_total") == 4000)
        }
    }

    @Test(.enabled(if: isInstalled("node")))
    func `Node logs in on each stream, and opens tunnels`() throws {
        let origin = try RecordingOrigin.answering()
        let clients = "allow 127.0.0.0/8; authenticate basic; users file @/users"
        try serving(clients: clients) { proxy, port throws in
            let login = Data("alice:\(Account.clientPassword)".utf8).base64EncodedString()
            let script = """
                const http2 = require('http2');
                const session = http2.connect('http://127.0.0.1:\(port)');
                const ask = (more, body) => new Promise(resolve => {
                    const stream = session.request({ ':authority': 'localhost:\(origin.port)', ...more },
                        { endStream: body === undefined });
                    let head = {}, text = '';
                    stream.on('response', fields => {
                        head = fields;
                        if (fields[':status'] === 200 && body !== undefined) stream.end(body);
                    });
                    stream.on('error', () => {});
                    stream.on('data', piece => { text += piece; });
                    stream.on('close', () => resolve(head[':status'] + text.split('\\r\\n').pop()));
                });
                const login = { 'proxy-authorization': 'Basic \(login)' };
                const tunnel = { ':method': 'CONNECT', ...login };
                const request = 'GET / HTTP/1.1\\r\\nHost: a\\r\\nConnection: close\\r\\n\\r\\n';
                (async () => {
                    console.log((await ask({})).slice(0, 3), ...await Promise.all([ask(login), ask(login)]));
                    console.log(...await Promise.all([ask(tunnel, request), ask(tunnel, request)]));
                    session.close();
                })();
                """
            let run = try Finished.run("node", ["-e", script], seconds: 90)
            #expect(run.output == "407 200ok 200ok\n200ok 200ok\n", "\(run)")
            #expect(origin.messages.allSatisfy { $0["Proxy-Authorization"] == nil })
            #expect(try proxy.metric("attache_http2_streams_total") == 5)
        }
    }

    /// A session serves one stream after the other, and nothing of one request is left for the next.
    @Test(.enabled(if: isInstalled("node")))
    func `each stream is the request of its own user`() throws {
        let origin = try RecordingOrigin.answering()
        let clients = "allow 127.0.0.0/8; authenticate basic; users file @/users"
        try serving(clients: clients) { proxy, port throws in
            let logins = ["alice", "carol"].map { user in
                Data("\(user):\(Account.clientPassword)".utf8).base64EncodedString()
            }
            let script = """
                const http2 = require('http2');
                const session = http2.connect('http://127.0.0.1:\(port)');
                const ask = login => new Promise(resolve => {
                    const more = login ? { 'proxy-authorization': 'Basic ' + login } : {};
                    const stream = session.request({ ':authority': 'localhost:\(origin.port)', ...more });
                    stream.on('response', fields => { stream.resume(); stream.on('close', () => resolve(fields[':status'])); });
                });
                (async () => {
                    for (const login of process.argv.slice(1)) console.log(await ask(login));
                    session.close();
                })();
                """
            let run = try Finished.run("node", ["-e", script, logins[0], "", logins[1], "", logins[0]], seconds: 90)
            #expect(run.output == "200\n407\n200\n407\n200\n", "\(run)")
            let users = { proxy.accessLogLines.map { line in ["alice", "carol"].first { line.contains($0) } } }
            #expect(Wait.until { users() == ["alice", nil, "carol", nil, "alice"] }, "\(proxy.accessLog)")
        }
    }

    /// The state machine of hyper-h2. The preface comes byte by byte.
    @Test func `the h2 of Python begins slowly`() throws {
        let origin = try RecordingOrigin.answering()
        try serving { _, port throws in
            let script = """
                import h2.connection, h2.events, socket, sys
                proxy, authority = int(sys.argv[1]), sys.argv[2]
                wire = socket.create_connection(('127.0.0.1', proxy))
                wire.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                peer = h2.connection.H2Connection()
                peer.initiate_connection()
                peer.send_headers(1, [(':method', 'GET'), (':scheme', 'http'), (':authority', authority), (':path', '/')], True)
                for byte in peer.data_to_send():
                    wire.send(bytes([byte]))
                text, status, ended = b'', None, False
                while not ended:
                    for event in peer.receive_data(wire.recv(65536)):
                        if isinstance(event, h2.events.ResponseReceived): status = dict(event.headers)[b':status']
                        if isinstance(event, h2.events.DataReceived): text += event.data
                        if isinstance(event, (h2.events.StreamEnded, h2.events.ConnectionTerminated)): ended = True
                print(status.decode(), text.decode())
                """
            let run = try Finished.run(
                "python3", ["-c", script, "\(port)", "127.0.0.1:\(origin.port)"],
                environment: PythonPackages.http2Environment(), seconds: 120)
            #expect(run.output == "200 ok\n", "\(run)")
        }
    }

    @Test(arguments: ["h2c", "h2c socks", "socks h2c as \"tools\""])
    func `clients of HTTP 1.1 are served as before`(listener: String) throws {
        let origin = try RecordingOrigin.answering()
        try serving(listener: listener) { proxy, port throws in
            // The method begins like the preface, and Upgrade is dropped.
            let wire = try Wire(to: port)
            for method in ["PROPFIND", "GET", "P", "PRI"] {
                try wire.send(
                    "\(method) http://127.0.0.1:\(origin.port)/ HTTP/1.1\r\nHost: a\r\n"
                        + "Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABk\r\n\r\n")
                #expect(try wire.readResponse().status == 200)
            }
            #expect(origin.messages.count == 4 && origin.messages.allSatisfy { $0["Upgrade"] == nil })
            // Behind a request, the preface is a request.
            try wire.send(Frame.preface)
            #expect(try wire.readResponse().status == 505)
            #expect(try proxy.metric("attache_http2_streams_total") == 0)
            let client = try FrameClient(to: port)
            try client.send(Frame.headers(1, Self.head(of: origin)))
            #expect(try client.answer(on: 1) == .response(status: 200, text: "ok"))
        }
    }

    @Test func `a listener without the word refuses the preface`() throws {
        try AttacheProcess.running { proxy throws in
            let wire = try Wire(to: proxy.port)
            try wire.send(Frame.preface + Frame.bytes(4, 0, 0, []))
            let response = try wire.readResponse()
            #expect(response.status == 505)
            #expect(response.text.contains("add 'h2c' to its 'listen'"), "\(response)")
            #expect(try wire.isEnded())
            #expect(Wait.until { proxy.accessLog.contains("add 'h2c' to its 'listen'") }, "\(proxy.accessLog)")
        }
    }

    @Test func `what follows the preface's first line must be the preface`() throws {
        try serving { _, port throws in
            let wire = try Wire(to: port)
            try wire.send("PRI * HTTP/2.0\r\n\r\nXX\r\n\r\n")
            // SETTINGS, and GOAWAY with PROTOCOL_ERROR.
            let bytes = try wire.readToEnd()
            #expect(bytes.count > 9 && bytes[3] == 4 && Array(bytes.suffix(4)) == [0, 0, 0, 1])
        }
    }

    /// The end of a client's connection in order.
    enum End: CaseIterable {
        /// The proxy is stopped.
        case stop
        /// The client sends GOAWAY.
        case goodbye

        func begin(_ client: FrameClient, at proxy: AttacheProcess) throws {
            switch self {
            case .stop: proxy.signal(SIGTERM)
            case .goodbye: try client.send(Frame.bytes(7, 0, 0, Frame.number(0) + Frame.number(0)))
            }
        }
    }

    @Test(arguments: End.allCases)
    func `a response that waits for the client's window is whole when the connection ends`(end: End) throws {
        let text = String(repeating: "content ", count: 2500)
        let origin = try RecordingOrigin.answering { _, connection in try connection.reply(body: text) }
        try serving { proxy, port throws in
            let client = try FrameClient(to: port, settings: [(4, 1000)])
            try client.send(Frame.headers(1, Self.head(of: origin)))
            while client.text(of: 1).count < 1000 { #expect(try client.next() != nil) }
            try end.begin(client, at: proxy)
            if end == .stop { while client.frames.last?.type != 7 { #expect(try client.next() != nil) } }
            try client.send(Frame.grant(1, 100_000))
            #expect(try client.answer(on: 1) == .response(status: 200, text: text))
            #expect(try client.readToEnd() == 0)
        }
    }

    @Test(arguments: End.allCases)
    func `a client that makes room after the end of its connection gets all of its response`(end: End) throws {
        let text = String(repeating: "content ", count: 50_000)
        let origin = try RecordingOrigin.answering { _, connection in try connection.reply(body: text) }
        try serving { proxy, port throws in
            let client = try FrameClient(to: port, settings: [(4, 1 << 20)])
            client.holdLittle()
            try client.send(Frame.grant(0, 1 << 20) + Frame.headers(1, Self.head(of: origin)))
            // The proxy has handed all of it to the system.
            #expect(Wait.until { proxy.accessLogLines.count == 1 })
            try end.begin(client, at: proxy)
            while client.text(of: 1).count < text.utf8.count {
                guard let frame = try client.next() else { break }
                if frame.type == 0 { try? client.send(Frame.grant(0, UInt32(max(1, frame.payload.count)))) }
            }
            #expect(client.text(of: 1) == text)
            #expect(try client.answer(on: 1).status == 200)
        }
    }

    @Test func `streams in progress end before the proxy does`() throws {
        let gate = Gate()
        let origin = try RecordingOrigin.answering { _, connection in
            gate.wait()
            try connection.reply(body: "late")
        }
        try serving { proxy, port throws in
            let (client, idle) = (try FrameClient(to: port), try FrameClient(to: port))
            try client.send(Frame.headers(1, Self.head(of: origin)))
            #expect(Wait.until { origin.messages.count == 1 })
            proxy.signal(SIGTERM)
            #expect(try idle.readToEnd() == 0)
            gate.open()
            #expect(try client.answer(on: 1) == .response(status: 200, text: "late"))
            #expect(try client.readToEnd() == 0)
        }
    }
}
