import Foundation
import TestSupport
import Testing

/// Secrets of every kind are planted, requests succeed, fail and are refused with all of them, and everything that the
/// program has written anywhere is searched for every form of every one of them.
struct SecretSearchTests {
    private static let secrets = [
        PlantedSecret(kind: "literal", value: "L1teral /+é%planted", user: "lit"),
        PlantedSecret(kind: "file", value: "F1le /+é%planted", user: "fil"),
        PlantedSecret(kind: "variable", value: "V4riable /+é%planted", user: "var"),
        PlantedSecret(kind: "Digest", value: "D1gest /+é%planted", user: "dig"),
        PlantedSecret(kind: "NTLM", value: "Nt1m /+é%planted", user: "DOM\\ntl"),
        PlantedSecret(kind: "token", value: "T0ken/+~planted=="),
        PlantedSecret(kind: "client secret", value: "Cl1entSecret /+é%planted", user: "crm"),
        PlantedSecret(kind: "fetched token", value: TokenServer.stem),
        PlantedSecret(kind: "signing key", value: "S1gningKey/+planted"),
        PlantedSecret(kind: "consumer secret", value: "C0nsumerSecret/+é%planted"),
        PlantedSecret(kind: "token secret", value: "T0kenSecret/+é%planted"),
        PlantedSecret(kind: "session token", value: "S3ssionToken/+planted=="),
        PlantedSecret(kind: "placed", value: "Pl4ced /+é%planted"),
        PlantedSecret(kind: "passphrase", value: ClientCertificate.passphrase),
        PlantedSecret(kind: "stored", value: "St0red /+é%planted", user: "sto"),
        PlantedSecret(kind: "stored token", value: "St0redToken/+~planted=="),
        PlantedSecret(kind: "stored key", value: storedKey),
        PlantedSecret(kind: "imported", value: "Imp0rted /+é%planted", user: "imp"),
        PlantedSecret(kind: "URL", value: "Ur1 /+é%planted", user: "url"),
        PlantedSecret(kind: "learned", value: "Le4rned /+é%planted", user: "own"),
        PlantedSecret(kind: "client", value: Account.clientPassword, user: "ann"),
        PlantedSecret(kind: "wrong client", value: "Wr0ngClient /+é%planted", user: "ann"),
        PlantedSecret(kind: "client token", value: "Cl1entToken/+~planted=="),
        PlantedSecret(kind: "wrong client token", value: "Wr0ngToken/+~planted=="),
        PlantedSecret(kind: "Kerberos", value: Account.principals["planted"] ?? "", user: principal),
        PlantedSecret(kind: "wrong Kerberos", value: "Wr0ngTicket/+é%planted", user: principal),
        PlantedSecret(kind: "nonce key", value: String(repeating: "40ce5e", count: 10) + "5a5a"),
        PlantedSecret(kind: "store key", value: String(repeating: "5ec2e7", count: 10) + "a5a5"),
    ]

    /// A line of the key that is kept with a certificate.
    private static let storedKey: String = {
        let lines = (try? ClientCertificate.rsa.get()).map { Scratch.read($0.key).split(separator: "\n") } ?? []
        return lines.dropFirst(3).first.map(String.init) ?? "no key"
    }()

    private static let principal = "planted@\(KerberosRealm.name)"

    private static func secret(_ kind: String) -> String { secrets.first { $0.kind == kind }?.value ?? "" }

    /// An origin that accepts any answer, but none below `/bad`.
    private func guarded(_ challenge: String) throws -> RecordingOrigin {
        try RecordingOrigin.answering { request, connection in
            if request.target.hasPrefix("/drop") { return connection.wire.close() }
            let isLetIn = request["Authorization"] != nil && !request.target.hasPrefix("/bad")
            try connection.reply(
                isLetIn ? "200 OK" : "401 Unauthorized", isLetIn ? [] : ["WWW-Authenticate: \(challenge)"], "content")
        }
    }

    /// An origin that accepts a key in a field and in the query, and repeats the whole URL; below `/bad` it accepts
    /// none.
    private func placed() throws -> RecordingOrigin {
        try RecordingOrigin.answering { request, connection in
            if request.target.hasPrefix("/drop") { return connection.wire.close() }
            let hasKey = request["X-Api-Key"] != nil && request.target.contains("key=")
            let isLetIn = hasKey && !request.target.hasPrefix("/bad")
            try connection.reply(
                isLetIn ? "302 Found" : "401 Unauthorized", isLetIn ? ["Location: \(request.target)&again=1"] : [],
                "content")
        }
    }

    private struct Site {
        let name: String
        let origin: RecordingOrigin
        /// The answer in its rule.
        let answer: String
    }

