import Foundation
import TestSupport
import Testing

/// Servers of other projects that are asked by HTTP/2.
struct HTTP2OriginTests {
    private static let account = "credential web { user \(Account.user); password file @/password }\n"
    private static let digest = account + "challenge { host \(HTTP2Origin.host); use web }\n"

    /// The HTTP/2 connections that the proxy has made.
    private func connections(of proxy: AttacheProcess) throws -> Int {
        try proxy.metric("attache_upstream_http2_connections_total")
    }

    private func streams(of proxy: AttacheProcess) throws -> Int {
        try proxy.metric("attache_upstream_http2_streams_total")
    }

    /// The lines of requests that went to the server by HTTP/2.
    private func lines(of proxy: AttacheProcess) -> Int {
        proxy.accessLogLines.count { $0.contains(#""upstream_http":"2""#) }
    }

    @Test(arguments: HTTP2Origin.Kind.allCases.filter(\.isInstalled))
    func `a thousand requests of 64 clients share a connection`(kind: HTTP2Origin.Kind) throws {
        let origin = try HTTP2Origin(kind)
        try AttacheProcess.visitingZoo { proxy throws in
            let first = try proxy.get(origin.url())
            #expect(first.status == 200 && first.text == "this is h2\n", "\(first)\n\(origin.errorOutput)")
            #expect(first["Via"]?.contains("2 attache-") == true, "\(first)")
            // HTTP/2 has no reason phrase, but clients of HTTP/1.1 may want one.
            #expect(first.heads.contains("HTTP/1.1 200 OK\r\n"), "\(first)")
            let options = ["--parallel-max", "64"]
            let statuses = try Parallel(1000, origin.url(), through: proxy, options: options).statuses()
            #expect(statuses.count == 1000 && statuses.allSatisfy { $0 == 200 }, "\(Set(statuses))")
            // lighttpd ends a connection after 100 requests.
            #expect(try connections(of: proxy) <= (kind == .lighttpd ? 40 : 3))
            #expect(try streams(of: proxy) >= 1001)
            #expect(Wait.until { lines(of: proxy) == 1001 })
        }
    }

    @Test func `a server that ends each connection after two requests loses none`() throws {
        let origin = try HTTP2Origin(.nginx, directives: "keepalive_requests 2;")
        try AttacheProcess.visitingZoo { proxy throws in
            #expect(try proxy.get(origin.url()).status == 200)
            let statuses = try Parallel(200, origin.url(), through: proxy, options: ["--parallel-max", "60"])
                .statuses()
            #expect(statuses.count == 200 && statuses.allSatisfy { $0 == 200 }, "\(statuses)")
            #expect(try connections(of: proxy) >= 100)
        }
    }

    /// Servers end a connection on which many streams were cancelled, and with it the requests of other clients.
    @Test func `after many cancelled downloads a server gets another connection`() throws {
        let origin = try HTTP2Origin(.nginx)
        try AttacheProcess.visitingZoo { proxy throws in
            for _ in 0..<600 {
                let client = try Wire(to: proxy.port)
                try client.send("GET \(origin.url("/huge")) HTTP/1.1\r\nHost: \(HTTP2Origin.host)\r\n\r\n")
                #expect(String(decoding: try client.read(12), as: UTF8.self) == "HTTP/1.1 200")
                client.close()
            }
            #expect(try proxy.get(origin.url()).status == 200)
            #expect((2...4).contains(try connections(of: proxy)))
        }
    }

    @Test(arguments: HTTP2Origin.Kind.allCases.filter { $0.isInstalled && $0 != .nghttpd })
    func `a route may say that servers are asked by HTTP 1.1`(kind: HTTP2Origin.Kind) throws {
        let origin = try HTTP2Origin(kind)
        for (word, expected) in [("no", false), ("clients", false), ("origins", true), ("yes", true)] {
            let route = "route \(HTTP2Origin.host) { upgrade; intercept; http2 \(word) }\n"
            try AttacheProcess.visitingZoo(route) { proxy throws in
                let fetched = try proxy.get(origin.url())
                #expect(fetched.text == "this is h2\n", "\(fetched)")
                #expect(try connections(of: proxy) == (expected ? 1 : 0), "\(word)")
            }
        }
    }

    @Test(.enabled(if: HTTP2Origin.Kind.nghttpd.isInstalled))
    func `Via says that a server without TLS has answered by HTTP 2`() throws {
        let (folder, port) = (Scratch.folder("h2-clear"), FreePort.take())
        try Scratch.write("this is clear\n", to: folder + "/any")
        let server = try Subprocess("nghttpd", ["--no-tls", "-a", "127.0.0.1", "-d", folder, "\(port)"])
        try Socket.awaitListener(on: port, of: server)
        try AttacheProcess.running("route 127.0.0.1 { intercept }") { proxy throws in
            let fetched = try proxy.get("http://127.0.0.1:\(port)/any", "-p", "--http2-prior-knowledge")
            #expect(fetched.text == "this is clear\n", "\(fetched)")
            #expect(fetched["via"]?.contains("2 attache-") == true, "\(fetched)")
        }
    }

    /// Starts a server of Node that speaks HTTP/2 without TLS and nothing else. It wants a login, and sends content back.
    private static func withClearNode(_ body: (UInt16) throws -> Void) throws {
        let port = FreePort.take()
        defer { FreePort.release(port) }
        let script = """
            require('http2').createServer().on('stream', (stream, head) => {
                if (!(head.authorization || '').startsWith('Basic ')) {
                    stream.respond({ ':status': 401, 'www-authenticate': 'Basic realm="r"' }, { endStream: true });
                    return;
                }
                let text = '';
                stream.on('data', piece => { text += piece; });
                stream.on('end', () => {
                    stream.respond({ ':status': 200 });
                    stream.end(head[':method'] + text);
                });
            }).listen(\(port), '127.0.0.1');
            """
        let server = try Subprocess("node", ["-e", script])
        try Socket.awaitListener(on: port, of: server)
        try body(port)
    }

    /// The lines of the log for requests that came by HTTP/1.1 and went to the server by HTTP/2.
    private func changed(in proxy: AttacheProcess) -> Int {
        proxy.accessLogLines.count { $0.contains(#""upstream_http":"2""#) && !$0.contains(#""http":"2""#) }
    }

    private static let known = """
        credential web { user \(Account.user); password file @/password }
        challenge { host 127.0.0.1; secure no; use web }

        """

    @Test(.enabled(if: HTTP2Origin.Kind.node.isInstalled))
    func `a client of HTTP 1_1 uses a server that speaks HTTP 2 without TLS and nothing else`() throws {
        try Self.withClearNode { port throws in
            let url = "http://127.0.0.1:\(port)/"
            try AttacheProcess.visitingZoo(Self.known + "route 127.0.0.1:\(port) { http2 prior-knowledge }\n") {
                proxy throws in
                #expect(try proxy.get(url).text == "GET", "\(proxy.accessLog)")
                let fetched = try proxy.get(url, "-d", "content")
                #expect(fetched.text == "POSTcontent" && fetched["via"]?.contains("2 attache-") == true, "\(fetched)")
                let statuses = try Parallel.fetch(50, url, through: proxy)
                #expect(statuses.count == 50 && statuses.allSatisfy { $0 == 200 }, "\(statuses)")
                #expect(try connections(of: proxy) == 1)
                #expect(Wait.until { changed(in: proxy) == 52 }, "\(proxy.accessLog)")
            }
        }
    }

    /// No handshake has to say that the server speaks HTTP/2, so the first requests, too, wait for one connection of their
    /// loop. It takes a while to be made, since the parent is slow. If it cannot be made in time, they do not wait again.
    @Test(
        .enabled(if: HTTP2Origin.Kind.node.isInstalled && HTTP2Origin.Kind.nghttpd.isInstalled), arguments: [200, 504])
    func `the first requests at once share a connection with a server that has no TLS`(status: Int) throws {
        let (folder, port, parent) = (Scratch.folder("h2-burst"), FreePort.take(), FreePort.take())
        defer { for port in [port, parent] { FreePort.release(port) } }
        try Scratch.write("this is clear\n", to: folder + "/any")
        let script = """
            require('http').createServer().on('connect', (request, client) => setTimeout(() => {
                console.log('asked for a tunnel');
                const server = require('net').connect(\(port), '127.0.0.1', () => {
                    client.write('HTTP/1.1 200 OK\\r\\n\\r\\n');
                    server.pipe(client);
                    client.pipe(server);
                });
                server.on('error', () => client.end('HTTP/1.1 504 Late\\r\\n\\r\\n'));
            }, 500)).listen(\(parent), '127.0.0.1');
            """
        let tunnels = try Subprocess("node", ["-e", script])
        try Socket.awaitListener(on: parent, of: tunnels)
        let server =
            try status == 200 ? Subprocess("nghttpd", ["--no-tls", "-a", "127.0.0.1", "-d", folder, "\(port)"]) : nil
        if let server { try Socket.awaitListener(on: port, of: server) }
        let rules =
            "parent up { http 127.0.0.1:\(parent) }\nroute 127.0.0.1:\(port) { http2 prior-knowledge; via up }\n"
        try AttacheProcess.visitingZoo(rules) { proxy throws in
            let clients = try (0..<60).map { _ in try Wire(to: proxy.port) }
            let authority = "127.0.0.1:\(port)"
            for client in clients {
                try client.send("GET http://\(authority)/any HTTP/1.1\r\nHost: \(authority)\r\n\r\n")
            }
            for client in clients { #expect(try client.readResponse().status == status, "\(proxy.accessLog)") }
            let asked = tunnels.output.split(separator: "\n").count
            // One for each loop, and some more where the machine is so slow that requests come behind the first answer.
            #expect(asked > 0 && asked < 20, "\(asked)")
        }
    }

    /// The parent may not know that the server speaks HTTP/2, so it is asked for a tunnel.
    @Test(.enabled(if: HTTP2Origin.Kind.node.isInstalled))
    func `a server that speaks HTTP 2 without TLS is reached in a tunnel of a parent`() throws {
        try Self.withClearNode { port throws in
            try AttacheProcess.running { parent throws in
                let rules =
                    Self.known + "parent up { http 127.0.0.1:\(parent.port) }\n"
                    + "route 127.0.0.1:\(port) { http2 prior-knowledge; via up }\n"
                try AttacheProcess.visitingZoo(rules) { proxy throws in
                    let statuses = try Parallel.fetch(20, "http://127.0.0.1:\(port)/", through: proxy)
                    #expect(statuses.count == 20 && statuses.allSatisfy { $0 == 200 }, "\(statuses)")
                    #expect(Wait.until { changed(in: proxy) == 20 }, "\(proxy.accessLog)")
                    #expect(try connections(of: proxy) == 1)
                }
            }
        }
    }

    /// A server that speaks only HTTP/2 must understand the try, too.
    @Test(.enabled(if: HTTP2Origin.Kind.node.isInstalled))
    func `a credential that was refused is tried again by HTTP 2`() throws {
        let (port, mark) = (FreePort.take(), Scratch.folder("h2-refusal") + "/mark")
        defer { FreePort.release(port) }
        let script = """
            require('http2').createServer().on('stream', (stream, head) => {
                const isGood = head.authorization && !require('fs').existsSync('\(mark)');
                stream.respond({ ':status': isGood ? 200 : 401, 'www-authenticate': 'Basic realm="r"' }, { endStream: true });
            }).listen(\(port), '127.0.0.1');
            """
        let server = try Subprocess("node", ["-e", script])
        try Socket.awaitListener(on: port, of: server)
        let rules = Self.known.replacing("use web", with: "use web; retry 1s")
        try AttacheProcess.visitingZoo(rules + "route 127.0.0.1:\(port) { http2 prior-knowledge }\n") { proxy throws in
            let status = { try proxy.get("http://127.0.0.1:\(port)/").status }
            #expect(try Wait.until { try status() == 200 })
            try Scratch.write("", to: mark)
            #expect(try Wait.until { try status() == 401 })
            unlink(mark)
            #expect(try Wait.until { try status() == 200 })
        }
    }

    @Test func `a server of HTTP 1_1 behind a route with prior-knowledge gives a 502, but for an upgrade`() throws {
        let port = FreePort.take()
        defer { FreePort.release(port) }
        let server = try Subprocess("python3", ["-m", "http.server", "--bind", "127.0.0.1", "\(port)"])
        try Socket.awaitListener(on: port, of: server)
        let origin = try RecordingOrigin.answering()
        try AttacheProcess.running("route 127.0.0.1 { http2 prior-knowledge }") { proxy throws in
            let fetched = try proxy.get("http://127.0.0.1:\(port)/")
            #expect(fetched.status == 502, "\(fetched)")
            #expect(fetched.text.contains("the server does not speak HTTP/2; if its route says"), "\(fetched)")
            let upgraded = try proxy.get(
                origin.url(), "-H", "Connection: Upgrade", "-H", "Upgrade: websocket",
                "-H", "Sec-WebSocket-Version: 13", "-H", "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==")
            #expect(upgraded.status == 200 && origin.messages.count == 1, "\(upgraded)")
        }
    }

    @Test func `Digest is answered on streams of one connection`() throws {
        let origin = try HTTP2Origin(.apache)
        try AttacheProcess.visitingZoo(Self.digest) { proxy throws in
            #expect(try proxy.get(origin.url("/digest/any")).text == "this is digest\n")
            let statuses = try Parallel.fetch(50, origin.url("/digest/any"), through: proxy)
            #expect(statuses.count == 50 && statuses.allSatisfy { $0 == 200 }, "\(statuses)")
            #expect(try connections(of: proxy) <= 2)
        }
    }

    /// NTLM belongs to a connection: after the challenge the proxy logs in by HTTP/1.1.
    @Test(arguments: [false, true])
    func `NTLM goes by HTTP 1.1`(isNamed: Bool) throws {
        let origin = try HTTP2Origin(.apache)
        let rules = """
            credential corp { user "NTDOM\\\\alice"; password file @/password }
            challenge { host \(HTTP2Origin.host); \(isNamed ? "method ntlm; " : "")use corp }

            """
        let setting = AttacheProcess.Setting(
            threads: 1, files: ["password": (Account.ntlmPasswords["alice"] ?? "") + "\n"])
        try AttacheProcess.visitingZoo(rules, setting: setting) { proxy throws in
            let mark = ApacheServer.mark()
            for _ in 1...3 {
                let fetched = try proxy.get(origin.url("/ntlm/any?\(mark)"))
                #expect(fetched.text == "this is ntlm\n", "\(fetched) \(proxy.errorOutput)")
            }
            let entries = origin.entries(marked: mark, atLeast: 5)
            #expect(entries.count { $0.hasSuffix("HTTP/2.0") } == (isNamed ? 0 : 1), "\(entries)")
            #expect(entries.count { $0.hasSuffix("200 HTTP/1.1") } == 3, "\(entries)")
            #expect(try connections(of: proxy) == (isNamed ? 0 : 1))
        }
    }

    /// Apache speaks HTTP/2, and accepts a login by NTLM by HTTP/1.1 alone: the proxy's own try, too, must go down to it.
    @Test func `a refused login by NTLM is tried again`() throws {
        let origin = try HTTP2Origin(.apache)
        let (users, rules) = (
            origin.folder + "/users",
            """
            credential corp { user "NTDOM\\\\alice"; password file @/password }
            challenge { host \(HTTP2Origin.host); retry 1s; use corp }

            """
        )
        let accepted = Scratch.read(users)
        let setting = AttacheProcess.Setting(files: ["password": (Account.ntlmPasswords["alice"] ?? "") + "\n"])
        try AttacheProcess.visitingZoo(rules, setting: setting) { proxy throws in
            let status = { try proxy.get(origin.url("/ntlm/any")).status }
            #expect(try Wait.until { try status() == 200 })
            try Scratch.write("\(Account.domain):alice:another\n", to: users)
            let tries = { (outcome: String) in
                try proxy.metric("attache_credential_probes_total{outcome=\"\(outcome)\"}")
            }
            #expect(try Wait.until { try status() == 401 && tries("refused") > 0 })
            try Scratch.write(accepted, to: users)
            #expect(try Wait.until { try tries("accepted") > 0 }, "\(proxy.accessLog) \(proxy.errorOutput)")
            #expect(try status() == 200)
        }
    }

    /// Apache resets such a stream with HTTP_1_1_REQUIRED.
    @Test func `a certificate that a folder wants is shown by HTTP 1.1`() throws {
        let origin = try HTTP2Origin(.apache)
        let identity = try ClientCertificate.good.get()
        let rules = """
            credential device { certificate \(try identity.chain()); key \(identity.key) }
            challenge { host *.example.test; method client-certificate; use device }

            """
        try AttacheProcess.visitingZoo(rules) { proxy throws in
            #expect(try proxy.get(origin.url()).text == "this is h2\n")
            let fetched = try proxy.get(origin.url("/need/any"), "-d", "content")
            #expect(fetched.status == 200 || fetched.status == 405, "\(fetched) \(proxy.errorOutput)")
            #expect(try proxy.get(origin.url("/need/any")).text == "this is need\n")
            // It is remembered.
            #expect(try streams(of: proxy) == 2)
        }
    }

    @Test func `a certificate of the handshake is proved before others follow`() throws {
        let demand = try Demand.certificate { [$0.root] }.directives(Hierarchy.shared())
        let origin = try HTTP2Origin(.nginx, directives: demand)
        for (certificate, expected) in [(ClientCertificate.good, 200), (ClientCertificate.elsewhere, 400)] {
            let identity = try certificate.get()
            let rules = """
                credential device { certificate \(try identity.chain()); key \(identity.key) }
                challenge { host *.example.test; method client-certificate; use device }

                """
            try AttacheProcess.visitingZoo(rules) { proxy throws in
                #expect(try proxy.get(origin.url()).status == expected)
                let statuses = try Parallel.fetch(40, origin.url(), through: proxy)
                #expect(statuses.count == 40 && statuses.allSatisfy { $0 == expected }, "\(statuses)")
                let count = try connections(of: proxy)
                #expect(expected != 200 || count <= 2, "\(count)")
            }
        }
    }

    // MARK: - Streams that end early

    @Test func `refused streams are sent again whatever their method`() throws {
        let origin = try HTTP2Origin(.node)
        try AttacheProcess.visitingZoo { proxy throws in
            for _ in 1...6 {
                let fetched = try proxy.get(origin.url("/refuse"), "-d", "content")
                #expect(fetched.text == "7 2.0\n", "\(fetched)")
            }
        }
    }

    @Test func `a server that closes its connections in order loses no request`() throws {
        let origin = try HTTP2Origin(.node)
        try AttacheProcess.visitingZoo { proxy throws in
            _ = try proxy.get(origin.url())
            let file = try Payload.file(bytes: 20_000)
            let options = ["--parallel-max", "16", "--data-binary", "@\(file)"]
            let statuses = try Parallel(600, origin.url("/rolling"), through: proxy, options: options).statuses()
            #expect(statuses.count == 600 && statuses.allSatisfy { $0 == 200 }, "\(Set(statuses))")
            #expect(origin.count(of: "/rolling") == 600)
            #expect(try connections(of: proxy) > 5)
        }
    }

    @Test func `a request that a lost connection carried is sent again only if that does no harm`() throws {
        let origin = try HTTP2Origin(.node)
        try AttacheProcess.visitingZoo { proxy throws in
            #expect(try proxy.get(origin.url()).status == 200)
            let lost = try proxy.get(origin.url("/kill"), "-d", "content")
            #expect(lost.status == 502, "\(lost)")
            #expect(origin.count(of: "/kill") == 1)
            #expect(try proxy.get(origin.url()).status == 200)
            #expect(try proxy.get(origin.url("/kill")).status == 502)
            #expect(origin.count(of: "/kill") == 3, "\(origin.output)")
        }
    }

    @Test func `a server may want HTTP 1.1 for a request`() throws {
        let origin = try HTTP2Origin(.node)
        try AttacheProcess.visitingZoo { proxy throws in
            #expect(try proxy.get(origin.url()).text == "this is h2\n")
            for _ in 1...2 { #expect(try proxy.get(origin.url("/old"), "-d", "content").text == "7 1.1\n") }
            #expect(try streams(of: proxy) == 2)
        }
    }

    @Test func `a reset is a 502 that says why`() throws {
        let origin = try HTTP2Origin(.node)
        try AttacheProcess.visitingZoo { proxy throws in
            let fetched = try proxy.get(origin.url("/reset"))
            #expect(fetched.status == 502)
            #expect(fetched["Proxy-Status"]?.contains("HTTP/2 error INTERNAL_ERROR") == true, "\(fetched)")
            #expect(try proxy.get(origin.url()).status == 200)
            #expect(try connections(of: proxy) == 1)
        }
    }

    /// The smaller content fits into the stream, and waits there for the window.
    @Test(arguments: ["", "?open"], [20_000, 600_000])
    func `content arrives whole though the response was over before it`(query: String, bytes: Int) throws {
        let origin = try HTTP2Origin(.node, window: 2000)
        try AttacheProcess.visitingZoo("timeouts { idle 5s; response 5s }") { proxy throws in
            let half = String(repeating: "x", count: bytes / 2)
            let chunked = ("Transfer-Encoding: chunked", "\(String(bytes, radix: 16))\r\n", "\r\n0\r\n\r\n")
            for (number, (framing, start, end)) in [("Content-Length: \(bytes)", "", ""), chunked].enumerated() {
                let wire = try proxy.connect()
                let line = "POST \(origin.url("/early" + query)) HTTP/1.1"
                try wire.send("\(line)\r\nHost: \(HTTP2Origin.host)\r\n\(framing)\r\n\r\n" + start + half)
                let isLarge = bytes > 100_000
                if isLarge { #expect(try wire.readResponse().text == "early") }
                try wire.send(half + end)
                if !isLarge { #expect(try wire.readResponse().text == "early") }
                let isRead = Wait.until(seconds: 10) { origin.count(of: "/read \(bytes)") > number }
                #expect(isRead, "\(origin.output)")
                try wire.send("GET \(origin.url()) HTTP/1.1\r\nHost: \(HTTP2Origin.host)\r\n\r\n")
                #expect(try wire.readResponse().text == "this is h2\n")
            }
            #expect(origin.count(of: "/aborted") == 0)
            #expect(try connections(of: proxy) == 1)
        }
    }

    private func head(_ origin: HTTP2Origin, _ path: String, length: Int) -> String {
        "POST \(origin.url(path)) HTTP/1.1\r\nHost: \(HTTP2Origin.host)\r\nContent-Length: \(length)\r\n\r\n"
    }

    @Test(arguments: [false, true])
    func `content arrives whole though the client leaves behind the response`(isReset: Bool) throws {
        let origin = try HTTP2Origin(.node, window: 2000)
        try AttacheProcess.visitingZoo { proxy throws in
            for number in 1...3 {
                let wire = try proxy.connect()
                try wire.send(head(origin, "/early", length: 20_000) + String(repeating: "x", count: 20_000))
                #expect(try wire.readResponse().text == "early")
                if isReset { wire.abort() } else { wire.close() }
                let isRead = Wait.until(seconds: 10) { origin.count(of: "/read 20000") == number }
                #expect(isRead, "\(origin.output)")
            }
        }
    }

    @Test func `the last request of a connection arrives whole though the response was over before it`() throws {
        let origin = try HTTP2Origin(.node, window: 1 << 20)
        try AttacheProcess.visitingZoo { proxy throws in
            for number in 1...4 {
                let wire = try proxy.connect()
                try wire.send(head(origin, "/early?last", length: 900_000) + String(repeating: "x", count: 900_000))
                #expect(try wire.readResponse().text == "early")
                let isRead = Wait.until(seconds: 10) { origin.count(of: "/read 900000") == number }
                #expect(isRead, "\(origin.output)")
            }
            #expect(try connections(of: proxy) == 4)
        }
    }

    /// They leave in the middle of their content. Each of them kept 25 KiB before.
    @Test(.disabled(if: Sanitizer.isPresent, "its shadow is not the proxy's memory"))
    func `clients that leave behind an early response leave no memory behind`() throws {
        let origin = try HTTP2Origin(.node, window: 2000)
        try AttacheProcess.visitingZoo { proxy throws in
            func leave(_ count: Int) throws {
                for _ in 0..<count {
                    let wire = try proxy.connect()
                    try wire.send(head(origin, "/early?stuck", length: 21_000) + String(repeating: "x", count: 20_000))
                    #expect(try wire.readResponse().text == "early")
                    wire.close()
                }
            }
            // The first ones pay for what all have together.
            try leave(200)
            let before = try proxy.residentKiB()
            try leave(400)
            var growth = 0
            let isFree = try Wait.until(seconds: 10) {
                growth = try proxy.residentKiB() - before
                return growth < 400 * 5
            }
            #expect(isFree, "\(growth) KiB")
        }
    }

    /// Each path is asked for by HTTP/2 in an intercepted tunnel, and then by HTTP/1.1.
    @Test(arguments: [(8, "CANCEL (err 8)"), (2, "INTERNAL_ERROR (err 2)"), (11, "INTERNAL_ERROR (err 2)")])
    func `a reset reaches the client's stream, and ends the connection of another client`(
        code: Int, expected: String
    ) throws {
        let origin = try HTTP2Origin(.node)
        let base = "https://\(HTTP2Origin.host):\(origin.port)"
        try AttacheProcess.visitingZoo { proxy throws in
            let options = ["-x", proxy.address, "--cacert", try proxy.exportedAuthority()]
            for (path, text) in [("/reset", ""), ("/cut", "begun")] {
                let streamed = try Curl.fetch("\(base)\(path)?\(code)", options + ["--http2"])
                #expect(streamed.run.errorOutput.contains(expected) && streamed.text == text, "\(streamed)")
                let plain = try Curl.fetch("\(base)\(path)?\(code)", options + ["--http1.1"])
                #expect(plain.status == (text.isEmpty ? 502 : 200), "\(plain)")
                #expect(plain.run.succeeded == text.isEmpty, "\(plain)")
                let name = code == 8 ? "CANCEL" : code == 2 ? "INTERNAL_ERROR" : "ENHANCE_YOUR_CALM"
                if text.isEmpty { #expect(plain["Proxy-Status"]?.contains("HTTP/2 error \(name)") == true, "\(plain)") }
                let lines = { proxy.accessLogLines.filter { $0.contains("HTTP/2 error \(name)") } }
                #expect(Wait.until { lines().count == (text.isEmpty ? 2 : 4) }, "\(proxy.accessLog)")
            }
            #expect(try connections(of: proxy) == 1)
        }
    }

    @Test func `a misdirected request is sent again on a new connection`() throws {
        let origin = try HTTP2Origin(.node)
        try AttacheProcess.visitingZoo { proxy throws in
            #expect(try proxy.get(origin.url()).status == 200)
            let fetched = try proxy.get(origin.url("/misdirected"), "-d", "content")
            #expect(fetched.text == "7 2.0\n", "\(fetched)")
            #expect(origin.count(of: "/misdirected") == 2)
        }
    }

    @Test func `a slow reader does not slow down others`() throws {
        let origin = try HTTP2Origin(.node)
        try AttacheProcess.visitingZoo { proxy throws in
            #expect(try proxy.get(origin.url()).status == 200)
            let slow = try Subprocess(
                "curl",
                ["-q", "-sS", "--limit-rate", "10k", "-o", "/dev/null", "-x", proxy.address, origin.url("/large")])
            defer { _ = slow.kill() }
            #expect(Wait.until { origin.count(of: "/large") == 1 })
            let statuses = try Parallel.fetch(8, origin.url("/large"), through: proxy)
            #expect(statuses.count == 8 && statuses.allSatisfy { $0 == 200 }, "\(statuses)")
            #expect(slow.isRunning)
            #expect(try connections(of: proxy) <= 2)
        }
    }

    // MARK: - Changes while requests are under way

    @Test func `reloads reach no client`() throws {
        let origin = try HTTP2Origin(.apache)
        try AttacheProcess.visitingZoo(Self.digest) { proxy throws in
            #expect(try proxy.get(origin.url("/digest/any")).status == 200)
            let load = try Parallel(
                400, origin.url("/digest/any"), through: proxy, options: ["--parallel-max", "8"])
            for count in 1...5 {
                try proxy.reload(Self.digest + AttacheProcess.routesToZoo)
                #expect(Wait.until { proxy.accessLog.components(separatedBy: "rules.reloaded").count > count })
            }
            let statuses = load.statuses()
            #expect(statuses.count == 400 && statuses.allSatisfy { $0 == 200 }, "\(Set(statuses))")
        }
    }

    @Test func `an upload and its answer pass at the same time`() throws {
        let origin = try HTTP2Origin(.node)
        try AttacheProcess.visitingZoo { proxy throws in
            let file = try Payload.file(bytes: 5 << 20)
            #expect(try proxy.get(origin.url("/any2"), "-T", file).text == "\(5 << 20) 2.0\n")
            let chunked = try proxy.get(origin.url("/any2"), "-T", file, "-H", "Transfer-Encoding: chunked")
            #expect(chunked.text == "\(5 << 20) 2.0\n", "\(chunked)")
            let head = try proxy.get(origin.url(), "-I")
            #expect(head.status == 200, "\(head)")
        }
    }
}
