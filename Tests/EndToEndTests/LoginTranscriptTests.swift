import Foundation
import Testing

/// `attache init` for each login, at a terminal: from an empty home, and for a second server in the same rule file. What the
/// program prints leads to the first response, by three commands at most and one answer for each secret.
struct LoginTranscriptTests {
    enum Login: String, CaseIterable, Sendable {
        case digest, intercept, upgrade, kerberos, keytab, ccache, ntlm, form, token, oauth, issuer, certificate,
            appliance
        case parent, proposed, behind, clients
    }

    /// A server, and what a person types to set it up.
    struct Server {
        let url: String
        var options: [String] = []
        var answers: [(prompt: String, answer: String)] = []
        var environment: [String: String] = [:]
        /// The servers, which run until the end of the test.
        var held: [Any] = []
        /// Text that is another one in each run, with a name for it.
        var names: [(text: String, name: String)] = []
    }

    private static let password: [(String, String)] = [("User: ", Account.user), ("Password: ", Account.password)]

    @Test(arguments: Login.allCases) func `the first server is reached`(login: Login) throws {
        let server = try Self.server(login)
        let person = try Beginner(environment: server.environment)
        let begun = try person.type(["init", server.url] + server.options, answering: server.answers)
        #expect(begun.succeeded, "\(begun)")
        try Self.compare(begun.output, "\(login)-first", person, server)
        let commands = Beginner.commands(in: begun.output)
        try #require(commands.count == 3, "\(begun)")
        try person.running(commands[0]) {
            let curl = try #require(commands.firstIndex { $0.contains("curl -i") })
            let fetched = try person.shell(curl == 1 ? "\(commands[1]) -q" : "\(commands[1]); \(commands[2]) -q")
            #expect(fetched.output.contains(/HTTP\/(1\.1 200 OK|2 200)/), "\(fetched)")
            // The first day's other commands work, too.
            for command in ["status", "healthcheck"] {
                let asked = try person.shell("'\(AttacheBinary.path)' \(command)")
                #expect(asked.succeeded, "\(asked)")
            }
        }
        try Self.expectPrivate(person)
        withExtendedLifetime(server.held) {}
    }

