import Bytes
import Model
import Rules
import Testing

@Suite struct TrustRuleTests {
    static let local = ClientIdentity(address: IPAddress(v4: 0x7F00_0001))
    static let pin = "sha256/47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="

    private func query(
        _ host: String, _ method: AuthenticationMethod = .serverTrust, findings: TrustFindings = [],
        issuers: [String] = [],
        today: String? = nil
    ) -> ChallengeQuery {
        var query = ChallengeQuery(host: host, port: 443, protocol: .https, method: method, client: Self.local)
        query.isSecure = true
        query.issuers = issuers
        query.findings = findings
        query.today = today.flatMap { Day($0) }
        return query
    }

    @Test func `a decision to trust carries its terms`() throws {
        let rules = try rules(
            """
            challenge "lab" {
                host a.example; allow weak expired; pin \(Self.pin); anchor a.pem b.pem only; name Lab.example
                until 2027-01-31; trust
            }
            """)
        let decision = rules.decide(query("a.example", today: "2027-01-31"))
        guard case .trust(let terms) = decision.action else {
            Issue.record("\(decision)")
            return
        }
        #expect(terms.allow == [.weakKey, .weakSignature, .expired])
        #expect(terms.pins.map(\.description) == [Self.pin] && terms.pins[0].digest.count == 32)
        #expect(terms.anchors == ["a.pem", "b.pem"] && terms.hasOnlyItsAnchors)
        #expect(terms.name == "lab.example" && terms.until?.description == "2027-01-31")
        #expect(decision.rule?.name == "lab")
        // The same object for every question, so that connections can be told apart by it.
        guard case .trust(let again) = rules.decide(query("a.example", today: "2026-11-21")).action else {
            Issue.record("the rule did not match again")
            return
        }
        #expect(terms === again)
    }

