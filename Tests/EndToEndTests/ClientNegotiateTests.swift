import Foundation
import TestSupport
import Testing

/// The proxy's own clients log in by Kerberos, against an MIT KDC; the proxy has the service's key in a keytab.
struct ClientNegotiateTests {
    private func setting(_ realm: KerberosRealm, methods: String = "negotiate", more: String = "")
        -> AttacheProcess.Setting
    {
        AttacheProcess.Setting(
            clients: "allow 127.0.0.0/8; authenticate \(methods); keytab \(realm.serviceKeytab); \(more)",
            environment: realm.environment, files: ["password": Account.password])
    }

    /// curl with a ticket of the user's; the proxy is called by the name that its key is for.
    private func fetch(
        _ proxy: AttacheProcess, _ realm: KerberosRealm, as user: String, from cache: String? = nil,
        _ options: [String], _ urls: String...
    ) throws -> Finished {
        let cache = try cache ?? realm.cache(user)
        let environment = realm.environment.merging(["KRB5CCNAME": "FILE:" + cache]) { $1 }
        return try Finished.run(
            "curl",
            [
                "-q", "-sS", "--max-time", "30", "-x", "http://localhost:\(proxy.port)", "--proxy-negotiate", "-U", ":",
                "-o", "/dev/null", "-w", "%{http_connect}/%{http_code}/%{num_connects} ",
            ] + options + urls, environment: environment, seconds: 40)
    }

    @Test func `curl logs in with a ticket, for requests, uploads and tunnels`() throws {
        let realm = try KerberosRealm.shared()
        let origin = try RecordingOrigin.answering()
        try AttacheProcess.running(setting: setting(realm)) { proxy throws in
            let get = try fetch(proxy, realm, as: "alice", [], origin.url("/a"))
            #expect(get.output == "000/200/1 ", "\(get)")
            let tunnel = try fetch(proxy, realm, as: "bob", ["-p"], origin.url("/b"))
            #expect(tunnel.output.hasPrefix("200/200/"), "\(tunnel)")
            let post = try fetch(
                proxy, realm, as: "alice", ["--data-binary", String(repeating: "x", count: 5000)], origin.url("/c"))
            #expect(post.output == "000/200/1 ", "\(post)")
            #expect(origin.messages.map(\.target) == ["/a", "/b", "/c"])
            #expect(origin.messages.allSatisfy { $0["Proxy-Authorization"] == nil })
            let records = try proxy.records(atLeast: 4).filter { $0["status"] == "200" }
            let users = records.compactMap { $0["user"] }.sorted()
            #expect(users == ["alice", "alice", "bob"].map { realm.principal($0) })
        }
    }

    @Test func `a login holds for the connection, and for no other`() throws {
        let realm = try KerberosRealm.shared()
        let origin = try RecordingOrigin.answering()
        try AttacheProcess.running(setting: setting(realm)) { proxy throws in
            let both = try fetch(
                proxy, realm, as: "alice", ["-o", "/dev/null"], origin.url("/a"), origin.url("/b"))
            #expect(both.output == "000/200/1 000/200/0 ", "\(both)")
            let request = "GET \(origin.url()) HTTP/1.1\r\nHost: 127.0.0.1:\(origin.port)\r\n\r\n"
            #expect(try proxy.exchange(request).status == 407)
        }
    }

