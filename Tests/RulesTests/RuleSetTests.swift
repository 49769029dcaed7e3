import Bytes
import Model
import Testing

@testable import Rules

@Suite struct RuleSetTests {
    static let pin = "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="
    static let local = ClientIdentity(address: IPAddress(v4: 0x7F00_0001))

    private func query(_ host: String, _ method: AuthenticationMethod = .basic) -> ChallengeQuery {
        ChallengeQuery(host: host, port: 80, protocol: .http, realm: "R", method: method, client: Self.local)
    }

    @Test(arguments: [
        ("a.internal.example", 80, "deny"), ("internal.example", 80, "tunnel"), ("x.example", 8080, "decode"),
        ("x.example", 80, "deny"), ("y.example", 80, "tunnel"), ("10.1.1.1", 80, "deny"),
        ("[::ffff:10.1.1.1]", 80, "deny"), ("X.Example.", 80, "deny"), ("web-1.example", 80, "decode"),
    ])
    func `the first route that fits decides`(host: String, port: UInt16, expected: String) throws {
        let rules = try rules(
            """
            route x.example:8080 { decode }
            route 10.0.0.0/8 { deny }
            route *.internal.example { deny }
            route web-*.example { decode }
            route x.example { deny }
            """)
        let route = rules.route(host: Array(host.utf8).span, port: port)
        let actual = route.action == .deny ? "deny" : route.decodesContent ? "decode" : "tunnel"
        #expect(actual == expected)
        #expect((route.rule == nil) == (expected == "tunnel"))
    }

    @Test func `without routes everything is tunnelled`() throws {
        #expect(try rules("").route(host: Array("a".utf8).span, port: 1) === RouteDecision.none)
    }

    @Test func `a decision that is kept answers only the query that it was made for`() throws {
        let clients = ["alice", "bob", nil, "\u{E9}", "e\u{301}"]
        var blocks: [String] = []
        for number in 0..<40 {
            let predicate = [
                "host g\(number)*.example", "realm \"R\(number)\"", "client \"alice\"; realm \"S\(number)\"",
                "failures \(number % 3).. ; realm \"T\"", "port \(80 + number % 2); realm \"U\(number % 3)\"",
                "secure yes; protocol https; realm \"V\"", "proxy yes; realm \"W\(number)\"",
                "method server-trust; host t*.example; finding expired; until 2027-01-0\(number % 9 + 1)",
            ][number % 8]
            let answer = predicate.contains("until") ? "allow expired; pin sha256/\(Self.pin); trust" : "cancel"
            blocks.append("challenge \"\(number)\" { \(predicate); \(answer) }")
        }
        blocks.append("challenge accent { client \"\u{E9}\"; realm none; cancel }")
        // Without these no query would look at many rules.
        blocks += (0..<80).map { "challenge { host x\($0)*.example; method basic server-trust; default }" }
        let rules = try rules(blocks.joined(separator: "\n"))
        var queries: [ChallengeQuery] = []
        for host in ["g0.example", "t1.example", "z.example"] {
            for realm in ["R1", "S2", "T", "U0", "U1", "V", "W6", "none"] {
                for (index, user) in clients.enumerated() {
                    // The last two differ in their spelling alone.
                    let number = min(index, 3)
                    for isOdd in [false, true] {
                        var query = ChallengeQuery(
                            host: host, port: isOdd ? 81 : 80, protocol: isOdd ? .https : .http, realm: realm,
                            method: host == "t1.example" ? .serverTrust : .basic,
                            client: ClientIdentity(address: Self.local.address, user: user))
                        query.isProxy = number == 1
                        query.isSecure = isOdd
                        query.findings = isOdd ? .expired : .revoked
                        query.failures = number
                        query.today = Day("2027-01-0\(number + 4)")
                        queries.append(query)
                    }
                }
            }
        }
        var found: Set<String> = []
        for query in queries + queries.shuffled() + queries {
            let last = rules.explain(query).last
            let expected = last?.outcome == .matched ? last?.rule : nil
            #expect(rules.decide(query).rule == expected)
            found.insert(expected?.name ?? "")
        }
        #expect(found.count > 6)
    }

