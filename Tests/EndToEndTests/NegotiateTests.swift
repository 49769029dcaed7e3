import Foundation
import TestSupport
import Testing

/// Negotiate with tickets of an MIT KDC, at an Apache httpd with mod_auth_gssapi.
struct NegotiateTests {
    private func logging(
        in realm: KerberosRealm, by credential: String, rules: String = "method negotiate; use svc",
        more: String = "", files: [String: String] = ["password": Account.password + "\n"],
        _ body: (AttacheProcess) throws -> Void
    ) throws {
        let text = """
            credential svc { kerberos \(credential) }
            challenge { host localhost; \(rules) }
            \(more)
            """
        try AttacheProcess.running(text, setting: .init(environment: realm.environment, files: files), body)
    }

    private func keytab(_ realm: KerberosRealm, of user: String = "alice") -> String {
        "\(realm.principal(user)); keytab \(realm.keytab(user))"
    }

    /// Makes `count` requests of one client, one after the other, and returns their statuses.
    private func fetch(_ count: Int, _ url: String, _ proxy: AttacheProcess) throws -> [String] {
        let urls = Array(repeating: [url, "-o", "/dev/null"], count: count).flatMap { $0 }
        let run = try Finished.run(
            "curl", ["-q", "-sS", "-m", "60", "-x", proxy.address, "-w", "%{http_code}\n"] + urls)
        return run.output.split(separator: "\n").map(String.init)
    }

    @Test func `a keytab logs in, and nothing else is needed`() throws {
        let server = try KerberosServer.shared()
        let mark = ApacheServer.mark()
        try logging(in: server.realm, by: keytab(server.realm)) { proxy throws in
            let fetched = try proxy.get(server.url("/request/?\(mark)"))
            #expect(fetched.status == 200, "\(fetched) \(proxy.errorOutput)")
            let entries = server.entries(marked: mark, atLeast: 2)
            #expect(entries.map(\.status) == [401, 200])
            #expect(entries.last?.user == server.realm.principal("alice"))
            let record = try proxy.records().first
            #expect(record?["scheme"] == "negotiate")
            #expect(record?["credential"] == "svc")
        }
    }

    @Test func `a server that wants a token with every request gets one with every request`() throws {
        let server = try KerberosServer.shared()
        let mark = ApacheServer.mark()
        try logging(in: server.realm, by: keytab(server.realm)) { proxy throws in
            for _ in 1...2 {
                #expect(try fetch(6, server.url("/request/?\(mark)"), proxy) == Array(repeating: "200", count: 6))
            }
            let entries = server.entries(marked: mark, atLeast: 14)
            // It challenges the first request, and the first that relies on a login before it; then never again.
            #expect(entries.map(\.status) == [401, 200, 401] + Array(repeating: 200, count: 11))
            #expect(entries.filter { $0.status == 200 }.allSatisfy { $0.scheme == "Negotiate" })
            // One that is logged in serves every client of its loop.
            #expect(Set(entries.map(\.connection)).count <= 2)
        }
    }

    @Test func `a server that keeps the login gets one token for the connection`() throws {
        let server = try KerberosServer.shared()
        let mark = ApacheServer.mark()
        try logging(in: server.realm, by: keytab(server.realm)) { proxy throws in
            #expect(try fetch(6, server.url("/connection/?\(mark)"), proxy) == Array(repeating: "200", count: 6))
            let entries = server.entries(marked: mark, atLeast: 7)
            #expect(entries.map(\.status) == [401] + Array(repeating: 200, count: 6))
            #expect(entries.map(\.scheme) == ["-", "Negotiate"] + Array(repeating: "-", count: 5))
            #expect(entries.dropFirst().allSatisfy { $0.user == server.realm.principal("alice") })
        }
    }

    @Test(arguments: ["a principal", "a user"])
    func `a password logs in`(kind: String) throws {
        let server = try KerberosServer.shared()
        let password = try #require(Account.principals["bob"])
        let name = server.realm.principal("bob")
        let credential = kind == "a user" ? "user \(name)" : "kerberos \(name)"
        let rules = """
            credential svc { \(credential); password file @/secret }
            challenge { host localhost; method negotiate; use svc }
            """
        let setting = AttacheProcess.Setting(environment: server.realm.environment, files: ["secret": password + "\n"])
        try AttacheProcess.running(rules, setting: setting) { proxy throws in
            let fetched = try proxy.get(server.url("/bob/"))
            #expect(fetched.status == 200, "\(fetched) \(proxy.errorOutput)")
        }
    }

