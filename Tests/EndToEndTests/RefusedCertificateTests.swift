import Foundation
import TestSupport
import Testing

/// Client certificates that a server refuses by a TLS alert: in its handshake until TLS 1.2, with the first read since 1.3.
struct RefusedCertificateTests {
    private static let host = "client-refusing.example.test"

    private func credential(_ identity: Result<IssuedCertificate, any Error>, as name: String) throws -> String {
        let identity = try identity.get()
        return "credential \(name) { certificate \(try identity.chain()); key \(identity.key) }\n"
    }

    /// - Parameter isRequired: else a client without a certificate is welcome.
    private func server(_ version: String, isRequired: Bool = true) throws -> OpenSSLServer {
        let hierarchy = try Hierarchy.shared()
        let leaf = try hierarchy.issuing.issue(CertificateTerms(host: Self.host))
        return try OpenSSLServer(
            ServerIdentity(leaf),
            [
                isRequired ? "-Verify" : "-verify", "3", "-verify_return_error", "-CAfile",
                hierarchy.root.certificate, "-tls\(version)", "-naccept", "100",
            ],
            responses: ["/answer": "HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok"])
    }

    private func attache(_ words: String..., of proxy: AttacheProcess) throws -> Finished {
        _ = proxy.awaitErrorOutput("listening on")
        return try Finished.run(
            AttacheBinary.path, words + ["--config", "proxy.conf"], directory: proxy.folder, seconds: 20)
    }

    private func visit(_ server: OpenSSLServer, by proxy: AttacheProcess, _ options: [String] = []) throws -> Fetched {
        try proxy.visit("\(Self.host):\(server.port)", "/answer", by: .upgraded, options)
    }

    @Test(arguments: ["1_2", "1_3"])
    func `the next certificate is shown where the first was refused, and the first no more`(version: String) throws {
        let server = try server(version)
        let rules =
            try credential(ClientCertificate.expired, as: "old") + credential(ClientCertificate.good, as: "new")
            + "challenge { host *.example.test; method client-certificate; use old new }\n"
        try AttacheProcess.visitingZoo(rules) { proxy throws in
            for _ in 1...3 {
                let fetched = try visit(server, by: proxy)
                #expect(fetched.text == "ok", "\(fetched)")
            }
            #expect(server.refusals == 1, "\(server.output)")
            let records = try proxy.records(atLeast: 3)
            #expect(records.allSatisfy { $0["identity"] == "new" }, "\(records.map(\.line))")
            #expect(proxy.awaitErrorOutput("credential old was refused by \(Self.host):\(server.port)"))
            #expect(proxy.errorOutput.contains("certificate expired"), "\(proxy.errorOutput)")
        }
    }

    @Test(arguments: ["1_2", "1_3"])
    func `a refused certificate is told with all others, and waits for another value`(version: String) throws {
        let server = try server(version)
        let rules =
            try credential(ClientCertificate.expired, as: "old") + credential(ClientCertificate.good, as: "spare")
            + "challenge \"device\" { host *.example.test; method client-certificate; use old }\n"
        try AttacheProcess.visitingZoo(rules) { proxy throws in
            for attempt in 1...2 {
                let fetched = try visit(server, by: proxy)
                #expect(fetched.status == 502, "\(fetched)")
                #expect(fetched["Proxy-Status"]?.contains("error=tls_alert_received") == true, "\(fetched)")
                #expect(fetched.text.contains("CN=Zoo Root"), "\(fetched)")
                let reason = attempt == 1 ? "it was shown, and refused (certificate expired)" : "it was refused before"
                #expect(fetched.text.contains("old: \(reason)"), "\(fetched)")
                #expect(fetched.text.contains("spare: rule \"device\" decides"), "\(fetched)")
            }
            #expect(server.refusals == 1, "\(server.output)")
            let challenges = try attache("challenges", "--unanswered", of: proxy)
            #expect(challenges.output.contains("client-certificate"), "\(challenges)")
            #expect(challenges.output.contains("accepts CN=Zoo Root"), "\(challenges)")
            let lifted = try attache("credential", "retry", of: proxy)
            #expect(lifted.output == "old is sent again from now on\n", "\(lifted)")
            #expect(try visit(server, by: proxy).status == 502)
            #expect(server.refusals == 2, "\(server.output)")
            let told = { try proxy.events().filter { $0["credential"] == "old" }.map { $0["event"] ?? "" } }
            #expect(try Wait.until { try told().count >= 3 })
            #expect(try told() == ["credential.parked", "credential.lifted", "credential.parked"])
        }
    }

