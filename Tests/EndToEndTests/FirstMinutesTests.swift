import Foundation
import Testing

/// A user who only knows `HTTP_PROXY`: the program's own output leads to the first 200.
struct FirstMinutesTests {
    @Test func `a Digest-protected server is reached over http by three commands`() throws {
        let sentry = DigestGuard(.init(countsStrictly: true))
        let origin = try RecordingOrigin.guarded(by: sentry)
        let person = try Beginner()
        let begun = try person.begin(origin.url("/job?x=1"))
        #expect(begun.succeeded && begun.errorOutput == "", "\(begun)")
        #expect(begun.output.contains("asks for Digest, realm \"guarded realm\"\n"), "\(begun)")
        #expect(begun.output.contains("the server accepts '\(Account.user)', and answers 200\n"), "\(begun)")
        let commands = Beginner.commands(in: begun.output)
        try #require(commands.count == 3, "\(begun)")
        try person.running(commands[0]) {
            let fetched = try person.shell("\(commands[1]) -q")
            #expect(fetched.output.contains("200 OK") && fetched.output.hasSuffix("ok"), "\(fetched)")
            let all = try person.shell("\(commands[2]) && curl -q -sS \(origin.url())")
            #expect(all.output == "ok", "\(all)")
        }
        #expect(sentry.refused.isEmpty)
        for name in ["127.0.0.1.password", "proxy.conf"] {
            let attributes = try FileManager.default.attributesOfItem(atPath: "\(person.home)/\(name)")
            #expect(attributes[.posixPermissions] as? Int == 0o600, "\(name)")
        }
        #expect(!Scratch.read(person.rules).contains(Account.password))
    }

    @Test func `a name that the hosts file leads to this machine is set up with the egress line`() throws {
        let origin = try RecordingOrigin.guarded(by: DigestGuard(.init(countsStrictly: true)))
        var person = try Beginner()
        let hosts = person.folder + "/hosts"
        try Scratch.write("# local\n127.0.0.1 localhost\n127.0.0.1\tother.test CI.intern.test # mine\n", to: hosts)
        person.environment["CARES_HOSTS"] = hosts
        let begun = try person.begin("http://ci.intern.test:\(origin.port)/job")
        #expect(begun.succeeded && begun.errorOutput == "", "\(begun)")
        let rules = Scratch.read(person.rules)
        #expect(rules.contains("\negress { allow 127.0.0.1:\(origin.port) }\n"), "\(rules)")
        try person.running(try #require(Beginner.commands(in: begun.output).first)) {
            let fetched = try person.shell(
                "curl -q -sS -x http://127.0.0.1:\(person.port) http://ci.intern.test:\(origin.port)/job")
            #expect(fetched.output == "ok", "\(fetched)")
        }
        FreePort.release(person.port)
        let stranger = try person.begin("http://unknown.intern.test:\(origin.port)/", "--force")
        #expect(!stranger.succeeded, "\(stranger)")
    }

    @Test func `the same server is reached over https by five commands, the first of which is refused`() throws {
        let origin = try RecordingOrigin.guarded(by: DigestGuard(.init(countsStrictly: true)))
        let port = FreePort.take()
        let terms = CertificateTerms(host: "first.example.test").with { $0.alternatives.append("IP:127.0.0.1") }
        let identity = try ServerIdentity(Hierarchy.shared().issuing.issue(terms))
        let front = try NginxServer([.init(port: port, name: "front", identity: identity, origin: origin.port)])
        var person = try Beginner()
        person.environment["SSL_CERT_FILE"] = try Hierarchy.shared().root.certificate
        person.environment["SSL_CERT_DIR"] = Scratch.folder("no-anchors")
        let url = "https://127.0.0.1:\(port)/"

        let refused = try person.begin(url)
        #expect(refused.status == 1 && refused.errorOutput.contains("use --intercept"), "\(refused)")
        let begun = try person.begin(url, "--intercept")
        #expect(begun.succeeded && begun.errorOutput == "", "\(begun)")
        #expect(begun.output.contains(/the CA: .*\/ca.pem, SHA-256 [0-9A-F:]{95}/), "\(begun)")
        let commands = Beginner.commands(in: begun.output)
        try #require(commands.count == 3, "\(begun)")
        try person.running(commands[0]) {
            let fetched = try person.shell("\(commands[1]); \(commands[2])")
            #expect(fetched.output.contains("HTTP/2 200") && fetched.output.hasSuffix("ok"), "\(fetched)")
            // Servers that the proxy does not stand before are trusted as before.
            let bundle = try person.shell("\(commands[1]); grep -c BEGIN \"$SSL_CERT_FILE\"")
            #expect(bundle.output == "2\n", "\(bundle)")
        }
        withExtendedLifetime(front) {}
    }