    @Test(arguments: Login.allCases.filter { ![.clients, .proposed].contains($0) })
    func `it is reached as the second server of a rule file`(
        login: Login
    ) throws {
        let server = try Self.server(login)
        let first = try RecordingOrigin.guarded(by: DigestGuard(.init(countsStrictly: true)))
        let person = try Beginner(environment: server.environment)
        let begun = try person.begin(first.url("/first"))
        #expect(begun.succeeded, "\(begun)")
        let before = "# my own comment\n" + Scratch.read(person.rules)
        try Scratch.write(before, to: person.rules, mode: 0o640)
        chmod(person.rules, 0o640)
        try person.running(try #require(Beginner.commands(in: begun.output).first)) {
            let added = try person.type(["add", server.url] + server.options, answering: server.answers)
            #expect(added.succeeded, "\(added)")
            try Self.compare(added.output, "\(login)-second", person, server, first)
            let rules = Scratch.read(person.rules)
            #expect(rules.hasPrefix("# my own comment\n"), "\(rules)")
            for line in before.split(separator: "\n") { #expect(rules.contains(line), "\(line)") }
            let attributes = try FileManager.default.attributesOfItem(atPath: person.rules)
            #expect(attributes[.posixPermissions] as? Int == 0o640)
            let commands = Beginner.commands(in: added.output)
            try #require(commands.count == 3, "\(added)")
            let reloaded = try person.shell(commands[0])
            #expect(reloaded.succeeded, "\(reloaded)")
            let curl = try #require(commands.firstIndex { $0.contains("curl -i") })
            let fetched = try person.shell(curl == 1 ? "\(commands[1]) -q" : "\(commands[1]); \(commands[2]) -q")
            #expect(fetched.output.contains(/HTTP\/(1\.1 200 OK|2 200)/), "\(fetched)")
            let again = try person.shell("curl -q -sS -x http://127.0.0.1:\(person.port) \(first.url("/first"))")
            #expect(again.output == "ok", "\(again)")
        }
        try Self.expectPrivate(person)
        withExtendedLifetime(server.held) {}
    }

    @Test(arguments: [("bob", "wrong"), ("unknown", "any")])
    func `a login that the KDC refuses is not the server's refusal`(user: String, password: String) throws {
        let server = try Self.server(.kerberos)
        let realm = KerberosRealm.name
        let person = try Beginner(environment: server.environment)
        let run = try person.type(
            ["init", server.url], answering: [("alice@EXAMPLE.COM): ", user), ("Password: ", password)])
        #expect(!run.succeeded)
        #expect(run.output.contains("there is no ticket for '\(user)@\(realm)': the KDC of \(realm) does"), "\(run)")
    }

    @Test func `with --dry-run the lines are shown, and nothing is written`() throws {
        let server = try Self.server(.digest)
        let person = try Beginner()
        let dry = try person.type(["init", server.url, "--dry-run"], answering: server.answers)
        #expect(dry.succeeded, "\(dry)")
        try Self.compare(dry.output, "dry-first", person, server)
        #expect(!FileManager.default.fileExists(atPath: person.home))

        let first = try RecordingOrigin.guarded(by: DigestGuard(.init(countsStrictly: true)))
        #expect(try person.begin(first.url("/first")).succeeded)
        let (before, files) = (Scratch.read(person.rules), person.files)
        let added = try person.type(["add", server.url, "--dry-run"], answering: server.answers)
        #expect(added.succeeded, "\(added)")
        try Self.compare(added.output, "dry-second", person, server, first)
        #expect(Scratch.read(person.rules) == before && person.files == files)
        withExtendedLifetime(server.held) {}
    }

    @Test(arguments: [
        ("http", "http_proxy", true), ("http", "https_proxy", false), ("http", "HTTP_PROXY", false),
        ("https", "https_proxy", true), ("https", "HTTPS_PROXY", true), ("https", "http_proxy", false),
        ("http", "all_proxy", true), ("https", "ALL_PROXY", true),
    ])
    func `the parent of the variable for the server's scheme is proposed`(
        scheme: String, variable: String, isProposed: Bool
    ) throws {
        let person = try Beginner(environment: [variable: "http://127.0.0.1:9"])
        let answers = isProposed ? [("? (yes or no) ", "no")] : []
        let begun = try person.type(
            ["init", "\(scheme)://127.0.0.1:9/"] + (scheme == "https" ? ["--upgrade"] : []), answering: answers)
        let words = "\(variable) names the proxy 127.0.0.1:9: send requests through it?"
        #expect(begun.output.contains(words) == isProposed, "\(begun)")
    }

    @Test func `a proposed parent can be declined`() throws {
        let server = try Self.server(.digest)
        let person = try Beginner(environment: ["http_proxy": "http://127.0.0.1:9"])
        let begun = try person.type(
            ["init", server.url], answering: [("? (yes or no) ", "no")] + server.answers)
        #expect(begun.succeeded, "\(begun)")
        #expect(!Scratch.read(person.rules).contains("parent"))
        withExtendedLifetime(server.held) {}
    }

    /// The second page of such a login is shown only to a user, so that a person has to look at it.
    @Test func `a login on two pages is recognised, and the lines that it needs are printed`() throws {
        let login = try LoginServer(.steps)
        let person = try Beginner()
        let server = Server(url: login.url("/a"), names: [("\(login.port)", "PORT")])
        let begun = try person.type(["init", server.url], answering: [])
        #expect(begun.status == 1, "\(begun)")
        try Self.compare(begun.output, "two-pages", person, server)
        #expect(!FileManager.default.fileExists(atPath: person.rules))
        let lines = Beginner.commands(in: begun.output).joined(separator: "\n")
            .replacing("user NAME", with: "user \(Account.user)").replacing("/path/to/password", with: "@/password")
            .replacing("PASSWORD", with: "password")
        try AttacheProcess.running(lines) { proxy throws in
            #expect(try proxy.get(login.url("/a")).text == "home\n")
        }
        #expect(login.count("login named") == 1 && login.count("login good") == 1)
    }

    // MARK: - Servers

    private static func server(_ login: Login) throws -> Server {
        switch login {
        case .digest:
            let origin = try RecordingOrigin.guarded(by: DigestGuard(.init(countsStrictly: true)))
            return Server(
                url: origin.url("/job"), answers: password, held: [origin], names: [("\(origin.port)", "PORT")])
        case .intercept, .upgrade:
            let origin = try RecordingOrigin.guarded(by: DigestGuard(.init(countsStrictly: true)))
            let (front, port) = try front(Hierarchy.shared().issuing.issue(terms), origin)
            return Server(
                url: "https://127.0.0.1:\(port)/job", options: ["--\(login)"], answers: password,
                environment: try trusting, held: [origin, front], names: [("\(port)", "PORT")])
        case .kerberos, .keytab:
            let server = try KerberosServer.shared()
            let user = ("alice@EXAMPLE.COM): ", "bob")
            let secret = ("Password: ", try #require(Account.principals["bob"]))
            return Server(
                url: server.url("/bob/"),
                options: login == .keytab ? ["--keytab", server.realm.keytab("bob")] : [],
                answers: login == .keytab ? [user] : [user, secret], environment: server.realm.environment,
                names: [
                    ("\(server.port)", "PORT"), (server.realm.keytab("bob"), "bob.keytab"),
                ])
        case .ccache:
            let server = try KerberosServer.shared()
            let cache = try server.realm.cache("bob")
            return Server(
                url: server.url("/bob/"), options: ["--ccache", cache], answers: [("alice@EXAMPLE.COM): ", "bob")],
                environment: server.realm.environment, names: [("\(server.port)", "PORT"), (cache, "CACHE")])
        case .ntlm:
            let server = try NTLMServer.shared()
            let user = "\(Account.domain)\\alice"
            return Server(
                url: server.url(),
                answers: [("User: ", user), ("Password: ", try #require(Account.ntlmPasswords["alice"]))],
                names: [("\(server.port)", "PORT")])
        case .form:
            let server = try FormServer.shared()
            return Server(
                url: server.url("/redirect/who.cgi"), answers: password, names: [("\(server.port)", "PORT")])
        case .token:
            let tokens = try TokenServer()
            let file = Scratch.folder("token") + "/token"
            let given = try Curl.fetch(tokens.endpoint.url("/token"), ["-d", "grant_type=client_credentials"])
            let members = try JSONSerialization.jsonObject(with: Data(given.text.utf8)) as? [String: Any]
            try Scratch.write("\(members?["access_token"] ?? "")\n", to: file, mode: 0o600)
            return Server(
                url: tokens.api.url(), options: ["--token", file], held: [tokens],
                names: [("\(tokens.api.port)", "PORT"), (file, "TOKEN")])
        case .oauth:
            let tokens = try TokenServer()
            return Server(
                url: tokens.api.url(), options: ["--oauth2", tokens.endpoint.url("/token")],
                answers: [("Client ID: ", "crm"), ("Client secret: ", Account.password)], held: [tokens],
                names: [("\(tokens.api.port)", "PORT"), ("\(tokens.endpoint.port)", "ENDPOINT")])
        case .issuer:
            let server = try AnnouncingServer()
            return Server(
                url: server.url,
                answers: [
                    ("? (yes or no) ", "yes"), ("Client ID: ", "agent"), ("Client secret: ", Account.password),
                ], held: [server],
                names: [("\(server.origin.port)", "PORT"), ("\(server.issuer.port)", "ISSUER")])
        case .certificate:
            let origin = try RecordingOrigin.answering { _, connection in try connection.reply(body: "ok") }
            let demand = Demand.certificate(from: { [$0.issuing] }, trusting: { [$0.root] })
            let (front, port) = try front(Hierarchy.shared().issuing.issue(terms), origin, demand)
            let identity = try ClientCertificate.good.get()
            let chain = try identity.chain()
            let key = Scratch.folder("key") + "/client.key"
            try Scratch.write(Scratch.read(identity.key), to: key, mode: 0o600)
            return Server(
                url: "https://127.0.0.1:\(port)/", options: ["--upgrade", "--certificate", chain, "--key", key],
                environment: try trusting, held: [origin, front],
                names: [("\(port)", "PORT"), (chain, "client.pem"), (key, "client.key")])
        case .appliance:
            let origin = try RecordingOrigin.guarded(by: BasicGuard())
            let own = try CertificateIssuer.selfSigned(terms)
            let (front, port) = try front(own, origin)
            return Server(
                url: "https://127.0.0.1:\(port)/", options: ["--upgrade"],
                answers: [("? (yes or no) ", "yes")] + password, held: [origin, front],
                names: [("\(port)", "PORT"), (try own.pin(), "PIN")])
        case .parent:
            let squid = try SquidServer.shared(.basic)
            let origin = try RecordingOrigin.guarded(by: DigestGuard(.init(countsStrictly: true)))
            return Server(
                url: origin.url("/job"), options: ["--parent", "http://127.0.0.1:\(squid.port)"],
                answers: password + password, held: [origin],
                names: [("\(origin.port)", "PORT"), ("\(squid.port)", "PARENT")])
        case .proposed:
            let squid = try SquidServer.shared(.basic)
            let origin = try RecordingOrigin.guarded(by: DigestGuard(.init(countsStrictly: true)))
            return Server(
                url: origin.url("/job"),
                answers: [("? (yes or no) ", "yes"), ("Password: ", Account.password)] + password,
                environment: [
                    "http_proxy": "http://\(Account.user)@127.0.0.1:\(squid.port)/", "no_proxy": "intern.test",
                ],
                held: [origin], names: [("\(origin.port)", "PORT"), ("\(squid.port)", "PARENT")])
        // Only the parent knows the server's name.
        case .behind:
            let squid = try SquidServer.shared(.basic)
            let origin = try RecordingOrigin.guarded(by: BasicGuard())
            let own = try CertificateIssuer.selfSigned(CertificateTerms(host: TLSFront.host))
            let (front, port) = try front(own, origin)
            return Server(
                url: "https://\(TLSFront.host):\(port)/",
                options: ["--upgrade", "--parent", "http://127.0.0.1:\(squid.port)"],
                answers: password + [("? (yes or no) ", "yes")] + password, held: [origin, front],
                names: [("\(port)", "PORT"), ("\(squid.port)", "PARENT"), (try own.pin(), "PIN")])
        case .clients:
            let origin = try RecordingOrigin.guarded(by: DigestGuard(.init(countsStrictly: true)))
            return Server(
                url: origin.url("/job"), options: ["--require-login", "tools"], answers: password, held: [origin],
                names: [("\(origin.port)", "PORT")])
        }
    }

    private static var terms: CertificateTerms {
        CertificateTerms(host: "first.example.test").with { $0.alternatives.append("IP:127.0.0.1") }
    }

    private static var trusting: [String: String] {
        get throws {
            [
                "SSL_CERT_FILE": try Hierarchy.shared().root.certificate,
                "SSL_CERT_DIR": Scratch.folder("no-anchors"),
            ]
        }
    }

    private static func front(
        _ certificate: IssuedCertificate, _ origin: RecordingOrigin, _ demand: Demand = .nothing
    ) throws -> (NginxServer, UInt16) {
        let port = FreePort.take()
        let server = NginxConfiguration.Server(
            port: port, name: "front", identity: try ServerIdentity(certificate),
            directives: try demand.directives(Hierarchy.shared()), origin: origin.port)
        return (try NginxServer([server]), port)
    }

    // MARK: - Transcripts

    /// No file but the rule file is for others, and no secret is in it or in a file that others can read.
    private static func expectPrivate(_ person: Beginner) throws {
        let rules = Scratch.read(person.rules)
        for secret in Account.secrets { #expect(!rules.contains(secret)) }
        for name in person.files where name != "proxy.conf" {
            let attributes = try FileManager.default.attributesOfItem(atPath: "\(person.home)/\(name)")
            #expect(attributes[.posixPermissions] as? Int == 0o600, "\(name)")
        }
    }

    private static let golden = AttacheBinary.repository + "/Tests/EndToEndTests/Transcripts"

    /// `ATTACHE_GOLDEN=write` writes the transcript again.
    private static func compare(
        _ screen: String, _ name: String, _ person: Beginner, _ server: Server, _ first: RecordingOrigin? = nil
    ) throws {
        for secret in Account.secrets { #expect(!screen.contains(secret), "\(screen)") }
        var text = screen.replacing(AttacheBinary.path, with: "attache").replacing(person.folder, with: "~")
        // A prompt for a secret is taken off the screen.
        text = text.replacing(/\r *\r/, with: "\n")
        for (place, name) in server.names { text = text.replacing(place, with: name) }
        text = text.replacing("\(person.port)", with: "LISTEN").replacing("\(person.adminPort)", with: "ADMIN")
        if let first { text = text.replacing("\(first.port)", with: "FIRST") }
        text = text.replacing(/[0-9A-F]{2}(:[0-9A-F]{2}){31}/, with: "SHA-256")
            .replacing(/\d{4}-\d{2}-\d{2}/, with: "DAY")
        let path = "\(golden)/\(name).txt"
        if ProcessInfo.processInfo.environment["ATTACHE_GOLDEN"] == "write" {
            try Scratch.write(text, to: path)
        }
        #expect(text == Scratch.read(path))
    }
}
