import Foundation
import TestSupport
import Testing

/// TLS in intercepted tunnels: the server that clients meet there, the response if that is not the origin, and the
/// operators' messages.
struct InterceptedTLSTests {
    /// An nginx with one server whose certificate is good and one whose is its own.
    private struct Servers {
        let nginx: NginxServer
        let good: UInt16
        let bad: UInt16

        static let host = "client.example.test"

        private static let started = Result { try Servers() }

        static func shared() throws -> Servers { try started.get() }

        private init() throws {
            good = FreePort.take()
            bad = FreePort.take()
            let terms = CertificateTerms(host: Self.host).with { $0.alternatives.append("IP:127.0.0.1") }
            let identity = try ServerIdentity(Hierarchy.shared().issuing.issue(terms))
            let own = try ServerIdentity(CertificateIssuer.selfSigned(terms))
            nginx = try NginxServer([
                .init(port: good, name: "good", identity: identity), .init(port: bad, name: "bad", identity: own),
            ])
        }
    }

    /// Runs a proxy that looks into all tunnels; `authority` is the certificate that its clients trust.
    private func intercepting(
        _ rules: String = "", setting: AttacheProcess.Setting = .init(threads: 1),
        _ body: (_ proxy: AttacheProcess, _ authority: String) throws -> Void
    ) throws {
        var setting = setting
        setting.environment["SSL_CERT_FILE"] = try Hierarchy.shared().root.certificate
        setting.environment["SSL_CERT_DIR"] = Scratch.folder("no-anchors")
        setting.environment["CARES_HOSTS"] = HostsFile.path
        try AttacheProcess.running(rules + "\nroute * { intercept }", setting: setting) { proxy throws in
            try body(proxy, proxy.folder + "/ca.pem")
        }
    }

    private func url(_ port: UInt16, _ path: String = "/", host: String = Servers.host) -> String {
        "https://\(host):\(port)\(path)"
    }

    private func session(_ authority: String, to port: UInt16, through proxy: AttacheProcess, _ options: String...)
        throws -> Finished
    {
        try Finished.run(
            "openssl",
            [
                "s_client", "-proxy", "127.0.0.1:\(proxy.port)", "-connect", "\(Servers.host):\(port)", "-CAfile",
                authority, "-verify_return_error",
            ] + options)
    }

    // MARK: - In good order

    @Test func `the connection that was made for the certificate serves the requests`() throws {
        let servers = try Servers.shared()
        try intercepting { proxy, authority throws in
            let mark = ApacheServer.mark()
            let paths = (1...3).map { url(servers.good, "/\(mark)/\($0)") }
            let run = try Finished.run("curl", ["-q", "-sS", "-x", proxy.address, "--cacert", authority] + paths)
            #expect(run.output == String(repeating: "this is good\n", count: 3), "\(run)")
            let entries = servers.nginx.entries(marked: mark, atLeast: 3)
            #expect(Set(entries.map(\.connection)).count == 1)
            let records = try proxy.records(atLeast: 4)
            #expect(records.map { $0["method"] } == ["CONNECT", "GET", "GET", "GET"])
            #expect(records[0]["tunnel"] == "https")
            #expect(records[0]["target"] == "\(Servers.host):\(servers.good)")
            #expect(records.dropFirst().map { $0["target"] } == paths)
            #expect(records.map { $0["upstream"] } == ["opened", "reused", "reused", "reused"])
        }
    }

    @Test func `a client comes back by its ticket, in another tunnel`() throws {
        let servers = try Servers.shared()
        try intercepting { proxy, authority throws in
            let file = Scratch.folder("session") + "/ticket"
            let request = Scratch.folder("request") + "/head"
            let head = "GET / HTTP/1.1\r\nHost: \(Servers.host):\(servers.good)\r\nConnection: close\r\n\r\n"
            try Scratch.write(head, to: request)
            let run = { (option: String) in
                try Finished.run(
                    "openssl",
                    [
                        "s_client", "-proxy", "127.0.0.1:\(proxy.port)", "-connect",
                        "\(Servers.host):\(servers.good)", "-CAfile", authority, "-verify_return_error", "-ign_eof",
                        option, file,
                    ], input: request)
            }
            let first = try run("-sess_out")
            #expect(first.output.contains("this is good"), "\(first)")
            let second = try run("-sess_in")
            #expect(second.output.contains("Reused, TLSv1.3"), "\(second)")
            #expect(second.output.contains("this is good"), "\(second)")
        }
    }

    @Test func `an address is spoken for too, and a client may name no server`() throws {
        let servers = try Servers.shared()
        try intercepting { proxy, authority throws in
            let options = ["-x", proxy.address, "--cacert", authority]
            let answered = try Curl.fetch(url(servers.good, host: "127.0.0.1"), options)
            #expect(answered.text == "this is good\n", "\(answered)")
            // The same server, and a client that looks for the address as it wrote it.
            let mapped = try Curl.fetch(url(servers.good, host: "[::ffff:127.0.0.1]"), options)
            #expect(mapped.text == "this is good\n", "\(mapped)")
            let shown = try session(authority, to: servers.good, through: proxy, "-noservername")
            #expect(shown.output.contains("subject=CN = \(Servers.host)"), "\(shown)")
        }
    }