    @Test func `with --upgrade tools ask by http, and the proxy goes on by https`() throws {
        let origin = try RecordingOrigin.guarded(by: BasicGuard())
        let port = FreePort.take()
        let terms = CertificateTerms(host: "first.example.test").with { $0.alternatives.append("IP:127.0.0.1") }
        let identity = try ServerIdentity(Hierarchy.shared().elsewhereIssuing.issue(terms))
        let front = try NginxServer([.init(port: port, name: "front", identity: identity, origin: origin.port)])
        let person = try Beginner()
        let url = "https://127.0.0.1:\(port)/a"
        let strange = try person.begin(url, "--upgrade")
        #expect(strange.errorOutput.contains("is not trusted, and there is no terminal to ask"), "\(strange)")
        #expect(strange.errorOutput.contains("use --anchor FILE"), "\(strange)")
        let root = try Hierarchy.shared().elsewhere.certificate
        let begun = try person.begin(url, "--upgrade", "--anchor", root)
        #expect(begun.succeeded && begun.errorOutput == "", "\(begun)")
        let commands = Beginner.commands(in: begun.output)
        try #require(commands.count == 3 && commands[1].hasSuffix(" http://127.0.0.1:\(port)/a"), "\(begun)")
        try person.running(commands[0]) {
            let fetched = try person.shell("\(commands[1]) -q")
            #expect(fetched.output.contains("200 OK"), "\(fetched)")
        }
        withExtendedLifetime(front) {}
    }