    private func sites(_ tokens: TokenServer) throws -> [Site] {
        let basic = "Basic realm=\"r\""
        let digest = "Digest realm=\"r\", nonce=\"abc\", qop=\"auth\", algorithm=SHA-256"
        let challenges = [
            ("lit", basic, "use lit"), ("fil", basic, "use fil"), ("var", basic, "use var"), ("dig", digest, "use dig"),
            ("ntl", "NTLM", "use ntl"), ("tok", "Bearer realm=\"r\"", "use tok"), ("aws", basic, "use cloud"),
            ("oa1", "OAuth realm=\"r\"", "use shop"), ("oap", "OAuth realm=\"r\"", "use plain"),
            ("sto", basic, "default"), ("stk", "Bearer realm=\"r\"", "default"), ("imp", basic, "default"),
            ("url", basic, "default"),
            ("own", basic, "method basic; learn yes; default"),
            ("odd", "Basic realm=\"r\", Digest nonce=, ,=\"\"", "use lit"),
        ]
        return try challenges.map { Site(name: $0, origin: try guarded($1), answer: $2) }
            + [
                Site(name: "crm", origin: tokens.api, answer: "use crm"),
                Site(name: "plc", origin: try placed(), answer: "use plc"),
            ]
    }

    private func rules(_ sites: [Site], _ tokens: TokenServer) throws -> String {
        let identity = try ClientCertificate.good.get()
        let key = try ClientCertificate.encryptedKey(of: identity)
        return """
            store sqlite @/store/credentials.db { key env STORE_KEY }
            credential lit { user lit; password "\(Self.secret("literal"))" }
            credential fil { user fil; password file @/fil }
            credential var { user var; password env PLANTED }
            credential dig { user dig; password file @/dig }
            credential ntl { user "DOM\\\\ntl"; password file @/ntl }
            credential tok { token file @/tok }
            credential plc { token file @/plc; header X-Api-Key "Key {token}"; query key }
            credential crm { oauth2 \(tokens.url); client-id crm; client-secret file @/crm }
            credential cloud {
                aws eu-central-1 s3; access-key AKIDEXAMPLE; secret-key file @/key; session-token file @/session
            }
            credential shop {
                oauth1 hmac-sha256; consumer-key ck; consumer-secret file @/cs; access-token t; token-secret file @/ts
            }
            credential plain {
                oauth1 plaintext; consumer-key ck; consumer-secret file @/cs; access-token t; token-secret file @/ts
            }
            credential device { certificate \(try identity.chain()); key \(key); passphrase file @/phrase }
            challenge "device" { host nowhere.test; method client-certificate; use device }
            credential krb { kerberos \(Self.principal); password file @/krb }
            credential late { kerberos \(Self.principal); password file @/late }
            challenge "late" { host localhost; client runner; method negotiate; use late }
            challenge "krb" { host localhost; method negotiate; use krb }

            """
                + sites.map { "challenge \"\($0.name)\" { host 127.0.0.1; port \($0.origin.port); \($0.answer) }\n" }
                .joined()
    }

    private static let environment = ["PLANTED": secret("variable"), "STORE_KEY": secret("store key")]

    private func setting(_ log: String) throws -> AttacheProcess.Setting {
        let clients = """
            allow 127.0.0.0/8; authenticate basic digest bearer; realm "planted"; users file @/users; tokens file @/tokens
            nonce-key file @/nonce
            """
        return AttacheProcess.Setting(
            clients: clients, log: "\(log) file @/access.log",
            environment: try KerberosRealm.shared().environment.merging(Self.environment) { $1 },
            files: [
                "fil": Self.secret("file"), "dig": Self.secret("Digest"), "ntl": Self.secret("NTLM"),
                "tok": Self.secret("token"), "crm": Self.secret("client secret"), "key": Self.secret("signing key"),
                "cs": Self.secret("consumer secret"), "ts": Self.secret("token secret"),
                "session": Self.secret("session token"), "phrase": Self.secret("passphrase"),
                "sto": Self.secret("stored"), "stk": Self.secret("stored token"), "krb": Self.secret("Kerberos"),
                "late": Self.secret("wrong Kerberos"), "plc": Self.secret("placed"),
                "nonce": Self.secret("nonce key"),
                "users": try UsersLines.of("ann") + UsersLines.digest("ann", realm: "planted"),
                "tokens": "runner:\(try Hash.hex("sha256", Self.secret("client token")))\n",
            ])
    }

