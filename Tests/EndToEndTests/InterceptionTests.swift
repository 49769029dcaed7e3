import Foundation
import Testing

/// `intercept`: the proxy looks inside a tunnel, with certificates of its own authority.
struct InterceptionTests {
    /// What clients of a tunnel are shown, by `openssl s_client`: the leaf as text.
    private func leaf(_ authority: String, _ name: String?, through proxy: AttacheProcess) throws -> String {
        let options = [
            "s_client", "-proxy", "127.0.0.1:\(proxy.port)", "-connect", authority, "-CAfile",
            try proxy.exportedAuthority(), "-verify_return_error",
        ]
        let named = name.map { ["-servername", $0] } ?? ["-noservername"]
        let run = try Finished.run("openssl", options + named)
        let path = Scratch.folder("leaf") + "/leaf.pem"
        try Scratch.write(run.output, to: path)
        return try OpenSSLCommand.run("x509", "-in", path, "-noout", "-text")
    }

    @Test func `the leaf speaks for the origin's name alone, for two days`() throws {
        let good = try Specimen["good"]
        try AttacheProcess.visitingZoo { proxy throws in
            let text = try leaf(Zoo.shared().authority(of: good), good.host, through: proxy)
            #expect(text.contains("DNS:\(good.host)\n"), "\(text)")
            #expect(text.contains("TLS Web Server Authentication"))
            #expect(text.contains("CA:FALSE"))
            let dates = text.split(separator: "\n").compactMap { line -> Date? in
                guard line.contains("Not Before") || line.contains("Not After") else { return nil }
                let format = DateFormatter()
                format.locale = Locale(identifier: "en_US_POSIX")
                format.timeZone = TimeZone(identifier: "UTC")
                format.dateFormat = "MMM d HH:mm:ss yyyy z"
                return format.date(
                    from: line.split(separator: ":", maxSplits: 1)[1].trimmingCharacters(in: .whitespaces))
            }
            #expect(dates.count == 2)
            #expect(try #require(dates.last).timeIntervalSinceNow <= 48 * 3_600)
            #expect(try #require(dates.first).timeIntervalSinceNow < 0)
            let address = try leaf(Zoo.shared().authority(of: Specimen["address"]), nil, through: proxy)
            #expect(address.contains("IP Address:127.0.0.1"), "\(address)")
        }
    }

    @Test func `the authority is made once, and its key is nobody else's to read`() throws {
        let folder = Scratch.folder("state")
        var exported: [String] = []
        for _ in 1...2 {
            try AttacheProcess.visitingZoo("state \(folder)") { proxy throws in
                exported.append(Scratch.read(try proxy.exportedAuthority()))
                #expect(try proxy.visit(Specimen["good"], by: .intercepted).status == 200)
            }
        }
        #expect(exported[0] == exported[1] && exported[0].contains("BEGIN CERTIFICATE"))
        #expect(!exported[0].contains("PRIVATE KEY"))
        let secret = try FileManager.default.subpathsOfDirectory(atPath: folder).filter {
            Scratch.read("\(folder)/\($0)").contains("PRIVATE KEY")
        }
        #expect(secret.count == 1, "\(secret)")
        for name in secret {
            let mode = try FileManager.default.attributesOfItem(atPath: "\(folder)/\(name)")[.posixPermissions] as? Int
            #expect(mode == 0o600)
        }
    }

    @Test func `an authority of one's own issues the leaves`() throws {
        let terms = CertificateTerms(name: "House Authority", purpose: .authority(pathLength: 0))
        let own = try Hierarchy.shared().root.issue(terms.with { $0.days = -2...400 })
        let rules = "authority { certificate \(try own.chain()); key \(own.key) }"
        try AttacheProcess.visitingZoo(rules) { proxy throws in
            let authority = try Zoo.shared().authority(of: Specimen["good"])
            let root = try Hierarchy.shared().root.certificate
            let answered = try Curl.fetch("https://\(authority)/", ["-x", proxy.address, "--cacert", root])
            #expect(answered.text == "this is good\n", "\(answered)")
        }
    }

    @Test func `a client that does not trust the authority is told so by its own tool`() throws {
        let authority = try Zoo.shared().authority(of: Specimen["good"])
        try AttacheProcess.visitingZoo { proxy throws in
            let refused = try Curl.fetch("https://\(authority)/", ["-x", proxy.address])
            #expect(refused.run.errorOutput.contains("SSL certificate problem"), "\(refused)")
            #expect(try proxy.visit(Specimen["good"], by: .intercepted).status == 200)
            #expect(proxy.isRunning)
        }
    }

    @Test func `a route that does not say so is a blind tunnel`() throws {
        let good = try Specimen["good"]
        try AttacheProcess.visitingZoo("route \(good.host) { tunnel }") { proxy throws in
            let root = try Hierarchy.shared().root.certificate
            let answered = try Curl.fetch(Zoo.shared().url(good), ["-x", proxy.address, "--cacert", root])
            #expect(answered.text == "this is good\n", "\(answered)")
        }
    }

    // MARK: What else is spoken in a tunnel

    private func tunnel(_ authority: String, through proxy: AttacheProcess) throws -> Wire {
        let wire = try proxy.connect()
        try wire.send("CONNECT \(authority) HTTP/1.1\r\nHost: \(authority)\r\n\r\n")
        #expect(try wire.readResponse(to: "CONNECT").status == 200)
        return wire
    }

