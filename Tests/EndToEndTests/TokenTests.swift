import Foundation
import TestSupport
import Testing

/// Bearer challenges are answered with tokens that a token endpoint gives (RFC 6749).
struct TokenTests {
    private static let secret = "Cl1ent-S3cret+/="

    private func exchanging(
        _ terms: TokenServer.Terms = .init(), more: String = "client-secret file @/secret", rules: String = "",
        _ body: (AttacheProcess, TokenServer) throws -> Void
    ) throws {
        let server = try TokenServer(terms)
        let rule = """
            credential crm { oauth2 \(server.url); client-id crm; scope read write; \(more) }
            challenge "crm" { host 127.0.0.1; port \(server.api.port); use crm }
            \(rules)
            """
        try AttacheProcess.running(rule, setting: .init(files: ["secret": Self.secret + "\n"])) { proxy throws in
            try body(proxy, server)
            let written = proxy.accessLog + proxy.errorOutput
            #expect(!written.contains(TokenServer.stem) && !written.contains(Self.secret))
        }
    }

    @Test func `a token is fetched when it is first asked for, and used from then on`() throws {
        try exchanging { proxy, server throws in
            for path in ["/a", "/b", "/c"] { #expect(try proxy.get(server.api.url(path)).text == "ok") }
            #expect(server.issued == 1)
            #expect(server.api.messages.count == 4)
            let request = try #require(server.endpoint.messages.first)
            #expect(request.startLine == "POST /token HTTP/1.1")
            #expect(request.text == "grant_type=client_credentials&scope=read%20write")
            let pair = Data("crm:Cl1ent-S3cret%2B%2F%3D".utf8).base64EncodedString()
            #expect(request["Authorization"] == "Basic \(pair)")
            #expect(request["Content-Type"] == "application/x-www-form-urlencoded")
            let record = try #require(try proxy.records(atLeast: 3).last)
            #expect(record["scheme"] == "bearer")
            #expect(record["credential"] == "crm")
        }
    }

    @Test func `an operator sees when a fetched token ends`() throws {
        try exchanging { proxy, server throws in
            #expect(try proxy.get(server.api.url()).text == "ok")
            let name = "attache_expiry_timestamp_seconds{kind=\"fetched token\",name=\"crm\",place=\"\"}"
            #expect(try proxy.metric(name) > Int(Date().timeIntervalSince1970))
            let status = try Finished.run(
                AttacheBinary.path, ["status", "--config", "proxy.conf"], directory: proxy.folder, seconds: 20)
            #expect(status.output.contains("Z fetched token crm\n"), "\(status)")
        }
    }

    @Test func `a secret may go in the content`() throws {
        try exchanging(more: "client-secret file @/secret; client-authentication post; audience https://api/") {
            proxy, server throws in
            #expect(try proxy.get(server.api.url()).text == "ok")
            let request = try #require(server.endpoint.messages.first)
            #expect(request["Authorization"] == nil)
            #expect(
                request.text == "grant_type=client_credentials&scope=read%20write&audience=https%3A%2F%2Fapi%2F"
                    + "&client_id=crm&client_secret=Cl1ent-S3cret%2B%2F%3D")
        }
    }

    @Test func `a hundred requests at once fetch one token`() throws {
        let gate = Gate()
        try exchanging(.init(gate: gate)) { proxy, server throws in
            let requests = try Parallel(100, server.api.url(), through: proxy)
            #expect(Wait.until { server.api.messages.count == 100 })
            gate.open()
            #expect(requests.statuses() == Array(repeating: 200, count: 100))
            #expect(server.issued == 1)
        }
    }