    @Test(arguments: ["json", "common"])
    func `no secret of any kind stands anywhere in any form`(log: String) throws {
        let tokens = try TokenServer()
        let sites = try sites(tokens)
        var seen: [(place: String, bytes: Data)] = []
        func see(_ place: String, _ text: String) { seen.append((place, Data(text.utf8))) }
        try AttacheProcess.running(try rules(sites, tokens), setting: try setting(log)) { proxy throws in
            let port = { (name: String) in sites.first { $0.name == name }?.origin.port ?? 0 }
            func command(_ words: [String]) throws {
                let run = try Finished.run(
                    AttacheBinary.path, words, environment: Self.environment, directory: proxy.folder, seconds: 30)
                see("output of attache \(words.prefix(2).joined(separator: " "))", run.output + run.errorOutput)
                #expect(run.succeeded, "\(run)")
            }
            try command([
                "credential", "set", "http://127.0.0.1:\(port("sto"))/", "sto", "--realm", "r", "--password-file",
                "sto",
            ])
            let line = "url = http://127.0.0.1:\(port("imp"))/\nuser = \"imp:\(Self.secret("imported"))\"\n"
            try Scratch.write(line, to: proxy.folder + "/curlrc", mode: 0o600)
            try command(["credential", "import", "curlrc"])
            try command(["credential", "set", "http://127.0.0.1:\(port("stk"))/", "--token", "stk"])
            let identity = try ClientCertificate.rsa.get()
            try command([
                "credential", "set", "https://nowhere.test/", "--certificate", identity.chain(), "--key", identity.key,
            ])
            try command(["credential", "list"])
            try command(["check", "proxy.conf"])

            let own = ["-u", "own:\(Self.secret("learned"))"]
            func fetch(_ name: String, _ url: String, _ more: [String] = []) throws -> Int {
                let client = ["-x", proxy.address, "-U", "ann:\(Account.clientPassword)"]
                let fetched = try Curl.fetch(url, client + more)
                see("response to \(name)", fetched.heads + fetched.text)
                return fetched.status
            }
            for site in sites {
                let more = site.name == "own" ? own : []
                for path in ["/ok", "/ok", "/bad/x", "/drop", "/ok?q=1"] {
                    _ = try fetch(site.name, site.origin.url(path), more)
                }
                _ = try fetch(site.name, site.origin.url("/bad/y"), ["-u", "own:\(Self.secret("learned"))"])
                try command([
                    "explain", "proxy.conf", "GET", site.origin.url("/x"), "--challenge", "Basic realm=\"r\"",
                ])
            }
            #expect(try Wait.until { try fetch("sto", "http://127.0.0.1:\(port("sto"))/ok") == 200 })
            #expect(try Wait.until { try fetch("stk", "http://127.0.0.1:\(port("stk"))/ok") == 200 })
            #expect(try Wait.until { try fetch("imp", "http://127.0.0.1:\(port("imp"))/ok") == 200 })
            #expect(try fetch("own", "http://127.0.0.1:\(port("own"))/ok") == 200)
            let escaped = try #require(
                PlantedSecret(kind: "", value: Self.secret("URL")).forms.first { $0.name == "percent" }
            ).text
            for path in ["ok", "bad"] {
                let pair = Data("ann:\(Account.clientPassword)".utf8).base64EncodedString()
                let answered = try proxy.exchange(
                    "GET http://url:\(escaped)@127.0.0.1:\(port("url"))/\(path) HTTP/1.1\r\n"
                        + "Host: 127.0.0.1:\(port("url"))\r\nProxy-Authorization: Basic \(pair)\r\nConnection: close\r\n\r\n"
                )
                see("response to a URL with a password", answered.head + answered.text)
                #expect(answered.status == (path == "ok" ? 200 : 401), "\(answered.head)")
            }
            try useKerberos(proxy, see)
            try useOtherClients(proxy, sites[0].origin, see)
            let wrong = try Curl.fetch(
                sites[0].origin.url("/"), ["-x", proxy.address, "-U", "ann:\(Self.secret("wrong client"))"])
            see("407", wrong.heads + wrong.text)
            _ = try fetch("egress", "http://169.254.169.254/")
            _ = try fetch("nobody", "http://127.0.0.1:\(FreePort.take())/")
            for path in ["/", "/metrics", "/healthz", "/readyz", "/challenges", "/nothing", "/practice/basic"] {
                let page = try Curl.fetch("http://127.0.0.1:\(proxy.adminPort)\(path)")
                see("admin \(path)", page.heads + page.text)
            }
            for name in ["cmdline", "environ", "comm", "limits"] {
                seen.append(("/proc/PID/\(name)", Data(Scratch.bytes("/proc/\(proxy.identifier)/\(name)"))))
            }
            for name in try FileManager.default.contentsOfDirectory(atPath: proxy.folder + "/store") {
                seen.append(("store/\(name)", Data(Scratch.bytes("\(proxy.folder)/store/\(name)"))))
            }
            _ = Wait.until { proxy.accessLog.contains("169.254.169.254") }
            see("access log", proxy.accessLog)
            let events = log == "json" ? proxy.accessLog : proxy.errorOutput
            for name in ["credential.set", "credential.learned", "credential.refused"] {
                #expect(events.contains("\"event\":\"\(name)\""), "\(events)")
            }
            see("standard error", proxy.errorOutput)
            see("standard output", proxy.standardOutput)
        }
        for (place, bytes) in seen { #expect(PlantedSecret.found(of: Self.secrets, in: bytes) == [], "in \(place)") }
        expectSent(sites, tokens)
    }