    @Test func `a ticket cache that is late is no refusal`() throws {
        let server = try KerberosServer.shared()
        let path = server.realm.folder + "/late.\(UUID().uuidString)"
        try logging(in: server.realm, by: "\(server.realm.principal("alice")); ccache \(path)") { proxy throws in
            let fetched = try proxy.get(server.url("/request/"))
            #expect(fetched.status == 502)
            #expect(fetched.text.contains("credential svc has no ticket for HTTP/localhost"), "\(fetched)")
            rename(try server.realm.cache("alice"), path)
            let isThere = try Wait.until { try proxy.get(server.url("/request/")).status == 200 }
            #expect(isThere, "\(proxy.errorOutput)")
        }
    }

    @Test func `a wrong password is shown to the KDC once, whoever asks for it`() throws {
        let server = try KerberosServer.shared()
        let realm = try KerberosRealm()
        let credential = "\(realm.principal("bob")); password file @/secret"
        let more = "challenge { host 127.0.0.1; spn HTTP/localhost; use svc }"
        let files = ["secret": Account.wrongPassword + "\n"]
        try logging(in: realm, by: credential, more: more, files: files) { proxy throws in
            let statuses = try Parallel.fetch(20, server.url("/request/"), through: proxy)
            #expect(statuses == Array(repeating: 401, count: 20))
            let again = try proxy.get("http://127.0.0.1:\(server.port)/request/")
            #expect(again.status == 401)
            #expect(again["Proxy-Status"]?.contains("svc") == true, "\(again)")
            #expect(realm.requests("PREAUTH_FAILED", of: "bob").count == 1)
            let words = "credential svc was refused (the KDC refused the password of bob@ATTACHE.TEST)"
            #expect(proxy.awaitErrorOutput(words), "\(proxy.errorOutput)")
            let retry = { (server: String) in
                try AttacheBinary.run(
                    "credential", "retry", server, "--config", "proxy.conf", directory: proxy.folder)
            }
            #expect(try retry("krb5:OTHER.TEST").output.isEmpty)
            #expect(try retry("krb5:\(KerberosRealm.name)").output == "svc is sent again from now on\n")
            _ = try proxy.get("http://127.0.0.1:\(server.port)/request/")
            #expect(realm.requests("PREAUTH_FAILED", of: "bob").count == 2)
            try proxy.replace("secret", with: "B0b-Ticket-Pass\n")
            // The server is another realm's: that it is asked for at all is what has changed.
            let isUnparked = try Wait.until {
                _ = try proxy.get(server.url("/request/"))
                return realm.requests("TGS_REQ", of: "bob").count > 0
            }
            #expect(isUnparked, "\(proxy.errorOutput)")
        }
    }

    @Test func `tickets that a server goes on to take do not let another server refuse the password over and over`()
        throws
    {
        let server = try KerberosServer.shared()
        let user = server.realm.principal("bob")
        let sentry = BasicGuard(Account.principals["bob"] ?? "", of: user)
        let origin = try RecordingOrigin.guarded(by: sentry)
        let rules = """
            credential svc { user \(user); password file @/secret }
            challenge { host localhost; method negotiate; use svc }
            challenge { host 127.0.0.1; method basic; retry 1s; use svc }
            """
        let files = ["secret": (Account.principals["bob"] ?? "") + "\n"]
        let setting = AttacheProcess.Setting(environment: server.realm.environment, files: files)
        try AttacheProcess.running(rules, setting: setting) { proxy throws in
            #expect(try proxy.get(server.url("/request/")).status == 200)
            #expect(try proxy.get(origin.url("/first")).status == 200)
            sentry.change(to: Account.wrongPassword)
            var list = ""
            let isHeld = try Wait.until {
                #expect(try proxy.get(origin.url("/next")).status == 401)
                #expect(try proxy.get(server.url("/request/")).status == 200)
                list = try AttacheBinary.run(
                    "credential", "list", "--config", "proxy.conf", directory: proxy.folder
                ).output
                return list.contains("krb5:\(KerberosRealm.name): held since ") || sentry.refused > 4
            }
            #expect(isHeld && sentry.refused == 4, "\(sentry.refused) \(list)")
            #expect(list.contains(":\(server.port): accepted"), "\(list)")
        }
    }

