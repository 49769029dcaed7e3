import Testing

@testable import Rules

/// The manual: all of the grammar, and nothing that the parser refuses.
@Suite struct ManualTests {
    /// The names that examples use and do not define.
    private static let definitions = [
        "ci": "credential ci { user builder; password file p }", "lab": "credential lab { user a; password file p }",
        "svc": "credential svc { kerberos svc@EXAMPLE.COM; keytab k }", "api": "credential api { token file p }",
        "device": "credential device { certificate c; key k }",
        "corp": "parent corp { http proxy.corp.example.com:8080 }",
        "jump": "parent jump { socks5 jump.example.com:1080 }",
    ]

    /// The lines, behind definitions of all that they use and do not make.
    private static func complete(_ lines: String) -> String {
        let used = lines.matches(of: /\b(?:use|via) ([a-z ]+)/).flatMap { $0.1.split(separator: " ") }
        let missing = Set(used.map(String.init)).filter { name in
            definitions[name] != nil && !lines.contains("credential \(name) ") && !lines.contains("parent \(name) ")
        }
        return lines + "\n" + missing.sorted().compactMap { definitions[$0] }.joined(separator: "\n") + "\n"
    }

    private static func read(_ text: String) throws -> RuleFile {
        let reader = PlayedReader(["proxy.conf": text], variables: ["LAB_USER": "u", "MAIL": "m@example.com"])
        return try RuleFile("proxy.conf", from: reader)
    }

    private static func names<Name: DirectiveName>(_: Name.Type) -> [String] {
        Name.allCases.map { "\(Name.block ?? "") \($0.rawValue)" }
    }

    @Test func `every directive has its place in one topic`() {
        let known =
            Self.names(FileDirective.self) + Self.names(SettingsReader.LimitsWord.self)
            + Self.names(SettingsReader.TimeoutsWord.self)
            + Self.names(ClientsReader.Word.self) + Self.names(EgressReader.Word.self)
            + Self.names(CredentialDirective.self) + Self.names(AuthorityReader.Word.self)
            + Self.names(RouteReader.Word.self) + Self.names(ChallengeDirective.self) + Self.names(FormReader.Word.self)
            + Self.names(ParentReader.Word.self) + Self.names(StoreReader.Word.self) + Self.names(AskReader.Word.self)
            + Self.names(AdminReader.Word.self) + Self.names(TracesReader.Word.self)
            + Self.names(ListenerReader.Word.self)
        let told = ManualTopic.all.flatMap(\.entries).map { "\($0.block ?? "") \($0.name)" }
        #expect(told.sorted() == known.sorted())
        #expect(Set(ManualTopic.all.map(\.name)).count == ManualTopic.all.count)
    }

    @Test(arguments: ManualTopic.all.flatMap(\.entries).map { ["\($0.form)", $0.name, $0.manual.example] })
    func `the example of a directive has it, and is a good rule file`(entry: [String]) throws {
        #expect(entry[2].contains(entry[1]))
        let file = try Self.read(Self.complete(entry[2]))
        #expect(file.configuration != nil, "\(entry[0])\n\(file.report)")
    }

    @Test(arguments: ManualTopic.all.map(\.name)) func `the rules in a topic's text are good`(name: String) throws {
        let topic = try #require(ManualTopic.named(name))
        var rules: [String] = []
        for case .literal(let lines) in ManualText.Block.blocks(of: topic.text) where !lines[0].hasSuffix(":") {
            let isCommand = lines.map { $0.hasPrefix("$ ") }
            #expect(Set(isCommand).count == 1, "\(lines)")
            if isCommand.first == false { rules.append(lines.joined(separator: "\n")) }
        }
        guard !rules.isEmpty else { return }
        let all = Self.complete(rules.joined(separator: "\n"))
        let file = try Self.read(all)
        #expect(file.configuration != nil, "\(file.report)")
    }