    @Test func `the user who opened the tunnel is known in it`() throws {
        let servers = try Servers.shared()
        var setting = AttacheProcess.Setting(clients: "allow 127.0.0.0/8; authenticate basic; users file @/users")
        let made = try Finished.run("htpasswd", ["-nbB", "alice", Account.clientPassword])
        setting.files["users"] = made.output
        try intercepting(setting: setting) { proxy, authority throws in
            let options = ["-x", proxy.address, "--cacert", authority]
            let account = ["-U", "alice:\(Account.clientPassword)"]
            #expect(try Curl.fetch(url(servers.good), options).message.status == 407)
            #expect(try Curl.fetch(url(servers.good), options + account).text == "this is good\n")
            let records = try proxy.records(atLeast: 3)
            // Each thread of the proxy writes its own lines.
            #expect(records.map { $0["user"] ?? "nobody" }.sorted() == ["alice", "alice", "nobody"])
        }
    }

    @Test func `a renewed authority issues the next leaves`() throws {
        let servers = try Servers.shared()
        try intercepting { proxy, authority throws in
            let options = ["-x", proxy.address, "--cacert"]
            #expect(try Curl.fetch(url(servers.good), options + [authority]).run.succeeded)
            let old = proxy.folder + "/old.pem"
            try Scratch.write(Scratch.read(authority), to: old)
            let renewed = try AttacheBinary.run("authority", "renew", "--config", proxy.folder + "/proxy.conf")
            #expect(renewed.succeeded, "\(renewed)")
            let isShown = try Wait.until { try Curl.fetch(url(servers.good), options + [authority]).run.succeeded }
            #expect(isShown, "\(proxy.errorOutput)")
            let refused = try Curl.fetch(url(servers.good), options + [old])
            #expect(refused.run.status == 60, "\(refused)")
        }
    }

    @Test func `large content goes both ways, through a challenge`() throws {
        let apache = try ApacheServer.shared()
        let rules = """
            credential web { user \(Account.user); password file @/password }
            challenge { host \(ApacheServer.secureHost); use web }
            """
        try intercepting(rules) { proxy, authority throws in
            let file = try Payload.file(bytes: 3 << 20)
            let place = url(apache.securePorts.three, "/steady/", host: ApacheServer.secureHost)
            let options = ["-x", proxy.address, "--cacert", authority]
            let sent = try Curl.fetch(place + "upload.cgi", options + ["--data-binary", "@" + file])
            #expect(sent.text == "\(3 << 20) \(try Hash.sha256(ofFile: file))\n", "\(sent)")
            let chunked = ["-H", "Transfer-Encoding: chunked"]
            let again = try Curl.fetch(place + "upload.cgi", options + chunked + ["--data-binary", "@" + file])
            #expect(again.text == sent.text, "\(again)")
            let name = ApacheServer.mark()
            try Scratch.write(Scratch.read(file), to: "\(apache.documents)/open/\(name)")
            let open = url(apache.securePorts.three, "/open/\(name)", host: ApacheServer.secureHost)
            let received = try Curl.fetch(open, options)
            #expect(received.text == Scratch.read(file))
        }
    }

    // MARK: - When it is not the origin

    @Test func `every request to an origin that is not trusted gets the explanation`() throws {
        let servers = try Servers.shared()
        try intercepting { proxy, authority throws in
            let paths = (1...3).map { url(servers.bad, "/\($0)") }
            let run = try Finished.run(
                "curl", ["-q", "-sS", "-i", "-x", proxy.address, "--cacert", authority] + paths)
            #expect(run.succeeded, "\(run)")
            #expect(run.output.components(separatedBy: "HTTP/2 502 ").count == 4, "\(run)")
            #expect(run.output.components(separatedBy: "error=tls_certificate_error").count == 4)
            #expect(run.output.contains("self-signed"))
            let records = try proxy.records(atLeast: 4).dropFirst()
            #expect(records.allSatisfy { $0["error"] == "tls_certificate_error" })
            #expect(records.allSatisfy { $0["trust_findings"]?.contains("self-signed") == true }, "\(proxy.accessLog)")
        }
    }

    @Test func `an origin that cannot be reached is said inside, and tried again`() throws {
        let port = FreePort.take()
        let good = try ServerIdentity(Hierarchy.shared().issuing.issue(CertificateTerms(host: Servers.host)))
        try intercepting { proxy, authority throws in
            let options = ["-q", "-sS", "-x", proxy.address, "--cacert", authority, "-w", "%{http_code}\n"]
            let both = [url(port, "/refused"), url(port, "/refused")]
            let refused = try Finished.run("curl", options + ["-o", "/dev/null", "-o", "/dev/null"] + both)
            #expect(refused.output == "502\n502\n", "\(refused)")
            #expect(try proxy.records(atLeast: 3).dropFirst().allSatisfy { $0["error"] == "connection_refused" })
            let nginx = try NginxServer([.init(port: port, name: "late", identity: good)])
            #expect(try Curl.fetch(url(port), ["-x", proxy.address, "--cacert", authority]).text == "this is late\n")
            withExtendedLifetime(nginx) {}
        }
    }