    @Test func `the first matching challenge decides, wherever the index found it`() throws {
        let rules = try rules(
            """
            credential c { user u; password p }
            challenge "glob"   { host build-*.example.com; method digest; cancel }
            challenge "suffix" { host *.example.com; method basic; reject }
            challenge "exact"  { host build-1.example.com; use c }
            challenge "upper"  { host *.EXAMPLE.com; default }
            challenge "any"    { use c; host * }
            """)
        #expect(rules.decide(query("build-1.example.com", .digest)).rule?.name == "glob")
        #expect(rules.decide(query("build-1.example.com")).rule?.name == "suffix")
        #expect(rules.decide(query("build-1.example.com", .ntlm)).rule?.name == "exact")
        #expect(rules.decide(query("build-2.example.com", .ntlm)).rule?.name == "upper")
        #expect(rules.decide(query("a.b.example.com")).rule?.name == "suffix")
        #expect(rules.decide(query("example.com")).rule?.name == "any")
        #expect(rules.decide(query("build-1.example.com", .serverTrust)) == .none)
        #expect(rules.decide(query("elsewhere", .serverTrust)) == .none)
    }

    @Test(arguments: [
        "host a.example", "port 80 8000-8100", "protocol http", "realm \"R*\" x", "method digest", "proxy no",
        "secure no", "client 127.0.0.0/8", "client \"al*\"", "failures 1",
        "failures 1..", "failures 0..2",
    ])
    func `each predicate holds, and alone decides that a rule does not`(predicate: String) throws {
        let rules = try rules("challenge \"x\" { \(predicate); cancel }")
        var fitting = ChallengeQuery(
            host: "A.example", port: 8080, protocol: .http, realm: "Rome", method: .digest,
            client: ClientIdentity(address: IPAddress(v4: 0x7F00_0001), user: "alice"))
        fitting.failures = 1
        #expect(rules.decide(fitting).rule?.name == "x")
        var other = ChallengeQuery(
            host: "b.example", port: 443, protocol: .https, method: .basic,
            client: ClientIdentity(address: IPAddress(v4: 0x0A00_0001)))
        (other.isProxy, other.isSecure, other.failures) = (true, true, 5)
        let isOpenEnded = predicate == "failures 1.."
        #expect((rules.decide(other).rule == nil) == !isOpenEnded)
        fitting.failures = 0
        #expect((rules.decide(fitting).rule == nil) == ["failures 1", "failures 1.."].contains(predicate))
        let trace = rules.explain(other)
        #expect(trace.count == 1)
        if case .failed(let failed, let words) = trace[0].outcome {
            #expect(predicate.hasPrefix(failed.rawValue))
            #expect(!words.isEmpty)
        } else {
            #expect(isOpenEnded)
        }
    }

    @Test func `a decision carries the modifiers and their defaults`() throws {
        let rules = try rules(
            """
            credential c { user u; password p }
            challenge { host a.example; use c }
            challenge "b" {
                host b.example; use c; attempts 3; persistence none; preempt no
                order basic digest; authorization replace
            }
            """)
        let plain = rules.decide(query("a.example"))
        #expect(plain.action == .use(["c"]) && plain.attempts == 1 && plain.persistence == .session)
        #expect(plain.isPreemptive && plain.order.isEmpty && plain.authorization == .keep)
        #expect(plain.rule == RuleReference(name: nil, file: "proxy.conf", line: 2))
        // A client reads these: the file's directory is not for it.
        let named = RuleReference(name: "ci", file: "/etc/attache/proxy.conf", line: 2)
        #expect(named.reason == "rule \"ci\" (proxy.conf:2)" && named.title == "\"ci\"")
        let unnamed = RuleReference(name: nil, file: "/etc/attache/proxy.conf", line: 2)
        #expect(unnamed.reason == "rule proxy.conf:2" && unnamed.title == "proxy.conf:2")
        #expect(unnamed.place == "/etc/attache/proxy.conf:2")
        let full = rules.decide(query("b.example"))
        #expect(full.attempts == 3 && full.persistence == .none && !full.isPreemptive)
        #expect(full.order == [.basic, .digest] && full.authorization == .replace)
        #expect(full.rule?.description == "\"b\" (proxy.conf:3)")
        #expect(rules.decide(query("c.example")) == .none)
    }

    @Test(arguments: [
        ("a.example", 80, true), ("a.example", 81, false), ("b.example", 80, false), ("x.c.example", 9, true),
        ("d.example", 80, false), ("e.example", 80, false), ("f.example", 80, true),
    ])
    func `a request that no rule could answer is known beforehand`(host: String, port: UInt16, expected: Bool) throws {
        let rules = try rules(
            """
            credential c { user u; password p }
            challenge { host a.example; port 80; use c }
            challenge { host b.example; reject }
            challenge { host *.c.example; use c }
            challenge { host d.example; proxy yes; use c }
            challenge { host f.example; cancel }
            """)
        #expect(rules.mayAnswer(host: Array(host.utf8).span, port: port) == expected)
    }