    @Test func `only principals that the rules allow may come, and no service that they do not name`() throws {
        let realm = try KerberosRealm.shared()
        let (users, service) = (["alice", "bob"], "HTTP/proxy.example.test")
        for (allowed, admitted) in [
            ("", users), ("allow-principals *@OTHER.TEST", []),
            ("allow-principals \(realm.principal("a*"))", ["alice"]),
            ("allow-principals *@OTHER.TEST \(realm.principal("HTTP/*"))", [service]),
        ] {
            let origin = try RecordingOrigin.answering()
            try AttacheProcess.running(setting: setting(realm, more: allowed)) { proxy throws in
                for name in users + [service] {
                    let run = try fetch(proxy, realm, as: name, ["-D", "/dev/stdout"], origin.url())
                    let isAdmitted = admitted.contains(name)
                    #expect(run.output.contains(isAdmitted ? "000/200/1" : "000/403/1"), "\(allowed): \(run)")
                    let words = "the principal \(realm.principal(name)) may not use this proxy"
                    #expect(run.output.contains(words) != isAdmitted, "\(run)")
                }
                #expect(origin.messages.count == admitted.count)
            }
        }
    }

    @Test func `a client without a ticket for this service is challenged`() throws {
        let realm = try KerberosRealm.shared()
        let origin = try RecordingOrigin.answering()
        try AttacheProcess.running(setting: setting(realm)) { proxy throws in
            let bare = try proxy.get(origin.url())
            #expect(bare.status == 407)
            #expect(bare["Proxy-Authenticate"] == "Negotiate")
            let ntlm = Data("NTLMSSP\0\u{1}\0\0\0\u{7}\0\0\0".utf8).base64EncodedString()
            for token in ["", "!!!", "YIIB", ntlm] {
                let refused = try proxy.get(origin.url(), "-H", "Proxy-Authorization: Negotiate \(token)")
                #expect(refused.status == 407, "\(token): \(refused)")
                #expect(refused["Proxy-Authenticate"] == "Negotiate")
            }
            #expect(origin.requests.isEmpty)
        }
    }

    /// The last token of the login goes with the first response, so that the client knows the proxy (RFC 4559 section 4.1).
    @Test func `the proxy proves itself as well`() throws {
        let realm = try KerberosRealm.shared()
        let origin = try RecordingOrigin.answering()
        try AttacheProcess.running(setting: setting(realm)) { proxy throws in
            for options in [[], ["-p"]] {
                let run = try fetch(proxy, realm, as: "alice", ["-D", "/dev/stdout"] + options, origin.url())
                let lines = run.output.split(separator: "\r\n").filter { $0.hasPrefix("Proxy-Authenticate: ") }
                #expect(lines.count == 1, "curl sends its token unasked: \(run)")
                #expect(lines.first?.hasPrefix("Proxy-Authenticate: Negotiate ") == true)
            }
        }
    }

    @Test func `a login goes over TLS as well`() throws {
        let realm = try KerberosRealm.shared()
        let origin = try RecordingOrigin.answering()
        let port = FreePort.take()
        let identity = try Hierarchy.shared().issuing.issue(CertificateTerms(host: "localhost"))
        var setting = setting(realm)
        setting.files = ["proxy.pem": Scratch.read(try identity.chain()), "proxy.key": Scratch.read(identity.key)]
        let listener = "listen 127.0.0.1:\(port) tls certificate @/proxy.pem key @/proxy.key"
        try AttacheProcess.running(listener, setting: setting) { proxy throws in
            let options = [
                "-x", "https://localhost:\(port)", "--proxy-cacert", try Hierarchy.shared().root.certificate,
            ]
            for more in [[], ["-p"]] {
                let run = try fetch(proxy, realm, as: "bob", options + more, origin.url())
                #expect(run.output.contains("/200/"), "\(run)")
            }
            #expect(try proxy.records(atLeast: 2).contains { $0["user"] == realm.principal("bob") })
        }
    }

    /// SPNEGO that names Kerberos and brings no token yet (RFC 4178 section 4.2.1).
    @Test func `a login may take several steps, all on one connection`() throws {
        let realm = try KerberosRealm.shared()
        let origin = try RecordingOrigin.answering()
        let first: [UInt8] =
            [
                0x60, 0x1B, 0x06, 0x06, 0x2B, 0x06, 0x01, 0x05, 0x05, 0x02, 0xA0, 0x11, 0x30, 0x0F, 0xA0, 0x0D, 0x30,
                0x0B,
            ]
            + [0x06, 0x09, 0x2A, 0x86, 0x48, 0x86, 0xF7, 0x12, 0x01, 0x02, 0x02]
        let request = { (token: [UInt8]) in
            """
            GET \(origin.url()) HTTP/1.1\r\nHost: 127.0.0.1:\(origin.port)\r\n\
            Proxy-Authorization: Negotiate \(Data(token).base64EncodedString())\r\n\r\n
            """
        }
        try AttacheProcess.running(setting: setting(realm, methods: "negotiate")) { proxy throws in
            let wire = try proxy.connect()
            for _ in 0..<2 {
                try wire.send(request(first))
                let goesOn = try wire.readResponse()
                #expect(goesOn.status == 407)
                #expect(goesOn["Proxy-Authenticate"]?.hasPrefix("Negotiate o") == true, "\(goesOn)")
                #expect(goesOn["Connection"] == nil)
                try wire.send(request([0xA1, 0x03, 0x30, 0x01, 0x00]))
                let ended = try wire.readResponse()
                #expect(ended.status == 407)
                #expect(ended["Proxy-Authenticate"] == "Negotiate")
            }
            #expect(origin.requests.isEmpty)
        }
    }

    @Test func `another scheme beside it is still good`() throws {
        let realm = try KerberosRealm.shared()
        let origin = try RecordingOrigin.answering()
        var setting = setting(realm, methods: "negotiate basic", more: "users file @/users")
        setting.files["users"] = try UsersLines.of("carol")
        try AttacheProcess.running(setting: setting) { proxy throws in
            #expect(try proxy.get(origin.url(), "-U", "carol:\(Account.clientPassword)").status == 200)
            #expect(try fetch(proxy, realm, as: "alice", [], origin.url()).output == "000/200/1 ")
        }
    }

    @Test func `a keytab that comes later is taken up`() throws {
        let realm = try KerberosRealm.shared()
        let origin = try RecordingOrigin.answering()
        var setting = setting(realm)
        setting.clients = "allow 127.0.0.0/8; authenticate negotiate; keytab @/http.keytab"
        try AttacheProcess.running(setting: setting) { proxy throws in
            #expect(proxy.awaitErrorOutput("http.keytab cannot be used"))
            #expect(try fetch(proxy, realm, as: "alice", [], origin.url()).output == "000/500/1 ")
            try FileManager.default.copyItem(atPath: realm.serviceKeytab, toPath: proxy.folder + "/http.keytab")
            let isUp = try Wait.until {
                try fetch(proxy, realm, as: "alice", [], origin.url()).output == "000/200/1 "
            }
            #expect(isUp)
        }
    }

    @Test func `a keytab that is rotated is taken up, and a ticket for the old key is refused`() throws {
        let realm = try KerberosRealm()
        let origin = try RecordingOrigin.answering()
        try AttacheProcess.running(setting: setting(realm)) { proxy throws in
            let old = try realm.cache("alice")
            #expect(try fetch(proxy, realm, as: "alice", from: old, [], origin.url()).output == "000/200/1 ")
            try realm.rotate("HTTP/localhost", in: realm.serviceKeytab)
            let isTakenUp = try Wait.until {
                try fetch(proxy, realm, as: "bob", [], origin.url()).output == "000/200/1 "
            }
            #expect(isTakenUp, "\(proxy.errorOutput)")
            let late = try fetch(proxy, realm, as: "alice", from: old, ["-D", "/dev/stdout"], origin.url())
            #expect(late.output.contains("000/407/1"), "\(late)")
            #expect(late.output.contains("the Kerberos ticket was refused; get another"), "\(late)")
            let isExplained = try Wait.until {
                try proxy.records().contains { $0["details"]?.contains("not found in keytab") ?? false }
            }
            #expect(isExplained)
        }
    }

    @Test func `a client whose clock differs is told so`() throws {
        let realm = try KerberosRealm.shared()
        let origin = try RecordingOrigin.answering()
        var setting = setting(realm)
        setting.environment = realm.environment(isSkewed: true)
        try AttacheProcess.running(setting: setting) { proxy throws in
            let run = try fetch(proxy, realm, as: "alice", ["-D", "/dev/stdout"], origin.url())
            #expect(run.output.contains("000/407/1"), "\(run)")
            #expect(run.output.contains("the client's clock differs from this proxy's"), "\(run)")
        }
    }
}
