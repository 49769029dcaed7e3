import Foundation
import TestSupport
import Testing

/// `listen … tls`: clients that reach the proxy itself by TLS.
struct SecureListenerTests {
    private func certificate(_ name: String) throws -> IssuedCertificate {
        try Hierarchy.shared().issuing.issue(CertificateTerms(host: "localhost").with { $0.name = name })
    }

    private func files(_ identity: IssuedCertificate) throws -> [String: String] {
        [
            "proxy.pem": Scratch.read(try identity.chain()), "proxy.key": Scratch.read(identity.key),
            "password": Account.password,
        ]
    }

    /// Runs a proxy with such a listener beside the usual one.
    private func listening(
        _ rest: String = "", rules: String = "", identity: IssuedCertificate? = nil,
        _ body: (AttacheProcess, _ port: UInt16) throws -> Void
    ) throws {
        let port = FreePort.take()
        let listener = "listen 127.0.0.1:\(port) tls certificate @/proxy.pem key @/proxy.key \(rest)\n"
        let setting = AttacheProcess.Setting(threads: 1, files: try files(identity ?? certificate("proxy")))
        try AttacheProcess.visitingZoo(listener + rules, setting: setting) { try body($0, port) }
    }

    /// An origin that no route upgrades.
    private func plain(_ port: UInt16, _ path: String = "/") -> String { "http://localhost:\(port)\(path)" }

    private func through(_ port: UInt16) throws -> [String] {
        ["-x", "https://localhost:\(port)", "--proxy-cacert", try Hierarchy.shared().root.certificate]
    }

    @Test func `curl reaches http, tunnels and the inside of tunnels through it`() throws {
        let origin = try RecordingOrigin.answering()
        let good = try Specimen["good"]
        let blind = try Specimen["rsa"]
        try listening(rules: "route \(blind.host) { tunnel }") { proxy, port throws in
            let options = try through(port)
            #expect(try Curl.fetch(plain(origin.port), options).text == "ok")
            let (zoo, root) = try (Zoo.shared(), Hierarchy.shared().root.certificate)
            #expect(try Curl.fetch(zoo.url(blind), options + ["--cacert", root]).text == "this is rsa\n")
            let inside = try Curl.fetch(zoo.url(good), options + ["--cacert", proxy.exportedAuthority()])
            #expect(inside.text == "this is good\n", "\(inside)")
            #expect(try proxy.get(plain(origin.port)).text == "ok")
        }
    }

    @Test func `a client whose TLS is too old is refused, and the operator sees whose`() throws {
        try listening { proxy, port throws in
            let old = ["-tls1_1", "-cipher", "ALL:@SECLEVEL=0"]
            let listener = try Finished.run("openssl", ["s_client", "-connect", "127.0.0.1:\(port)"] + old)
            #expect(!listener.succeeded && listener.errorOutput.contains("alert protocol version"), "\(listener)")
            let good = try Zoo.shared().authority(of: Specimen["good"])
            let inside = try Finished.run(
                "openssl", ["s_client", "-proxy", "127.0.0.1:\(proxy.port)", "-connect", good] + old)
            #expect(!inside.succeeded && inside.errorOutput.contains("alert protocol version"), "\(inside)")
            let status = try Finished.run(
                AttacheBinary.path, ["status", "--config", "proxy.conf"], directory: proxy.folder, seconds: 20)
            for place in ["this proxy's listener https://127.0.0.1:\(port)", "https://\(good)"] {
                #expect(status.output.contains("TLS below 1.2 (refused) to \(place), last "), "\(status)")
            }
            let sentence = "the client speaks TLS 1.1 or older"
            #expect(Wait.until { proxy.accessLog.contains(sentence) }, "\(proxy.accessLog)")
        }
    }