    @Test func `an address that egress forbids is not dialled`() throws {
        let servers = try Servers.shared()
        let setting = AttacheProcess.Setting(egress: "deny loopback; connect-ports \(servers.good)")
        try intercepting(setting: setting) { proxy, authority throws in
            let options = ["-x", proxy.address, "--cacert", authority]
            let inside = try Curl.fetch(url(servers.good), options)
            #expect(inside.status == 403, "\(inside)")
            #expect(inside["Proxy-Status"]?.contains("destination_ip_prohibited") == true)
            let port = try Curl.fetch(url(servers.bad), options)
            #expect(port.run.status != 0)
            #expect(port.message.status == 403)
        }
    }

    @Test func `a request for another server than the tunnel's is misdirected`() throws {
        let servers = try Servers.shared()
        try intercepting { proxy, authority throws in
            let options = ["-x", proxy.address, "--cacert", authority]
            let host = try Curl.fetch(url(servers.good), options + ["-H", "Host: other.example.test"])
            #expect(host.status == 421)
            #expect(host.text.contains("the tunnel was opened to \(Servers.host) port \(servers.good)"))
            // The tunnel leads to an address, TLS in it asks for a name. The certificate proves it, or not.
            for (name, status) in [(Servers.host, 200), ("other.example.test", 502)] {
                let place = "\(name):\(servers.good):127.0.0.1:\(servers.good)"
                let fetched = try Curl.fetch(url(servers.good, host: name), options + ["--connect-to", place])
                #expect(fetched.status == status, "\(fetched)")
            }
            // The tunnel leads to one name, TLS in it asks for another.
            let elsewhere = "\(Servers.host):\(servers.good):other.example.test:\(servers.good)"
            let name = try Curl.fetch(url(servers.good), options + ["--connect-to", elsewhere])
            #expect(name.status == 421, "\(name)")
            #expect(name.text.contains("TLS in it asks for \(Servers.host)"))
        }
    }

    // MARK: - When it is no TLS

    @Test func `a client that does not trust the authority is logged with what it needs`() throws {
        let servers = try Servers.shared()
        try intercepting { proxy, _ throws in
            let root = try Hierarchy.shared().root.certificate
            let refused = try Curl.fetch(url(servers.good), ["-x", proxy.address, "--cacert", root])
            #expect(refused.run.status == 60, "\(refused)")
            let record = try #require(try proxy.records().first)
            #expect(record["method"] == "CONNECT")
            #expect(record["error"] == "tls_alert_received")
            #expect(record["details"]?.contains("attache authority export") == true, "\(record.line)")
        }
    }

    @Test func `with http2 no, a client that speaks HTTP/2 only is told by an alert, and the log says why`() throws {
        let servers = try Servers.shared()
        try intercepting("route \(Servers.host) { intercept; http2 no }") { proxy, authority throws in
            let refused = try session(authority, to: servers.good, through: proxy, "-alpn", "h2")
            #expect(refused.errorOutput.contains("alert no application protocol"), "\(refused)")
            let record = try #require(try proxy.records().first)
            #expect(record["error"] == "tls_protocol_error")
            #expect(record["details"]?.contains("it must offer http/1.1 by ALPN") == true, "\(record.line)")
            let both = try session(authority, to: servers.good, through: proxy, "-alpn", "h2,http/1.1")
            #expect(both.output.contains("ALPN protocol: http/1.1"), "\(both)")
        }
    }

    @Test func `a name that the authority may not speak for is refused, and the log says why`() throws {
        let servers = try Servers.shared()
        try intercepting("authority { names corp.example }") { proxy, authority throws in
            let refused = try Curl.fetch(url(servers.good), ["-x", proxy.address, "--cacert", authority])
            #expect(refused.run.status != 0)
            let details = try #require(try proxy.records().first?["details"])
            #expect(details.contains("do not allow \(Servers.host)"))
        }
    }

    @Test func `a hello that does not come to its end is not waited for`() throws {
        let servers = try Servers.shared()
        try intercepting("timeouts { head 1s }") { proxy, _ throws in
            let wire = try proxy.connect()
            let place = "\(Servers.host):\(servers.good)"
            try wire.send("CONNECT \(place) HTTP/1.1\r\nHost: \(place)\r\n\r\n")
            #expect(try wire.readResponse(to: "CONNECT").status == 200)
            try wire.send([0x16, 0x03, 0x01, 0x02, 0x00, 0x01, 0x00])
            #expect(try wire.isEnded())
            #expect(try proxy.records().first?["details"]?.contains("did not finish its TLS handshake") == true)
        }
    }
}