    @Test(arguments: [
        ("2027-01-30", true), ("2027-01-31", true), ("2027-02-01", false), ("2028-01-01", false), (nil, false),
    ])
    func `a rule applies through its last day, and not on a day that nobody knows`(today: String?, applies: Bool) throws
    {
        let rules = try rules("challenge \"x\" { host a.example; allow expired; until 2027-01-31; trust }")
        let query = query("a.example", today: today)
        #expect((rules.decide(query).rule?.name == "x") == applies)
        #expect(
            rules.explain(query).last?.outcome == (applies ? .matched : .failed(.until, "it expired on 2027-01-31")))
    }

    @Test(arguments: [
        ("method server-trust; cancel", AuthenticationMethod.serverTrust, true),
        ("method server-trust; cancel", .clientCertificate, false),
        ("cancel", .serverTrust, false), ("cancel", .clientCertificate, false), ("cancel", .ntlm, true),
        ("reject", .serverTrust, false), ("default", .clientCertificate, false), ("default", .default, true),
        ("allow expired; trust", .serverTrust, true), ("allow expired; trust", .basic, false),
        ("use device", .clientCertificate, true), ("use device", .basic, false), ("use device", .serverTrust, false),
        ("use ci", .clientCertificate, false), ("use ci", .basic, true), ("use ci", .serverTrust, false),
        ("method basic server-trust; cancel", .serverTrust, true), ("method basic server-trust; cancel", .basic, true),
    ])
    func `a challenge of TLS is met by a rule that speaks of it`(
        words: String, method: AuthenticationMethod, matches: Bool
    ) throws {
        let rules = try rules(
            """
            credential ci { user u; password p }
            credential device { certificate a; key b }
            challenge "x" { host a.example; \(words) }
            """)
        #expect((rules.decide(query("a.example", method)).rule != nil) == matches)
    }

    @Test(arguments: [
        ("finding expired weak", [TrustFinding.expired], true), ("finding expired weak", [.weakSignature], true),
        ("finding expired weak", [.revoked, .weakKey], true), ("finding expired weak", [.revoked], false),
        ("finding expired weak", [], false), ("method server-trust", [], true),
    ])
    func `findings choose the rule`(words: String, findings: [TrustFinding], matches: Bool) throws {
        let rules = try rules("challenge \"x\" { \(words); cancel }")
        let query = query("a.example", findings: TrustFindings(findings))
        #expect((rules.decide(query).rule != nil) == matches)
    }

    @Test func `the issuers that a server accepts choose the certificate`() throws {
        let rules = try rules(
            """
            credential a { certificate a; key a }
            credential b { certificate b; key b }
            challenge { host a.example; issuer "CN=Lab*,O=Example"; use a }
            challenge { host a.example; use b }
            """)
        let lab = query("a.example", .clientCertificate, issuers: ["CN=Other", "CN=Lab 1,O=Example"])
        #expect(rules.decide(lab).action == .use(["a"]))
        #expect(rules.decide(query("a.example", .clientCertificate, issuers: ["CN=Other"])).action == .use(["b"]))
        #expect(rules.decide(query("a.example", .clientCertificate)).action == .use(["b"]))
    }

    @Test func `the questions about a host are known before its first connection`() throws {
        let rules = try rules(
            """
            credential device { certificate a; key b }
            challenge { host a.example; allow expired; trust }
            challenge { host b.example; client alice; use device }
            challenge { host *.c.example; port 8443; client 10.0.0.0/8; method server-trust; cancel }
            challenge { host d.example; proxy yes; allow expired; trust }
            challenge { host e.example; client alice; cancel }
            """)
        let answers = { (host: String, port: UInt16, isProxy: Bool) in
            let host = Array(host.utf8)
            return [
                rules.speaksOfClientCertificates(host: host.span, port: port, isProxy: isProxy),
                rules.trustDependsOnClient(host: host.span, port: port, isProxy: isProxy),
            ]
        }
        #expect(rules.speaks(of: .trust) && rules.speaks(of: .clientCertificates))
        #expect(answers("A.example", 443, false) == [false, false])
        #expect(answers("b.example", 443, false) == [true, true])
        #expect(answers("x.c.example", 443, false) == [false, false])
        #expect(answers("x.c.example", 8443, false) == [false, true])
        #expect(answers("d.example", 443, false) == [false, false])
        #expect(answers("d.example", 443, true) == [false, false])
        #expect(answers("e.example", 443, false) == [false, false])
        let other = try Self.quiet()
        #expect(!other.speaks(of: .trust) && !other.speaks(of: .clientCertificates))
    }

    private static func quiet() throws -> RuleSet {
        try rules("challenge { host a.example; cancel } challenge { proxy yes; reject }")
    }

    @Test func `a route that upgrades says to which port`() throws {
        let rules = try rules(
            """
            route a.example { upgrade }
            route b.example { upgrade 8443; intercept; tls minimum 1.0 }
            """)
        let first = rules.route(host: Array("a.example".utf8).span, port: 80)
        #expect(first.action == .tunnel && first.upgrade?.port(from: 80) == 443)
        #expect(first.upgrade?.port(from: 8080) == 8080 && first.tls == nil)
        let second = rules.route(host: Array("b.example".utf8).span, port: 80)
        #expect(second.action == .intercept && second.upgrade?.port(from: 80) == 8443)
        #expect(second.tls == Configuration.TLSTerms(minimum: .v10))
        #expect(RouteDecision.none.upgrade == nil)
    }

    @Test(arguments: [
        ("1970-01-01", 0), ("1970-12-31", 364), ("1972-02-29", 789), ("2000-02-29", 11_016), ("2026-11-21", 20_778),
        ("2100-03-01", 47_541), ("9999-12-31", 2_932_896),
    ])
    func `a day has a number and a text`(text: String, number: Int) {
        #expect(Day(text)?.number == number)
        #expect(Day(number: number).description == text)
        #expect(Day(of: WallTime(seconds: number * 86_400)) == Day(number: number))
        #expect(Day(of: WallTime(seconds: number * 86_400 + 86_399)) == Day(number: number))
    }

    @Test(arguments: [
        "", "2027", "2027-1-1", "2027-13-01", "2027-00-10", "2027-02-29", "2100-02-29", "2027-04-31", "1969-12-31",
        "2027-01-00", "2027-01-01 ", "+027-01-01", "2027-01-0x", "２０２７-01-01", "2027-01-01-01",
    ])
    func `a text that is no day is refused`(text: String) {
        #expect(Day(text) == nil)
    }

    @Test func `a finding has the two ways to name it, and weak is two`() {
        for finding in TrustFinding.allCases {
            #expect(TrustFindings(finding).findings == [finding])
        }
        #expect(TrustFindings.weak.findings == [.weakKey, .weakSignature])
        #expect(TrustFindings.all.findings == TrustFinding.allCases)
    }

    @Test(arguments: [
        ("*.corp.example.com", "a.corp.example.com", true), ("*.corp.example.com", "corp.example.com", false),
        ("corp.example.com", "Corp.Example.com.", true), ("corp.example.com", "a.b.corp.example.com", true),
        ("corp.example.com", "notcorp.example.com", false), ("10.0.0.0/8", "10.1.2.3", true),
        ("10.0.0.0/8", "11.1.2.3", false), ("10.0.0.7", "10.0.0.7", true), ("fd00::/8", "[fd00::1]", true),
        ("10.0.0.0/8", "a.example", false),
    ])
    func `an authority issues for the names it is for`(name: String, host: String, expected: Bool) throws {
        let authority = try rules("authority { names \(name) }").configuration.authority
        let bytes = Array(host.utf8)
        let isPermitted = authority.permits(bytes.span)
        #expect(isPermitted == expected)
        let isPermittedByDefault = Configuration.Authority().permits(bytes.span)
        #expect(isPermittedByDefault)
    }
}