    @Test func `http in a tunnel is looked at too, and its challenge answered`() throws {
        let origin = try RecordingOrigin.answering { request, connection in
            if request["Authorization"] != nil { return try connection.reply(body: "ok") }
            try connection.reply("401 Unauthorized", ["WWW-Authenticate: Basic realm=\"r\""])
        }
        let rules = """
            route other.example.test { intercept }
            credential web { user \(Account.user); password file @/password }
            challenge { host other.example.test; use web }

            """
        try AttacheProcess.visitingZoo(rules) { proxy throws in
            let authority = "other.example.test:\(origin.port)"
            let wire = try tunnel(authority, through: proxy)
            for _ in 1...2 {
                try wire.send("GET /in/a/tunnel HTTP/1.1\r\nHost: \(authority)\r\n\r\n")
                #expect(try wire.readResponse().text == "ok")
            }
            #expect(origin.messages.first?.target == "/in/a/tunnel")
        }
    }

    @Test func `what is neither TLS nor HTTP goes through unseen`() throws {
        let echo = try RecordingOrigin { connection in
            let received = try connection.wire.read(12)
            try connection.wire.send(Array("and ".utf8) + received)
        }
        let server = try RecordingOrigin { connection in
            try connection.wire.send("220 I speak first\r\n")
            try connection.wire.send(try connection.wire.readToEnd())
        }
        try AttacheProcess.visitingZoo { proxy throws in
            let first = try tunnel("other.example.test:\(echo.port)", through: proxy)
            try first.send("\u{1}\u{2} no HTTP\r\n")
            #expect(String(decoding: try first.read(16), as: UTF8.self) == "and \u{1}\u{2} no HTTP\r\n")
            let second = try tunnel("other.example.test:\(server.port)", through: proxy)
            #expect(String(decoding: try second.read(19), as: UTF8.self) == "220 I speak first\r\n")
            try second.send("EHLO\r\n")
            second.finishSending()
            #expect(String(decoding: try second.readToEnd(), as: UTF8.self) == "EHLO\r\n")
        }
    }

    @Test func `a WebSocket opens inside`() throws {
        let origin = try RecordingOrigin { connection in
            guard let request = try connection.request(), request["Upgrade"] == "websocket" else { return }
            try connection.wire.send(
                "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\nfirst ")
            let received = try connection.wire.read(6)
            try connection.wire.send(received + Array(" last".utf8))
        }
        let front = try TLSFront(to: origin.port)
        try AttacheProcess.visitingZoo { proxy throws in
            let script = """
                import socket, ssl, sys
                wire = socket.create_connection(("127.0.0.1", \(proxy.port)))
                wire.sendall(b"CONNECT \(front.authority) HTTP/1.1\\r\\nHost: \(front.authority)\\r\\n\\r\\n")
                while not wire.recv(65536).endswith(b"\\r\\n\\r\\n"): pass
                context = ssl.create_default_context(cafile=sys.argv[1])
                stream = context.wrap_socket(wire, server_hostname="\(TLSFront.host)")
                stream.sendall(b"GET /socket HTTP/1.1\\r\\nHost: \(front.authority)\\r\\nConnection: Upgrade\\r\\n"
                    b"Upgrade: websocket\\r\\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\\r\\n\\r\\n")
                received = b""
                while b"first " not in received: received += stream.recv(65536)
                stream.sendall(b"middle")
                while not received.endswith(b"last"): received += stream.recv(65536)
                print(received.decode())
                """
            let run = try Finished.run("python3", ["-c", script, proxy.exportedAuthority()], seconds: 20)
            #expect(run.output.hasPrefix("HTTP/1.1 101 "), "\(run)")
            #expect(run.output.contains("first middle last"), "\(run)")
        }
    }

    // MARK: Names that must agree

    @Test func `a name that is not the tunnel's gets no credential`() throws {
        let apache = try ApacheServer.shared()
        let rules = """
            credential web { user \(Account.user); password file @/password }
            challenge { host \(ApacheServer.secureHost); use web }
            challenge { host other.example.test; use web }

            """
        try AttacheProcess.visitingZoo(rules) { proxy throws in
            let authority = "\(ApacheServer.secureHost):\(apache.securePorts.three)"
            let mark = ApacheServer.mark()
            // Another Host inside.
            let another = try proxy.visit(
                authority, "/basic/?\(mark)", by: .intercepted, ["-H", "Host: other.example.test"])
            #expect(another.status != 200, "\(another)")
            // Another name in SNI, for which curl opens the tunnel to the same place.
            let names = ["--connect-to", "other.example.test:\(apache.securePorts.three):\(authority)"]
            let hello = try proxy.visit(
                "other.example.test:\(apache.securePorts.three)", "/basic/?\(mark)", by: .intercepted, names)
            #expect(hello.status != 200, "\(hello)")
            #expect(try proxy.visit(authority, "/basic/?\(mark)-last", by: .intercepted).status == 200)
            let entries = apache.entries(marked: mark + "-last", atLeast: 2)
            #expect(entries.last?.status == 200)
            let sent = apache.entries(marked: mark).filter { $0.authorization != nil }
            #expect(sent.count == 1, "\(sent)")
        }
    }
}
