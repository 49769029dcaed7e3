import Foundation
import Testing

/// All further servers with TLS, without the proxy: the assumptions of the suites.
struct SecureServerTests {
    private func fetch(_ host: String, _ port: UInt16, _ path: String = "/", _ options: [String] = []) throws -> Fetched
    {
        let trusting = ["--cacert", try Hierarchy.shared().root.certificate, "--resolve", "\(host):\(port):127.0.0.1"]
        return try Curl.fetch("https://\(host):\(port)\(path)", trusting + options)
    }

    private func fetch(_ name: String, path: String = "/client", _ options: [String]) throws -> Fetched {
        let specimen = try Specimen[name]
        return try fetch(specimen.host, Zoo.shared().port(of: specimen), path, options)
    }

    private func showing(_ identity: Result<IssuedCertificate, any Error>) throws -> [String] {
        let identity = try identity.get()
        return ["--cert", try identity.chain(), "--key", identity.key]
    }

    @Test(arguments: [
        "client-required", "client-required-tls12", "client-optional", "client-elsewhere", "client-of-both",
    ])
    func `a gatekeeper lets a good client in`(name: String) throws {
        let answered = try fetch(name, showing(ClientCertificate.good))
        #expect(answered.text == "SUCCESS CN=client-good,O=Zoo\n", "\(answered)")
    }

    @Test func `a gatekeeper refuses the others`() throws {
        for refused in [ClientCertificate.expired, ClientCertificate.elsewhere] {
            #expect(try fetch("client-required", showing(refused)).status == 400)
        }
        let identity = try ClientCertificate.good.get()
        let withoutIntermediate = ["--cert", identity.certificate, "--key", identity.key]
        #expect(try fetch("client-required", withoutIntermediate).status == 400)
        #expect(try fetch("client-required", []).status == 400)
        #expect(try fetch("client-optional", []).text == "NONE \n")
    }

    @Test func `an encrypted key and an archive hold the same identity`() throws {
        let identity = try ClientCertificate.rsa.get()
        let pass = ["--pass", ClientCertificate.passphrase]
        let key = try ClientCertificate.encryptedKey(of: identity)
        let encrypted = ["--cert", try identity.chain(), "--key", key]
        #expect(try fetch("client-required", encrypted + pass).text.hasPrefix("SUCCESS CN=client-rsa"))
        let archive = ["--cert-type", "P12", "--cert", try ClientCertificate.archive(of: identity)]
        #expect(try fetch("client-required", archive + pass).text.hasPrefix("SUCCESS CN=client-rsa"))
    }

    @Test func `Apache asks for a certificate by renegotiation`() throws {
        let apache = try ApacheServer.shared()
        let (host, port) = (ApacheServer.secureHost, apache.securePorts.two)
        #expect(try fetch(host, port, "/open/").text == "this is open\n")
        #expect(try fetch(host, port, "/need/").run.status != 0)
        #expect(try fetch(host, port, "/may/").status == 200)
        let shown = try showing(ClientCertificate.good)
        let answered = try fetch(host, port, "/need/echo.cgi", shown)
        #expect(answered.text.contains("client=client-good verification=SUCCESS protocol=TLSv1.2"), "\(answered)")
        let file = try Payload.file(bytes: 200_000)
        let sent = try fetch(host, port, "/need/upload.cgi", shown + ["--data-binary", "@" + file])
        #expect(sent.text == "200000 \(try Hash.sha256(ofFile: file))\n", "\(sent)")
    }

    @Test func `Apache asks for a certificate after the handshake of TLS 1_3`() throws {
        let apache = try ApacheServer.shared()
        let (host, port) = (ApacheServer.secureHost, apache.securePorts.three)
        #expect(try fetch(host, port, "/open/").text == "this is open\n")
        let answered = try fetch(host, port, "/need/echo.cgi", showing(ClientCertificate.good))
        #expect(answered.text.contains("client=client-good verification=SUCCESS protocol=TLSv1.3"), "\(answered)")
        let refused = try fetch(host, port, "/need/")
        #expect(refused.run.status != 0 || refused.status == 403, "\(refused)")
    }

    @Test(arguments: ["basic", "digest"])
    func `Apache answers 401 behind TLS`(name: String) throws {
        let apache = try ApacheServer.shared()
        for port in [apache.securePorts.two, apache.securePorts.three] {
            #expect(try fetch(ApacheServer.secureHost, port, "/\(name)/").status == 401)
            let answer = ["--\(name)", "-u", "\(Account.user):\(Account.password)"]
            #expect(try fetch(ApacheServer.secureHost, port, "/\(name)/", answer).text == "this is \(name)\n")
        }
    }

    @Test func `nghttpd speaks HTTP_2 and nothing else`() throws {
        let server = try NghttpServer(Zoo.shared().identity(of: Specimen["good"]))
        let host = try Specimen["good"].host
        #expect(try fetch(host, server.port, "/", ["--http2"]).text == "this is nghttpd\n")
        #expect(try fetch(host, server.port, "/", ["--http1.1"]).run.status != 0)
        #expect(try fetch("http2", path: "/", ["--http1.1"]).text == "this is http2\n")
        #expect(try fetch("http2", path: "/", ["--http2"]).text == "this is http2\n")
    }

    @Test func `a lost close_notify is all that the relay takes away`() throws {
        let host = try Specimen["good"].host
        let responses = ["/whole": "HTTP/1.0 200 OK\r\n\r\nuntil the end\n"]
        for version in ["-tls1_2", "-tls1_3"] {
            let server = try OpenSSLServer(
                Zoo.shared().identity(of: Specimen["good"]), [version], responses: responses)
            let honest = try RecordRelay(to: server.port)
            #expect(try fetch(host, honest.port, "/whole").text == "until the end\n")
            let passage = try #require(honest.passages.first)
            #expect(passage.hello?.serverName == host)
            #expect(passage.hello?.protocols.contains("http/1.1") == true)
            #expect(passage.fromServer.last?.isAlert == true, "\(version): \(passage.fromServer)")
            let cutting = try RecordRelay(to: server.port, cuttingAt: \.isAlert)
            // curl does not mind; others do.
            #expect(try fetch(host, cutting.port, "/whole").text == "until the end\n")
            let request = Scratch.folder("request") + "/request"
            try Scratch.write("GET /whole HTTP/1.0\r\n\r\n", to: request)
            let options = ["s_client", "-quiet", "-connect", "127.0.0.1:\(cutting.port)"]
            let cut = try Finished.run("openssl", options, input: request)
            #expect(cut.output.hasSuffix("until the end\n"))
            #expect(cut.errorOutput.contains("unexpected eof while reading"), "\(version): \(cut)")
        }
    }

    @Test func `each old protocol is spoken to who asks for it`() throws {
        for (name, option) in [("tls10", "--tlsv1.0"), ("tls11", "--tlsv1.1")] {
            #expect(try fetch(name, path: "/", []).run.status != 0)
            let old = ["--ciphers", "DEFAULT:@SECLEVEL=0", option]
            #expect(try fetch(name, path: "/", old).text == "this is \(name)\n")
        }
    }
}