    @Test(arguments: [
        ("a.example", NetworkProtocol.http, "127.0.0.1", "keep"), ("a.example", .https, "127.0.0.1", "replace"),
        ("b.example", .http, "127.0.0.1", "replace"), ("c.example", .http, "127.0.0.1", "keep"),
        ("c.example", .http, "10.0.0.1", "replace"), ("d.example", .http, "127.0.0.1", "keep"),
    ])
    func `the fate of a client's own authorization is known beforehand`(
        host: String, protocol: NetworkProtocol, client: String, expected: String
    ) throws {
        let rules = try rules(
            """
            challenge { host a.example; secure yes; default; authorization replace }
            challenge { host a.example; default; authorization keep }
            challenge { host b.example; method digest; default }
            challenge { host b.example; method basic; default; authorization replace }
            challenge { host c.example; client 10.0.0.0/8; default; authorization replace }
            challenge { host d.example; proxy yes; default; authorization replace }
            """)
        let address: IPAddress = try #require(IPAddress(client))
        let identity = ClientIdentity(address: address)
        let fate = rules.authorization(
            host: Array(host.utf8).span, port: 80, protocol: `protocol`, isSecure: `protocol` == .https,
            client: identity)
        #expect(fate.rawValue == expected)
    }

    @Test(
        arguments: [
            ("host a; reject", []), ("host a; use c", .challenges), ("host a; cancel", .challenges),
            ("host a; default; authorization replace", .replacement), ("host a; default; authorization keep", []),
            ("host a; default; authorization refuse", [.replacement, .refusedCredentials]),
            ("host a; default; learn yes", .learning), ("host a; allow expired; trust", .trust),
            ("host a; secure yes; use tls", .clientCertificates), ("host a; use s3", [.challenges, .signatures]),
            ("host a; use bot", [.challenges, .signatures]),
            ("host a; use bot; preempt always", [.challenges, .signatures, .preemption]),
            ("host a; use shop", [.challenges, .signatures]),
            ("host a; secure yes; use key", [.challenges, .places]),
            ("host a; secure yes; method basic; use c; preempt always", [.challenges, .preemption]),
            (
                "host a; secure yes; use c; form { recognise contains x; login /; fields p={password} }",
                [.challenges, .forms]
            ),
        ] as [(String, RuleSet.Subjects)])
    func `what no rule speaks of is not looked for`(rule: String, expected: RuleSet.Subjects) throws {
        let rules = try rules(
            """
            credential c { user u; password p }
            credential tls { certificate c; key k }
            credential s3 { aws eu-central-1 s3; access-key a; secret-key b }
            credential bot { sign key k; agent https://bot.example }
            credential shop { oauth1 hmac-sha1; consumer-key a; consumer-secret b }
            credential key { token t; header X-Key "{token}" }
            challenge { \(rule) }
            """)
        let all = (0..<12).map { RuleSet.Subjects(rawValue: 1 << $0) }
        #expect(RuleSet.Subjects(all.filter { rules.speaks(of: $0) }) == expected)
        #expect(all.last == .placeholders)
    }

    @Test func `the index agrees with asking every rule in turn`() throws {
        let patterns = [
            "a.example", "*.example", "b.a.example", "*.a.example", "c-*.example", "*", "10.0.0.0/8", "10.0.0.1",
            "z.test",
        ]
        var random = SystemRandomNumberGenerator()
        for _ in 0..<50 {
            let blocks = (0..<20).map { number in
                let hosts = (0...Int.random(in: 0...2, using: &random)).map { _ in patterns.randomElement() ?? "*" }
                let method = ["", "method basic;", "method digest ntlm;"].randomElement() ?? ""
                return "challenge \"\(number)\" { host \(hosts.joined(separator: " ")); \(method) cancel }"
            }
            let rules = try rules(blocks.joined(separator: "\n"))
            for host in [
                "a.example", "b.a.example", "x.y.a.example", "c-1.example", "10.0.0.1", "10.2.3.4", "z.test", "n",
            ] {
                for method in AuthenticationMethod.allCases {
                    let query = query(host, method)
                    let last = rules.explain(query).last
                    #expect(rules.decide(query).rule == (last?.outcome == .matched ? last?.rule : nil))
                }
            }
        }
    }
}