    @Test func `a wrong password is sent once, and leaves nothing`() throws {
        let sentry = DigestGuard(.init(countsStrictly: true))
        let origin = try RecordingOrigin.guarded(by: sentry)
        let person = try Beginner(Account.wrongPassword)
        let begun = try person.begin(origin.url())
        #expect(begun.status == 1, "\(begun)")
        #expect(
            begun.errorOutput
                == "attache: the server refuses '\(Account.user)' with that password, which was tried once; nothing was "
                + "written\n")
        #expect(sentry.refused.count == 1 && origin.messages.count { $0["Authorization"] != nil } == 1)
        #expect(person.files.isEmpty)
    }

    @Test func `a server in trouble is not taken to have accepted`() throws {
        let origin = try RecordingOrigin.answering { request, connection in
            if request["Authorization"] != nil { return try connection.reply("503 Service Unavailable", []) }
            try connection.reply("401 Unauthorized", ["WWW-Authenticate: Basic realm=\"r\""])
        }
        let person = try Beginner()
        let begun = try person.begin(origin.url())
        #expect(begun.status == 1 && begun.errorOutput.contains("answers 503 to the login of"), "\(begun)")
        #expect(person.files.isEmpty)
    }

    @Test func `a password is not shown to those who listen where another way is offered`() throws {
        let sentry = DigestGuard(.init(countsStrictly: true))
        let origin = try RecordingOrigin.answering { request, connection in
            switch try sentry.judge(request) {
            case .challenged(let digest):
                try connection.reply(
                    "401 Unauthorized", ["WWW-Authenticate: Basic realm=\"r\"", "WWW-Authenticate: \(digest)"])
            case .accepted: try connection.reply(body: "ok")
            }
        }
        let person = try Beginner()
        let begun = try person.begin(origin.url())
        #expect(begun.succeeded && begun.output.contains("asks for Digest, realm"), "\(begun)")
        #expect(Scratch.read(person.rules).contains("    method digest\n"))
    }

    @Test func `--force replaces the rule file`() throws {
        let origin = try RecordingOrigin.guarded(by: BasicGuard())
        let person = try Beginner()
        try Scratch.write("# mine\n", to: person.folder + "/mine.conf")
        let forced = try person.begin(origin.url(), "--force", "--config", "mine.conf")
        #expect(forced.succeeded && forced.errorOutput.contains("http sends the password unencrypted"), "\(forced)")
        let rules = Scratch.read(person.folder + "/mine.conf")
        #expect(rules.contains("method basic") && !rules.contains("# mine"))
    }

    @Test func `a rule file with errors, or a folder that cannot be written, costs no login attempt`() throws {
        let origin = try RecordingOrigin.guarded(by: BasicGuard())
        let person = try Beginner()
        try Scratch.write("lissen 1\n", to: person.folder + "/bad.conf")
        let bad = try person.begin(origin.url(), "--config", "bad.conf")
        #expect(bad.status == 2 && bad.errorOutput.contains("did you mean 'listen'?"), "\(bad)")
        let nowhere = try person.begin(origin.url(), "--config", "/proc/attache/proxy.conf")
        #expect(nowhere.status == 1 && nowhere.errorOutput.contains("cannot make the directory"), "\(nowhere)")
        #expect(origin.messages.isEmpty)
    }

    @Test(arguments: [
        ("200 OK", "", "the server answers 200 and asks for no login"),
        ("401 Unauthorized", "", "the server answers 401 and does not say how to log in"),
        ("401 Unauthorized", "Hawk id=\"x\"", "a login that the proxy does not know: Hawk id=\"x\""),
    ])
    func `a server that asks for nothing that can be typed is told in one sentence`(
        status: String, challenge: String, sentence: String
    ) throws {
        let origin = try RecordingOrigin.answering { _, connection in
            try connection.reply(status, challenge.isEmpty ? [] : ["WWW-Authenticate: \(challenge)"])
        }
        let person = try Beginner()
        let begun = try person.begin(origin.url())
        #expect(begun.status == 1 && begun.errorOutput.split(separator: "\n").count == 1, "\(begun)")
        #expect(begun.errorOutput.contains(sentence), "\(begun)")
        #expect(person.files.isEmpty)
    }

    /// Servers that ask otherwise than by Digest.
    enum Other: String, CaseIterable, Sendable {
        case ntlm, bearer, negotiate
    }

    @Test(arguments: Other.allCases) func `other logins lead to a response, too`(other: Other) throws {
        var user = Account.user
        let person: Beginner
        let url: String
        var origin: RecordingOrigin?
        switch other {
        case .ntlm:
            origin = try RecordingOrigin.guarded(by: NTLMGuard())
            person = try Beginner()
        case .bearer:
            origin = try RecordingOrigin.answering { request, connection in
                if request["Authorization"] == "Bearer \(Account.password)" { return try connection.reply(body: "ok") }
                try connection.reply("401 Unauthorized", ["WWW-Authenticate: Bearer realm=\"r\""])
            }
            person = try Beginner()
        case .negotiate:
            let server = try KerberosServer.shared()
            user = server.realm.principal("bob")
            person = try Beginner(#require(Account.principals["bob"]), environment: server.realm.environment)
        }
        url = try origin?.url() ?? KerberosServer.shared().url("/bob/")
        let begun = try person.begin(url, user: user)
        #expect(begun.succeeded, "\(begun)")
        let commands = Beginner.commands(in: begun.output)
        try #require(commands.count == 3, "\(begun)")
        try person.running(commands[0]) {
            let fetched = try person.shell("\(commands[1]) -q")
            #expect(fetched.output.contains("200 OK"), "\(fetched)")
        }
        withExtendedLifetime(origin) {}
    }

    @Test func `an address that is taken is told before anything is asked`() throws {
        let origin = try RecordingOrigin.guarded(by: BasicGuard())
        let person = try Beginner()
        let taken = try Finished.run(
            AttacheBinary.path, ["init", origin.url(), "--user", "a", "--listen", "127.0.0.1:\(origin.port)"],
            environment: person.environment, directory: person.folder, input: person.folder + "/typed")
        #expect(taken.status == 1 && taken.errorOutput.contains("use --listen for another address"), "\(taken)")
        #expect(origin.messages.isEmpty)
    }

    /// The blocks of commands in the README that lead to the first 200.
    private static let walks: [[String]] = {
        let text = Scratch.read(AttacheBinary.repository + "/README.md")
        let part = text.components(separatedBy: "## The first 200").last?.components(separatedBy: "\n## ").first ?? ""
        return part.components(separatedBy: "```console\n").dropFirst().map { block in
            let lines = block.components(separatedBy: "```").first?.split(separator: "\n") ?? []
            return lines.filter { $0.hasPrefix("$ ") }.map { String($0.dropFirst(2)) }
        }
    }()

    @Test(arguments: [("http", 0), ("https", 1)]) func `the README's commands do what it says`(
        scheme: String, number: Int
    ) throws {
        let origin = try RecordingOrigin.guarded(by: DigestGuard(.init(countsStrictly: true)))
        let secure = FreePort.take()
        let terms = CertificateTerms(host: "first.example.test").with { $0.alternatives.append("IP:127.0.0.1") }
        let identity = try ServerIdentity(Hierarchy.shared().issuing.issue(terms))
        let front = try NginxServer([.init(port: secure, name: "front", identity: identity, origin: origin.port)])
        var person = try Beginner()
        person.environment["SSL_CERT_FILE"] = try Hierarchy.shared().root.certificate
        person.environment["SSL_CERT_DIR"] = Scratch.folder("no-anchors")
        symlink(AttacheBinary.path, person.folder + "/attache")
        person.environment["PATH"] = "\(person.folder):\(Spawn.path)"
        let walk = Self.walks[number].map { command in
            command.replacing("https://ci.example.com", with: "https://127.0.0.1:\(secure)")
                .replacing("http://ci.example.com", with: "http://127.0.0.1:\(origin.port)")
                .replacing("127.0.0.1:3128", with: "127.0.0.1:\(person.port)")
        }
        try #require(walk.count >= 3 && walk[1] == "attache run &")
        let begun = try person.shell(
            "\(walk[0]) --user \(Account.user) --listen 127.0.0.1:\(person.port) --admin 127.0.0.1:\(person.adminPort) < typed"
        )
        #expect(begun.succeeded && begun.errorOutput == "", "\(begun)")
        try person.running("attache run") {
            let fetched = try person.shell(walk.dropFirst(2).joined(separator: "\n"))
            let isAnswered = fetched.output.contains(/HTTP\/(1\.1 200 OK|2 200)/)
            #expect(isAnswered && fetched.output.hasSuffix("ok"), "\(fetched)")
        }
        withExtendedLifetime(front) {}
    }
}