    @Test func `large content goes both ways`() throws {
        let apache = try ApacheServer.shared()
        try listening { _, port throws in
            let mark = ApacheServer.mark()
            let file = try Payload.file(bytes: 5 << 20)
            let sent = try Curl.fetch(plain(apache.port, "/open/upload.cgi?\(mark)"), through(port) + ["-T", file])
            #expect(sent.text == "\(5 << 20) \(try Hash.sha256(ofFile: file))\n", "\(sent)")
            let large = try Curl.fetch(Zoo.shared().url(Specimen["good"], "/large", scheme: "http"), through(port))
            #expect(large.text.utf8.count == 1_000_000)
        }
    }

    @Test func `a connection without TLS is closed, and the listener goes on`() throws {
        let origin = try RecordingOrigin.answering()
        try listening { _, port throws in
            for bytes in ["GET http://a.test/ HTTP/1.1\r\nHost: a.test\r\n\r\n", "\u{16}\u{3}\u{1}", ""] {
                let wire = try Wire(to: port)
                try wire.send(bytes)
                wire.finishSending()
                _ = try wire.readToEnd()
            }
            #expect(try Curl.fetch(plain(origin.port), through(port)).text == "ok")
        }
    }

    @Test func `a renewed certificate is shown without a restart`() throws {
        let origin = try RecordingOrigin.answering()
        let renewed = try certificate("renewed")
        try listening { proxy, port throws in
            let subject = {
                let run = try Finished.run("openssl", ["s_client", "-connect", "127.0.0.1:\(port)"])
                return run.output.split(separator: "\n").first { $0.hasPrefix("subject=") }.map(String.init) ?? ""
            }
            #expect(try subject().contains("proxy"))
            for (name, text) in try files(renewed) { try proxy.replace(name, with: text) }
            let isRenewed = try Wait.until { try subject().contains("renewed") }
            #expect(isRenewed, "\(proxy.errorOutput)")
            #expect(try Curl.fetch(plain(origin.port), through(port)).text == "ok")
            // One that does not fit is said, and not taken.
            try proxy.replace("proxy.key", with: Scratch.read(ClientCertificate.good.get().key))
            #expect(proxy.awaitErrorOutput("proxy.key"), "\(proxy.errorOutput)")
            #expect(try subject().contains("renewed"))
        }
    }

    // MARK: Clients that show a certificate

    private func showing(_ identity: Result<IssuedCertificate, any Error>) throws -> [String] {
        ["--proxy-cert", try identity.get().chain(), "--proxy-key", try identity.get().key]
    }

    @Test func `a certificate can be required of clients`() throws {
        let origin = try RecordingOrigin.answering()
        let root = try Hierarchy.shared().root.certificate
        try listening("clients \(root) required") { _, port throws in
            #expect(try Curl.fetch(plain(origin.port), through(port) + showing(ClientCertificate.good)).text == "ok")
            for refused in [[], try showing(ClientCertificate.elsewhere), try showing(ClientCertificate.expired)] {
                #expect(try Curl.fetch(plain(origin.port), through(port) + refused).status != 200)
            }
            #expect(origin.requests.count == 1)
        }
    }

    @Test func `a client's certificate says who it is`() throws {
        let expired = try Specimen["expired"]
        let root = try Hierarchy.shared().root.certificate
        let rule = """
            challenge { host expired.example.test; client "client-good"; method server-trust; allow expired; trust }
            """
        try listening("clients \(root)", rules: rule) { proxy, port throws in
            let visit = { (identity: [String]) in
                try Curl.fetch(Zoo.shared().url(expired, scheme: "http"), through(port) + identity).status
            }
            for _ in 1...2 {
                #expect(try visit(showing(ClientCertificate.good)) == 200)
                #expect(try visit(showing(ClientCertificate.renewed)) == 502)
                #expect(try visit([]) == 502)
            }
            let users = try proxy.records(atLeast: 6).map { $0["user"] }
            #expect(users == ["client-good", "client-renewed", nil, "client-good", "client-renewed", nil])
        }
    }
}
