import Foundation
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
            #expect(lifted.output.contains("old, refused for client-certificate"), "\(lifted)")
            #expect(try visit(server, by: proxy).status == 502)
            #expect(server.refusals == 2, "\(server.output)")
            let told = { try proxy.events().filter { $0["method"] == "client-certificate" }.map { $0["event"] ?? "" } }
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
}

extension OpenSSLServer {
    /// Certificates that it has refused.
    fileprivate var refusals: Int { errorOutput.split(separator: "certificate verify failed").count - 1 }
}
