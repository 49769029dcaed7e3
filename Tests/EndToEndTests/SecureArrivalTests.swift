import Foundation
import TestSupport
import Testing

/// `listen … tls`: what becomes of clients before their first request.
struct SecureArrivalTests {
    /// A listener with TLS beside the plain one.
    private struct Listener {
        let port = FreePort.take()
        let identity: ServerIdentity
        /// Copies, which a test may replace.
        let files: [String: String]

        init() throws {
            identity = try ServerIdentity(Hierarchy.shared().issuing.issue(CertificateTerms(host: "localhost")))
            files = [
                "proxy.pem": Scratch.read(identity.chain), "proxy.key": Scratch.read(identity.leaf.key),
                "clients.pem": Scratch.read(try Hierarchy.shared().root.certificate),
                "password": Account.password + "\n",
            ]
        }

        var setting: AttacheProcess.Setting {
            AttacheProcess.Setting(files: files)
        }

        func rules(_ clients: String = "") -> String {
            "listen 127.0.0.1:\(port) tls certificate @/proxy.pem key @/proxy.key \(clients)\n"
        }

        /// The options that curl needs to use the proxy.
        func options(_ more: String...) throws -> [String] {
            let root = try Hierarchy.shared().root.certificate
            return ["-x", "https://localhost:\(port)", "--proxy-cacert", root] + more
        }
    }

    @Test func `a client that speaks HTTP in clear is told so`() throws {
        let listener = try Listener()
        try AttacheProcess.running(listener.rules(), setting: listener.setting) { proxy throws in
            let wire = try Wire(to: listener.port)
            try wire.send("GET http://127.0.0.1:1/ HTTP/1.1\r\nHost: 127.0.0.1:1\r\n\r\n")
            let answered = try wire.readResponse()
            #expect(answered.status == 400)
            #expect(answered.text.contains("this port of the proxy speaks TLS"))
            #expect(try wire.isEnded())
            #expect(try proxy.records().first?.status == 400)
        }
    }

    @Test func `a certificate proves who the client is`() throws {
        let apache = try ApacheServer.shared()
        let listener = try Listener()
        var setting = listener.setting
        setting.clients = "allow 127.0.0.0/8; authenticate basic; users file @/users"
        setting.files["users"] = try Self.users()
        let rules = listener.rules("clients @/clients.pem") + Self.challenge(apache.port, client: "client-good")
        try AttacheProcess.running(rules, setting: setting) { proxy throws in
            let shown = try Self.showing(ClientCertificate.good)
            let known = try Curl.fetch(apache.url("/basic/"), try listener.options() + shown)
            #expect(known.text == "this is basic\n", "\(known)")
            #expect(try proxy.records().last?["user"] == "client-good")
            // Whom the rules do not know gets no credential, and who shows nothing is asked for a password.
            let other = try Curl.fetch(
                apache.url("/basic/"), try listener.options() + Self.showing(ClientCertificate.rsa))
            #expect(other.status == 401, "\(other)")
            #expect(try Curl.fetch(apache.url("/basic/"), listener.options()).status == 407)
            let refused = try Curl.fetch(
                apache.url("/basic/"), try listener.options() + Self.showing(ClientCertificate.elsewhere))
            #expect(refused.status == 0)
            let isLogged = try Wait.until { try proxy.records().contains { $0["error"] == "tls_protocol_error" } }
            #expect(isLogged, "\(proxy.accessLog)")
        }
    }

    @Test func `a listener may insist on a certificate`() throws {
        let apache = try ApacheServer.shared()
        let listener = try Listener()
        let rules = listener.rules("clients @/clients.pem required")
        try AttacheProcess.running(rules, setting: listener.setting) { _ throws in
            let refused = try Curl.fetch(apache.url("/open/"), listener.options())
            #expect(refused.status == 403, "\(refused)")
            let served = try Curl.fetch(
                apache.url("/open/"), try listener.options() + Self.showing(ClientCertificate.good))
            #expect(served.status == 200, "\(served)")
        }
    }

    @Test func `a client that does not trust the listener is logged with a hint`() throws {
        let listener = try Listener()
        try AttacheProcess.running(listener.rules(), setting: listener.setting) { proxy throws in
            let wrong = try Hierarchy.shared().elsewhere.certificate
            let refused = try Curl.fetch(
                "http://127.0.0.1:1/", ["-x", "https://localhost:\(listener.port)", "--proxy-cacert", wrong])
            #expect(refused.status == 0)
            let record = try #require(try proxy.records().first)
            #expect(record["error"] == "tls_alert_received")
            #expect(record["details"]?.contains("the client does not trust the proxy's certificate") == true)
        }
    }

    @Test func `a key that does not belong to the certificate refuses the start`() throws {
        let listener = try Listener()
        let other = try Hierarchy.shared().issuing.issue(CertificateTerms(host: "localhost"))
        var setting = listener.setting
        setting.files["proxy.key"] = Scratch.read(other.key)
        let error = try #require(throws: (any Error).self) {
            try AttacheProcess.running(listener.rules(), setting: setting) { _ in }
        }
        #expect("\(error)".contains("the private key does not belong to the certificate"), "\(error)")
    }

    @Test func `a client that says nothing is not waited for`() throws {
        let listener = try Listener()
        try AttacheProcess.running(
            listener.rules() + "timeouts { head 1s }", setting: listener.setting
        ) { _ throws in
            #expect(try Wire(to: listener.port).isEnded())
            let wire = try Wire(to: listener.port)
            try wire.send([0x16, 0x03, 0x01, 0x02, 0x00, 0x01])
            #expect(try wire.isEnded())
        }
    }

    private static func showing(_ identity: Result<IssuedCertificate, any Error>) throws -> [String] {
        let identity = try identity.get()
        return ["--proxy-cert", try identity.chain(), "--proxy-key", identity.key]
    }

    private static func users() throws -> String {
        let made = try Finished.run("htpasswd", ["-nbB", Account.user, Account.clientPassword])
        return made.output
    }

    private static func challenge(_ port: UInt16, client: String) -> String {
        """
        credential web { user \(Account.user); password file @/password }
        challenge { host 127.0.0.1; port \(port); client \(client); use web }
        """
    }
}