    @Test(arguments: ManualTopic.all.map(\.name)) func `a topic says what it is for, and then shows an example`(
        name: String
    ) throws {
        let blocks = ManualText.Block.blocks(of: try #require(ManualTopic.named(name)).text)
        guard case .paragraph(let first) = try #require(blocks.first) else {
            Issue.record("\(blocks[0])")
            return
        }
        #expect(first.hasSuffix(".") || first.hasSuffix(":"))
        let example = blocks.firstIndex { if case .literal = $0 { true } else { false } }
        #expect(example == 1)
    }

    @Test func `the glossary is short, and in order`() throws {
        let terms = ManualText.Block.blocks(of: try #require(ManualTopic.named("glossary")).text).compactMap { block in
            if case .item(let term, _) = block { term.lowercased() } else { nil }
        }
        #expect((15...25).contains(terms.count))
        #expect(terms == terms.sorted())
    }

    @Test(arguments: [
        ("ntlm", ["challenge", "credential", "parents"]), ("digest", ["challenge"]), ("docker", ["tools"]),
        ("kubernetes", ["tools"]), ("dashboard", ["dashboard"]), ("407", ["challenge", "parents", "clients"]),
        ("unasked", ["preemptive"]), ("preemptive", ["preemptive"]), ("CA", ["authority"]), ("cas", ["authority"]),
        ("SSO", ["challenge", "forms", "negotiate"]), ("Kerberos", ["negotiate"]), ("cookies", ["challenge", "forms"]),
        ("netrc", ["store"]), ("squid", ["parents", "log"]), ("mtls", ["certificates", "clients"]),
        ("api-key", ["preemptive", "placeholders"]), ("timeout", ["limits"]), ("otel", ["traces"]),
        ("lockout", ["refusals"]),
        ("self-signed", ["trust"]), ("http_proxy", ["tools"]), ("mitm", ["routes", "authority"]), ("kerberoz", []),
        ("jq", ["json"]), ("harbor", ["registries"]), ("oci", ["registries"]),
        ("brute-force", ["refusals", "fail2ban"]), ("cookbook", ["recipes"]), ("winrm", ["recipe-windows"]),
    ]) func `a word that users know leads to its topics`(word: String, topics: [String]) {
        #expect(ManualTopic.listing(word).map(\.name) == topics)
    }