    /// Some endpoints say so of a token without end.
    @Test(arguments: [0, -1])
    func `a token that ends when it comes is used until it is refused, and not fetched in a loop`(lifetime: Int) throws
    {
        try exchanging(.init(lifetime: lifetime, refusedTokens: 1)) { proxy, server throws in
            for _ in 1...5 { #expect(try proxy.get(server.api.url()).text == "ok") }
            #expect(server.issued == 2)
        }
    }

    @Test func `a token that the origin refuses is replaced once`() throws {
        try exchanging(.init(refusedTokens: 1)) { proxy, server throws in
            #expect(try proxy.get(server.api.url()).text == "ok")
            #expect(server.used == ["1", "2"])
            #expect(server.issued == 2)
        }
        try exchanging(.init(refusedTokens: .max)) { proxy, server throws in
            for _ in 1...5 { #expect(try proxy.get(server.api.url()).status == 401) }
            #expect(server.issued == 2)
            #expect(server.used == ["1", "2"])
        }
    }

    @Test func `a token that is refused later is replaced at once`() throws {
        try exchanging { proxy, server throws in
            #expect(try proxy.get(server.api.url()).text == "ok")
            server.change { $0.refusedTokens = 1 }
            #expect(try proxy.get(server.api.url()).text == "ok")
            #expect(server.issued == 2)
        }
    }

    @Test func `a client that the endpoint refuses is not tried again until its secret changes`() throws {
        let refusal: (status: String, content: String) = (
            "401 Unauthorized", "{\"error\":\"invalid_client\",\"error_description\":\"who?\"}"
        )
        try exchanging(.init(answer: refusal)) { proxy, server throws in
            for _ in 1...3 {
                let refused = try proxy.get(server.api.url())
                #expect(refused.status == 502)
                #expect(refused.text.contains("(invalid_client: who?)"), "\(refused)")
            }
            #expect(server.endpoint.messages.count == 1)
            server.change { $0.answer = nil }
            try proxy.replace("secret", with: "another\n")
            let recovers = try Wait.until { try proxy.get(server.api.url()).status == 200 }
            #expect(recovers)
        }
    }

    @Test func `a client may prove itself by a key`() throws {
        let folder = Scratch.folder("assertion")
        try OpenSSLCommand.run(
            "genpkey", "-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:2048", "-out", folder + "/key.pem")
        try OpenSSLCommand.run("pkey", "-in", folder + "/key.pem", "-pubout", "-out", folder + "/public.pem")
        try exchanging(more: "key \(folder)/key.pem; key-id one") { proxy, server throws in
            #expect(try proxy.get(server.api.url()).text == "ok")
            let form = try #require(server.endpoint.messages.first?.text)
            let assertion = try #require(form.split(separator: "&").first { $0.hasPrefix("client_assertion=") })
            let parts = assertion.dropFirst("client_assertion=".count).split(separator: ".")
            let decoded = try parts.map { part in
                let text = String(part).replacing("-", with: "+").replacing("_", with: "/")
                let padded = text + String(repeating: "=", count: (4 - text.count % 4) % 4)
                return try #require(Data(base64Encoded: padded))
            }
            try #require(decoded.count == 3)
            #expect(
                String(decoding: decoded[0], as: UTF8.self) == "{\"alg\":\"RS256\",\"typ\":\"JWT\",\"kid\":\"one\"}")
            try Scratch.write("\(parts[0]).\(parts[1])", to: folder + "/signed")
            try decoded[2].write(to: URL(fileURLWithPath: folder + "/signature"))
            try OpenSSLCommand.run(
                "dgst", "-sha256", "-verify", folder + "/public.pem", "-signature", folder + "/signature",
                folder + "/signed")
        }
    }

    @Test func `the endpoint is asked by TLS, with a certificate where the client has one`() throws {
        let client = try ClientCertificate.good.get()
        let server = try TokenServer()
        let terminator = try TLSTerminator(to: server.endpoint.port, clientsBelow: Hierarchy.shared().root.certificate)
        let chain = try IssuedCertificate.bundle([client.certificate] + client.intermediates)
        let rules = { (more: String) in
            """
            credential crm { oauth2 https://\(terminator.authority)/token; client-id crm; \(more) }
            challenge "crm" { host 127.0.0.1; port \(server.api.port); use crm }
            route 127.0.0.1:\(server.api.port) { tunnel }
            """
        }
        try AttacheProcess.visitingZoo(rules("certificate \(chain); key \(client.key)")) { proxy throws in
            let fetched = try proxy.get(server.api.url())
            #expect(fetched.text == "ok", "\(fetched)")
            #expect(server.endpoint.messages.first?.text == "grant_type=client_credentials&client_id=crm")
        }
        try AttacheProcess.visitingZoo(rules("client-secret s")) { proxy throws in
            let fetched = try proxy.get(server.api.url())
            #expect(fetched.status == 502)
            #expect(fetched.text.contains("credential crm has no token"), "\(fetched)")
        }
        // Without the zoo's root the endpoint is not trusted.
        try AttacheProcess.running(
            rules("client-secret s"), setting: .init(environment: ["CARES_HOSTS": HostsFile.path])
        ) {
            proxy throws in
            let fetched = try proxy.get(server.api.url())
            #expect(fetched.status == 502)
            #expect(fetched.text.contains("credential crm has no token"), "\(fetched)")
            #expect(server.issued == 1)
        }
    }
}
