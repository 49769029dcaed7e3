import Foundation
import Testing

/// `intercept`: the proxy looks inside a tunnel, with certificates of its own authority.
struct InterceptionTests {
    /// The leaf that clients of a tunnel get, as text, by `openssl s_client`.
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
        try AttacheProcess.visitingZoo { proxy throws in
            let exported = Scratch.read(try proxy.exportedAuthority())
            #expect(exported.contains("BEGIN CERTIFICATE") && !exported.contains("PRIVATE KEY"))
            let isSecret = { (name: String) in Scratch.read("\(proxy.folder)/\(name)").contains("PRIVATE KEY") }
            let keys = try FileManager.default.subpathsOfDirectory(atPath: proxy.folder).filter(isSecret)
            #expect(keys.count == 1, "\(keys)")
            for name in keys {
                let attributes = try FileManager.default.attributesOfItem(atPath: "\(proxy.folder)/\(name)")
                #expect(attributes[.posixPermissions] as? Int == 0o600)
            }
            // Another proxy over the same state, and this one under new rules.
            let (second, port) = (proxy.folder + "/second.conf", FreePort.take())
            let rules = AttacheProcess.ruleFile(
                AttacheProcess.routesToZoo, .init(), port: port, adminPort: FreePort.take(), folder: proxy.folder)
            try Scratch.write(rules, to: second)
            let child = try Subprocess(AttacheBinary.path, ["run", "--config", second])
            try Socket.awaitListener(on: port, of: child)
            try proxy.reload(AttacheProcess.routesToZoo + "limits { fields 100 }")
            #expect(proxy.awaitErrorOutput("was reloaded"))
            let again = try AttacheBinary.run("authority", "export", "--config", second)
            #expect(again.output == exported)
            #expect(try proxy.visit(Specimen["good"], by: .intercepted).status == 200)
        }
    }

    @Test func `an authority of one's own issues the leaves`() throws {
        let terms = CertificateTerms(name: "House Authority", purpose: .authority(pathLength: 0))
        let own = try Hierarchy.shared().root.issue(terms.with { $0.days = -2...400 })
        let rules = "authority { certificate \(try own.chain()); key @/authority.key }"
        let setting = AttacheProcess.Setting(threads: 1, files: ["authority.key": Scratch.read(own.key)])
        try AttacheProcess.visitingZoo(rules, setting: setting) { proxy throws in
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

    // MARK: What is spoken inside

    @Test func `a WebSocket opens inside TLS`() throws {
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