    @Test func `the index has no topic that is none`() {
        for name in ManualTopic.synonyms.keys { #expect(ManualTopic.named(name) != nil, "\(name)") }
        #expect(ManualTopic.synonyms.count == ManualTopic.all.count)
    }

    @Test(arguments: [("kerberoz", "negotiate"), ("chalenge", "challenge"), ("dokcer", "tools"), ("parant", "parents")])
    func `the nearest topics have the word that was meant`(word: String, topic: String) {
        let nearest = ManualTopic.nearest(to: word, count: 3).map(\.name)
        #expect(nearest.count == 3 && nearest.first == topic, "\(nearest)")
    }

    @Test func `a word of the text leads to the topics that use it`() {
        #expect(ManualTopic.mentioning("update-ca-certificates", count: 5).map(\.name) == ["authority"])
        #expect(ManualTopic.mentioning("proxy", count: 3).count == 3)
        #expect(ManualTopic.mentioning("ZZZ", count: 5).isEmpty)
    }

    /// A rule that contains the directive, without it and with it at its default.
    private static func pair(_ entry: ManualTopic.Entry, _ standard: String) -> (without: String, with: String)? {
        let line = "\(entry.name) \(standard)"
        switch (entry.block, entry.name) {
        case (nil, "route"): return ("", "")
        case ("route", _): return ("route a { tunnel }", "route a { tunnel; \(line) }")
        case ("listen", _): return ("listen unix:a as a", "listen unix:a as a { \(line) }")
        case ("traces", _):
            let block = "traces { collector http://127.0.0.1:4318"
            return ("\(block) }", "\(block); \(line) }")
        case (nil, _): return ("", line)
        case ("challenge", "learn"), ("challenge", "persistence"):
            return ("challenge { host a; default }", "challenge { host a; default; \(line) }")
        case ("challenge", "spn"), ("challenge", "canonicalise"), ("challenge", "delegate"):
            let rule = "challenge { host a; method negotiate; use svc"
            return (complete("\(rule) }"), complete("\(rule); \(line) }"))
        case ("challenge", _):
            let rule = "challenge { host a; secure yes; use ci"
            return (complete("\(rule) }"), complete("\(rule); \(line) }"))
        case ("credential", "payload"):
            let block = "credential b { aws r s; access-key A; secret-key file k"
            return ("\(block) }", "\(block); \(line) }")
        case ("credential", "path"):
            return ("credential b { helper git h }", "credential b { helper git h; \(line) }")
        case ("credential", "assertion-audience"):
            let block = "credential b { oauth2 https://id.example.com/; client-id c; key k.pem"
            return ("\(block) }", "\(block); \(line) }")
        case ("credential", _):
            let block = "credential b { oauth2 https://id.example.com/; client-id c; client-secret file s"
            return ("\(block) }", "\(block); \(line) }")
        case (let block?, _): return ("", "\(block) { \(line) }")
        }
    }

    @Test(arguments: ManualTopic.all.flatMap(\.entries).filter { $0.manual.standard != nil }.map(\.form))
    func `a default is the default`(form: String) throws {
        let entry = try #require(ManualTopic.all.flatMap(\.entries).first { $0.form == form })
        let standard = try #require(entry.manual.standard)
        let (without, with) = try #require(Self.pair(entry, standard))
        let file = try Self.read(with)
        #expect(file.configuration != nil, "\(file.report)")
        #expect(try file.configuration == Self.read(without).configuration)
    }

    @Test(arguments: ManualTopic.all.map(\.name)) func `prose fits into the width, whatever it is`(name: String) throws
    {
        let topic = try #require(ManualTopic.named(name))
        for line in ManualText.of(topic, width: 79).split(separator: "\n") where !line.hasPrefix("    ") {
            #expect(line.count <= 79 || line.hasPrefix("listen ") || line.hasPrefix("="), "\(line)")
        }
        #expect(!ManualText.of(topic, width: 79).contains("\n\n\n"))
    }

    @Test func `every word of the rule language stands in the manual`() {
        let text = ManualTopic.all.map { ManualText.of($0, width: 79) }.joined(separator: "\n")
        let words = [
            "listen", "admin", "threads", "state", "log", "limits", "timeouts", "clients", "egress", "credential",
            "route", "challenge", "include", "replay-memory", "replay-disk", "replay-disk-total", "start-line", "head",
            "upstream-head", "fields", "clients-per-address", "decode-ratio", "idle", "connect", "response", "drain",
            "allow", "authenticate",
            "realm",
            "users", "deny", "connect-ports", "user", "password", "tunnel", "decode", "host", "port", "protocol",
            "method", "proxy", "secure", "client", "issuer", "finding", "failures", "use", "default", "reject",
            "cancel", "attempts", "retry", "probe", "persistence", "preempt", "order", "authorization", "authority",
            "names",
            "certificate", "key", "passphrase", "pkcs12", "pkcs11", "intercept", "upgrade", "minimum", "revocation",
            "trust", "pin", "anchor", "only", "name", "until", "required", "store", "session", "token", "oauth2",
            "client-id",
            "client-secret",
            "client-authentication", "key-id", "refresh-token", "assertion", "client-assertion", "subject-token",
            "actor-token", "requested", "subject", "scope", "audience",
            "resource", "parameter", "issuer", "aws", "access-key",
            "secret-key", "session-token", "payload", "parent", "via", "except", "socks5", "socks4a", "direct",
            "pac", "credentials", "kerberos", "keytab", "ccache", "spn", "delegate", "canonicalise", "tokens",
            "nonce-key", "allow-principals", "learn", "form", "recognise", "login", "fields", "status", "location",
            "contains", "header", "query", "always", "oauth1", "consumer-key", "consumer-secret", "access-token",
            "token-secret", "sign", "agent",
        ]
        for word in words + FindingWord.allCases.map(\.rawValue) { #expect(text.contains(word), "\(word)") }
    }
}