    @Test(arguments: ["1_2", "1_3"])
    func `without another certificate a server that can do without is asked without`(version: String) throws {
        let server = try server(version, isRequired: false)
        let rules =
            try credential(ClientCertificate.expired, as: "old")
            + "challenge { host *.example.test; method client-certificate; use old }\n"
        try AttacheProcess.visitingZoo(rules) { proxy throws in
            for _ in 1...2 { #expect(try visit(server, by: proxy).text == "ok") }
            #expect(server.refusals == 1, "\(server.output)")
        }
    }

    @Test(arguments: ["1_2", "1_3"])
    func `rules are asked again with the number of refusals`(version: String) throws {
        let server = try server(version)
        let rules =
            try credential(ClientCertificate.expired, as: "old") + credential(ClientCertificate.good, as: "new") + """
                challenge "second" { host *.example.test; method client-certificate; failures 1; use new; attempts 2 }
                challenge "first"  { host *.example.test; method client-certificate; use old }

                """
        try AttacheProcess.visitingZoo(rules) { proxy throws in
            for _ in 1...2 { #expect(try visit(server, by: proxy).text == "ok") }
            #expect(server.refusals == 1, "\(server.output)")
        }
        let cancelling =
            try credential(ClientCertificate.expired, as: "old") + """
                challenge "enough" { host *.example.test; method client-certificate; failures 1..; cancel }
                challenge { host *.example.test; method client-certificate; use old }

                """
        try AttacheProcess.visitingZoo(cancelling) { proxy throws in
            for _ in 1...2 {
                let fetched = try visit(server, by: proxy)
                #expect(fetched.status == 502 && fetched.text.contains("\"enough\""), "\(fetched)")
            }
            #expect(server.refusals == 2, "\(server.output)")
        }
    }

    /// Apache asks behind the request, by renegotiation or as TLS 1.3 does.
    @Test(arguments: [false, true])
    func `the next certificate is shown where the first was refused behind the request, content and all`(
        isNew: Bool
    ) throws {
        let apache = try ApacheServer.shared()
        let port = isNew ? apache.securePorts.three : apache.securePorts.two
        let authority = "\(ApacheServer.secureHost):\(port)"
        let rules =
            try credential(ClientCertificate.expired, as: "old") + credential(ClientCertificate.good, as: "new")
            + "challenge { host *.example.test; method client-certificate; use old new }\n"
        try AttacheProcess.visitingZoo(rules) { proxy throws in
            #expect(try proxy.visit(authority, "/open/", by: .upgraded).text == "this is open\n")
            for bytes in [1_000, 100_000] {
                let mark = ApacheServer.mark()
                let file = try Payload.file(bytes: bytes)
                let expected = "\(bytes) \(try Hash.sha256(ofFile: file))"
                let sent = try proxy.visit(
                    authority, "/need/upload.cgi?\(mark)", by: .upgraded,
                    ["--data-binary", "@" + file, "-H", "Expect:"])
                #expect(sent.text == expected + "\n", "\(bytes): \(sent)")
                #expect(try Payload.arrivals(at: apache, marked: mark) == [expected])
                #expect(try proxy.record(marked: mark)?["identity"] == "new")
            }
            let said = proxy.errorOutput.split(separator: "\n").filter { $0.contains("credential old was refused by") }
            #expect(said.count == 1, "\(proxy.errorOutput)")
        }
    }

    /// Requests that the parent makes itself, and tunnels through it.
    @Test(arguments: ["1_2", "1_3"])
    func `a parent that refuses one certificate is shown the next`(version: String) throws {
        let (apache, squid) = (try ApacheServer.shared(), try SquidServer.shared(.nothing))
        let root = try Hierarchy.shared().root.certificate
        for isTunnel in [false, true] {
            let front = try AlertingTerminator(to: squid.port, clientsBelow: root, version: version)
            let rules =
                try credential(ClientCertificate.expired, as: "old") + credential(ClientCertificate.good, as: "new")
                    + """
                    challenge { proxy yes; host \(TLSFront.host); method client-certificate; use old new }
                    parent corp { https \(front.authority) }
                    route * { via corp }

                    """
            try AttacheProcess.visitingZoo(rules) { proxy throws in
                let url = isTunnel ? "https://127.0.0.1:\(apache.securePorts.three)/open/" : apache.url("/open/")
                for _ in 1...3 {
                    let fetched = try proxy.get(url, "-k")
                    #expect(fetched.text == "this is open\n", "\(fetched)")
                }
                let said = proxy.errorOutput.split(separator: "\n").filter {
                    $0.contains("credential old was refused by")
                }
                #expect(said.count == 1, "\(proxy.errorOutput)")
            }
        }
    }
}

extension OpenSSLServer {
    /// Certificates that it has refused.
    fileprivate var refusals: Int { errorOutput.split(separator: "certificate verify failed").count - 1 }
}

/// TLS before another server, which tells by an alert which client certificate it does not take.
private final class AlertingTerminator: Sendable {
    let port = FreePort.take()
    private let child: Subprocess

    /// - Parameters:
    ///   - server: the port that takes the connections in clear.
    ///   - root: whose certificates clients have to show.
    ///   - version: the newest that is spoken, `1_2` or `1_3`.
    init(to server: UInt16, clientsBelow root: String, version: String) throws {
        let leaf = try Hierarchy.shared().issuing.issue(CertificateTerms(host: TLSFront.host))
        let chain = try IssuedCertificate.bundle([leaf.certificate] + leaf.intermediates)
        child = try Subprocess("python3", ["-c", Self.script, chain, leaf.key, "\(port)", "\(server)", root, version])
        try Socket.awaitListener(on: port, of: child)
    }

    var authority: String { "\(TLSFront.host):\(port)" }

    private static let script = """
        import select, socket, ssl, sys, threading
        chain, key, port, server, root, version = sys.argv[1:]
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.maximum_version = ssl.TLSVersion['TLSv' + version]
        context.load_cert_chain(chain, key)
        context.load_verify_locations(root)
        context.verify_mode = ssl.CERT_REQUIRED
        def serve(client):
            try:
                outer = context.wrap_socket(client, server_side=True)
                inner = socket.create_connection(('127.0.0.1', int(server)))
                while True:
                    ready = [outer] if outer.pending() else select.select([outer, inner], [], [])[0]
                    for end in ready:
                        data = end.recv(65536)
                        if not data:
                            inner.close()
                            return outer.unwrap()
                        (inner if end is outer else outer).sendall(data)
            except OSError:
                client.close()
        listener = socket.create_server(('127.0.0.1', int(port)))
        while True:
            threading.Thread(target=serve, args=(listener.accept()[0],), daemon=True).start()
        """
}