    /// A password that the KDC takes, and one that it does not.
    private func useKerberos(_ proxy: AttacheProcess, _ see: (String, String) -> Void) throws {
        let server = try KerberosServer.shared()
        let runner = "Proxy-Authorization: Bearer \(Self.secret("client token"))"
        let clients = [["-U", "ann:\(Account.clientPassword)"], ["--proxy-header", runner]]
        for (client, status) in zip(clients, [200, 401]) {
            let fetched = try Curl.fetch(server.url("/request/"), ["-x", proxy.address] + client)
            see("response to Kerberos", fetched.heads + fetched.text)
            #expect(fetched.status == status, "\(fetched) \(proxy.errorOutput)")
        }
        #expect(!server.realm.requests("PREAUTH_FAILED", of: "planted").isEmpty)
    }

    /// Clients that show something else than a password.
    private func useOtherClients(
        _ proxy: AttacheProcess, _ origin: RecordingOrigin, _ see: (String, String) -> Void
    ) throws {
        for (kind, status) in [("client token", 200), ("wrong client token", 407)] {
            let field = "Proxy-Authorization: Bearer \(Self.secret(kind))"
            let fetched = try Curl.fetch(origin.url("/ok"), ["-x", proxy.address, "--proxy-header", field])
            see("response to a \(kind)", fetched.heads + fetched.text)
            #expect(fetched.status == status, "\(kind): \(fetched)")
        }
        let digest = try Curl.fetch(
            origin.url("/ok"), ["-x", proxy.address, "--proxy-digest", "-U", "ann:\(Account.clientPassword)"])
        see("response to Digest", digest.heads + digest.text)
        #expect(digest.status == 200, "\(digest)")
    }

    /// A secret that was not sent cannot be found. The origins did get the secrets, and the search finds them there.
    private func expectSent(_ sites: [Site], _ tokens: TokenServer) {
        let heads = (sites.map(\.origin) + [tokens.endpoint]).flatMap(\.messages).map { $0.head + $0.text }.joined()
        let found = PlantedSecret.found(of: Self.secrets, in: heads)
        for kind in ["literal", "file", "variable", "client secret", "stored", "imported", "URL", "learned"] {
            #expect(found.contains { $0.hasPrefix("\(kind) as base64 pair") }, "\(kind)")
        }
        #expect(found.contains("placed as percent"))
        for kind in ["token", "fetched token", "session token", "stored token", "placed"] {
            #expect(found.contains("\(kind) as raw"), "\(kind)")
        }
        let answers = heads.components(separatedBy: "Authorization: ")
        for scheme in ["Digest ", "NTLM ", "AWS4-HMAC-SHA256 "] {
            #expect(answers.contains { $0.hasPrefix(scheme) }, "\(scheme)")
        }
    }

    /// Even root needs CAP_SYS_PTRACE to read it; with that the variable exists and is empty.
    @Test func `a crash leaves no core dump, unless that was asked for`() throws {
        for (flag, limit) in [("", "0"), (" --allow-core-dumps", "unlimited")] {
            let folder = Scratch.folder("dump")
            try Scratch.write("listen 127.0.0.1:\(FreePort.take())\n", to: folder + "/proxy.conf")
            let script = "ulimit -c unlimited 2>/dev/null; ulimit -c; exec \(AttacheBinary.path) run\(flag)"
            let child = try Subprocess("sh", ["-c", script], directory: folder)
            defer { _ = child.kill() }
            #expect(Wait.until { child.errorOutput.contains("listening on") })
            guard child.output.hasPrefix("unlimited") else { return }
            let limits = Scratch.read("/proc/\(child.identifier)/limits").split(separator: "\n")
            let line = try #require(limits.first { $0.hasPrefix("Max core file size") })
            #expect(line.split(separator: " ").dropFirst(4).first.map(String.init) == limit, "\(line)")
        }
    }
}