    @Test func `a principal that may not come in is not parked, and the login does not loop`() throws {
        let server = try KerberosServer.shared()
        let mark = ApacheServer.mark()
        try logging(in: server.realm, by: keytab(server.realm)) { proxy throws in
            for _ in 1...2 {
                let fetched = try proxy.get(server.url("/bob/?\(mark)"))
                #expect(fetched.status == 401)
                #expect(
                    fetched["Proxy-Status"]?.contains("the server did not accept the negotiate login") == true,
                    "\(fetched)")
            }
            #expect(server.entries(marked: mark, atLeast: 2).count <= 6)
            #expect(try proxy.get(server.url("/request/")).status == 200)
            #expect(!proxy.errorOutput.contains("was refused"))
        }
    }

    @Test func `the service is the one that the rule names, else that of the host in the URL`() throws {
        let server = try KerberosServer.shared()
        let url = "http://127.0.0.1:\(server.port)/request/"
        let more = "challenge { host 127.0.0.1; port \(server.port); spn HTTP/localhost; use svc }"
        try logging(in: server.realm, by: keytab(server.realm), more: more) { proxy throws in
            #expect(try proxy.get(url).status == 200)
        }
        try logging(in: server.realm, by: keytab(server.realm), more: "challenge { host 127.0.0.1; use svc }") {
            proxy throws in
            let fetched = try proxy.get(url)
            #expect(fetched.status == 502)
            #expect(
                fetched.text.contains(
                    "credential svc has no ticket for HTTP/127.0.0.1: the KDC knows no service HTTP/127.0.0.1"),
                "\(fetched)")
        }
    }

    @Test(arguments: [true, false])
    func `of three challenges the next is answered, with a ticket that is of no use and without one`(
        hasTicket: Bool
    ) throws {
        let server = try KerberosServer.shared()
        let mark = ApacheServer.mark()
        let more = """
            credential web { user \(Account.user); password file @/password }
            challenge { host localhost; method digest basic; use web }
            """
        let missing = "\(server.realm.principal("alice")); ccache /nonexistent"
        try logging(in: server.realm, by: hasTicket ? keytab(server.realm) : missing, more: more) { proxy throws in
            #expect(try fetch(3, server.url("/three/?\(mark)"), proxy) == ["200", "200", "200"])
            let schemes = (hasTicket ? ["-", "Negotiate"] : ["-"]) + ["Digest", "Digest", "Digest"]
            #expect(server.entries(marked: mark, atLeast: schemes.count).map(\.scheme) == schemes)
            #expect(try proxy.get(server.url("/either/")).status == 200)
        }
    }

    @Test func `a ticket is given away only where a rule says delegate`() throws {
        let server = try KerberosServer.shared()
        let rules = """
            credential alice { kerberos \(keytab(server.realm)) }
            credential bob { kerberos \(keytab(server.realm, of: "bob")) }
            challenge { host localhost; use alice; delegate yes }
            challenge { host 127.0.0.1; spn HTTP/localhost; use bob }
            """
        try AttacheProcess.running(rules, setting: .init(environment: server.realm.environment)) { proxy throws in
            for url in [server.url("/delegation/"), "http://127.0.0.1:\(server.port)/delegation/"] {
                #expect(try proxy.get(url).status == 200, "\(proxy.errorOutput)")
            }
            let given = try #require(try server.delegated(by: "alice"))
            #expect(given.contains("krbtgt/\(KerberosRealm.name)@\(KerberosRealm.name)"), "\(given)")
            #expect(given.contains("Flags: Ff"), "\(given)")
            #expect(try server.delegated(by: "bob") == nil)
        }
    }

    @Test(arguments: ["HTTP/localhost", "HTTP/localhost@ATTACHE.TEST", "HTTP@localhost"])
    func `a ticket is got for the service that a rule names`(name: String) throws {
        let server = try KerberosServer.shared()
        try logging(
            in: server.realm, by: keytab(server.realm),
            more: "challenge { host 127.0.0.1; spn \(name); use svc }"
        ) { proxy throws in
            let fetched = try proxy.get("http://127.0.0.1:\(server.port)/request/")
            #expect(fetched.status == 200, "\(fetched) \(proxy.errorOutput)")
        }
    }

    @Test(.enabled(if: AttacheProcess.hasOwnHosts, "needs root"))
    func `the name behind an alias is the service's where a rule says canonicalise, else the alias`() throws {
        let server = try KerberosServer.shared()
        let rules = """
            credential svc { kerberos \(keytab(server.realm)) }
            challenge { host alias.example.test; use svc; canonicalise yes }
            challenge { host other.example.test; use svc }
            """
        let setting = AttacheProcess.Setting(
            environment: server.realm.environment, hosts: "127.0.0.1 localhost alias.example.test other.example.test\n")
        try AttacheProcess.running(rules, setting: setting) { proxy throws in
            let url = { (host: String) in "http://\(host).example.test:\(server.port)/request/" }
            let canonical = try proxy.get(url("alias"))
            #expect(canonical.status == 200, "\(canonical) \(proxy.errorOutput)")
            let other = try proxy.get(url("other"))
            #expect(other.status == 502)
            #expect(other.text.contains("the KDC knows no service HTTP/other.example.test"), "\(other)")
        }
    }

    /// Several uploads of one client, one after the other: the space is not known yet, then it is.
    private func expectArrival(bytes count: Int, in location: String, isChunked: Bool) throws {
        let server = try KerberosServer.shared()
        let mark = ApacheServer.mark()
        let file = try Payload.file(bytes: count)
        let expected = "\(count) \(try Hash.sha256(ofFile: file))"
        try logging(in: server.realm, by: keytab(server.realm)) { proxy throws in
            let framing = isChunked ? ["-H", "Transfer-Encoding: chunked"] : []
            var uploads: [String] = []
            for pass in 1...3 {
                if pass > 1 { uploads.append("--next") }
                uploads += ["-X", "POST", "-T", file, "-o", "/dev/null", "-w", "%{http_code}\n"] + framing
                uploads += ["-sS", "-x", proxy.address, server.url("/\(location)/upload.cgi?\(mark)-\(pass)")]
            }
            let run = try Finished.run("curl", ["-q", "-m", "300"] + uploads, seconds: 310)
            #expect(run.output == "200\n200\n200\n", "\(run)")
            let arrived = Scratch.read(server.folder + "/uploads/arrived").split(separator: "\n")
                .filter { $0.hasPrefix(mark) }.map { String($0.drop { $0 != " " }.dropFirst()) }
            #expect(arrived == [expected, expected, expected])
        }
    }

    @Test(arguments: ["request", "connection"], [true, false])
    func `1 MiB arrives once and whole`(location: String, isChunked: Bool) throws {
        try expectArrival(bytes: 1 << 20, in: location, isChunked: isChunked)
    }

    @Test(arguments: ["request", "connection"])
    func `32 MiB, or as many as asked for, arrive once and whole`(location: String) throws {
        let megabytes = ProcessInfo.processInfo.environment["ATTACHE_NEGOTIATE_MEGABYTES"].flatMap { Int($0) } ?? 32
        try expectArrival(bytes: megabytes << 20, in: location, isChunked: false)
    }

    @Test func `64 clients of two principals are never taken for each other`() throws {
        let server = try KerberosServer.shared()
        let mark = ApacheServer.mark()
        let rules = """
            credential alice { kerberos \(keytab(server.realm)) }
            credential bob { kerberos \(keytab(server.realm, of: "bob")) }
            challenge { host localhost; use alice }
            challenge { host 127.0.0.1; spn HTTP/localhost; use bob }
            """
        try AttacheProcess.running(rules, setting: .init(environment: server.realm.environment)) { proxy throws in
            let alice = try Parallel.fetch(150, server.url("/connection/?\(mark)-alice"), through: proxy)
            let bob = try Parallel.fetch(
                150, "http://127.0.0.1:\(server.port)/request/?\(mark)-bob", through: proxy)
            #expect(alice + bob == Array(repeating: 200, count: 300), "\(proxy.errorOutput)")
            for user in ["alice", "bob"] {
                let entries = server.entries(marked: "\(mark)-\(user)", atLeast: 150).filter { $0.status == 200 }
                #expect(entries.count == 150)
                #expect(Set(entries.map(\.user)) == [server.realm.principal(user)])
            }
        }
    }
}
