import Bytes
import Model
import Rules
import TLS
import TestPolicies
import Testing

@testable import Upstream

/// The result of an evaluation, set by the test.
private struct PlayedEvaluation: ChainEvaluation {
    let kindsFound: TrustFindings
    let key: KeyPin?

    func forgiving(_ allowed: TrustFindings, pins: [KeyPin]) -> ChainVerdict<String> {
        let left = kindsFound.subtracting(allowed)
        let isOtherKey = !pins.isEmpty && !pins.contains { $0 == key }
        return left.isEmpty && !isOtherKey ? .trusted("chain") : .refused(left: left, isOtherKey: isOtherKey)
    }
}

struct ServerTrustDecisionTests {
    private static let pin = "sha256/" + Base64.encode([UInt8](repeating: 7, count: 32))
    private static let otherPin = "sha256/" + Base64.encode([UInt8](repeating: 8, count: 32))

    /// - Parameters:
    ///   - found: by the system's anchors and for the host's own name.
    ///   - foundOnTerms: by a rule's anchors or for its name.
    private func decision(
        _ rules: String, found: TrustFindings, foundOnTerms: TrustFindings = [], user: String? = nil,
        exceptions: [TrustException] = [], today: String = "2026-11-21"
    ) throws -> (ServerTrustDecision<String>, asked: [TrustFindings]) {
        let rules = try policy(rules).rules
        var asked: [TrustFindings] = []
        let decision = ServerTrustDecision(
            evaluate: { terms in
                PlayedEvaluation(kindsFound: terms == nil ? found : foundOnTerms, key: KeyPin(Self.pin))
            },
            exceptions: { exceptions.holding(on: Day(number: Day(today)?.number ?? 0)) },
            ask: { findings in
                asked.append(findings)
                return rules.decide(
                    .serverTrust(
                        host: "lab.example", port: 443,
                        client: ClientIdentity(address: IPAddress(v4: 0x7F00_0001), user: user), findings: findings,
                        today: Day(today)))
            })
        return (decision, asked)
    }

    /// Rules, what was found, and what is granted: what was forgiven, or nil.
    @Test(
        arguments: [
            ("", [], TrustFindings()),
            ("", .expired, nil),
            ("challenge { host lab.example; method server-trust; allow expired; trust }", .expired, .expired),
            ("challenge { host lab.example; method server-trust; allow expired; trust }", [], TrustFindings()),
            ("challenge { host lab.example; method server-trust; allow expired; trust }", [.expired, .revoked], nil),
            ("challenge { host lab.example; method server-trust; allow expired; trust }", .wrongName, nil),
            ("challenge { host other.example; method server-trust; allow expired; trust }", .expired, nil),
            (
                "challenge { host lab.example; method server-trust; allow self-signed; pin \(pin); trust }",
                .selfSigned, .selfSigned
            ),
            (
                "challenge { host lab.example; method server-trust; allow self-signed; pin \(otherPin); trust }",
                .selfSigned, nil
            ),
            // A pin is asked for where nothing was found too.
            ("challenge { host lab.example; method server-trust; pin \(otherPin); trust }", [], nil),
            (
                "challenge { host lab.example; method server-trust; allow expired; until 2026-11-21; trust }", .expired,
                .expired
            ),
            (
                "challenge { host lab.example; method server-trust; allow expired; until 2026-11-20; trust }", .expired,
                nil
            ),
            ("challenge { host lab.example; method server-trust; cancel }", [], nil),
            ("challenge { host lab.example; finding expired; cancel }", .expired, nil),
            ("challenge { host lab.example; finding expired; cancel }", [], TrustFindings()),
            ("challenge { host lab.example; client bob; method server-trust; allow expired; trust }", .expired, nil),
            (
                "challenge { host lab.example; client alice; method server-trust; allow expired; trust }", .expired,
                .expired
            ),
            // The first that fits decides.
            (
                "challenge { host lab.example; method server-trust; allow wrong-name; trust }\n"
                    + "challenge { host lab.example; method server-trust; allow expired; trust }", .expired, nil
            ),
            ("challenge { host lab.example; method server-trust; default }", .expired, nil),
        ] as [(String, TrustFindings, TrustFindings?)])
    func `exactly what a rule allows is forgiven`(
        rules: String, found: TrustFindings, forgiven: TrustFindings?
    ) throws {
        let (decision, asked) = try decision(rules, found: found, user: "alice")
        #expect(asked == [found])
        switch decision {
        case .trusted(_, let grant): #expect(grant.forgiven == forgiven)
        case .refused(let refusal):
            #expect(forgiven == nil)
            #expect(refusal.findings == found)
        }
    }

    @Test(arguments: ["anchor /etc/lab.pem", "anchor /etc/lab.pem only", "name lab.internal"])
    func `another anchor or name means another evaluation`(modifier: String) throws {
        let rules = "challenge { host lab.example; method server-trust; \(modifier); trust }"
        let (good, _) = try decision(rules, found: [.unknownIssuer, .wrongName])
        guard case .trusted(_, let grant) = good else {
            Issue.record("not trusted")
            return
        }
        #expect(grant.forgiven == [] && grant.words == nil && grant.rule != nil)
        let (bad, _) = try decision(rules, found: .unknownIssuer, foundOnTerms: .expired)
        guard case .refused(let refusal) = bad else {
            Issue.record("trusted")
            return
        }
        #expect(refusal.reason == .findings(.expired) && refusal.findings == .unknownIssuer)
    }

    @Test func `a grant holds to the end of its last day`() throws {
        let rules = "challenge { host lab.example; method server-trust; allow expired; until 2026-12-31; trust }"
        guard case .trusted(_, let grant) = try decision(rules, found: .expired).0 else {
            Issue.record("not trusted")
            return
        }
        let days = ["2026-12-30", "2026-12-31", "2027-01-01"].compactMap { Day($0) }
        #expect(days.map { grant.holds(on: $0) } == [true, true, false])
        #expect(grant.words == "expired")
    }

    /// Rules, what was found, and what a stored exception for the server's key is good for.
    @Test(
        arguments: [
            ("", .expired, .expired), ("", [.selfSigned, .wrongName, .weakKey], [.selfSigned, .wrongName, .weakKey]),
            ("", .revoked, nil), ("", [.expired, .revoked], nil), ("", [], TrustFindings()),
            ("challenge { host lab.example; method server-trust; default }", .expired, .expired),
            ("challenge { host lab.example; method server-trust; allow expired; trust }", .wrongName, .wrongName),
            (
                "challenge { host lab.example; method server-trust; allow expired; trust }", [.expired, .revoked], nil
            ),
            (
                "challenge { host lab.example; method server-trust; allow revoked; trust }", [.expired, .revoked],
                [.expired, .revoked]
            ),
            (
                "challenge { host lab.example; method server-trust; pin \(pin); trust }", .expired, .expired
            ),
            // The rules have the last word.
            ("challenge { host lab.example; method server-trust; reject }", .expired, nil),
            ("challenge { host lab.example; method server-trust; cancel }", .expired, nil),
            ("challenge { host lab.example; method server-trust; pin \(otherPin); trust }", .expired, nil),
        ] as [(String, TrustFindings, TrustFindings?)])
    func `a stored exception forgives all but a revocation, and nothing that a rule forbids`(
        rules: String, found: TrustFindings, forgiven: TrustFindings?
    ) throws {
        let exception = TrustException(pin: try #require(KeyPin(Self.pin)), until: try #require(Day("2026-12-01")))
        switch try decision(rules, found: found, exceptions: [exception]).0 {
        case .trusted(_, let grant):
            #expect(grant.forgiven == forgiven)
            #expect(grant.isException == !found.isEmpty)
            #expect(grant.until == (found.isEmpty ? nil : exception.until))
            if !found.isEmpty { #expect(grant.label == "stored exception") }
        case .refused(let refusal):
            #expect(forgiven == nil && refusal.findings == found)
        }
    }

    @Test func `an exception is for its key alone, and until the end of its last day`() throws {
        let (pin, other) = (try #require(KeyPin(Self.pin)), try #require(KeyPin(Self.otherPin)))
        let days = ["2026-11-20", "2026-11-21", "2026-11-22"].compactMap { Day($0) }
        let isTrusted = { (exceptions: [TrustException]) in
            if case .trusted(_, let grant) = try decision("", found: .expired, exceptions: exceptions).0 {
                grant.until
            } else {
                nil as Day?
            }
        }
        #expect(try days.map { try isTrusted([TrustException(pin: pin, until: $0)]) } == [nil, days[1], days[2]])
        #expect(try isTrusted([TrustException(pin: other, until: days[2])]) == nil)
        let several = [
            TrustException(pin: pin, until: days[1]), TrustException(pin: other, until: days[2]),
            TrustException(pin: pin, until: days[2]),
        ]
        #expect(try isTrusted(several) == days[2])
    }

    @Test func `a suggested rule is one, and grants exactly what was found`() throws {
        let pin = try #require(KeyPin(Self.pin))
        let today = try #require(Day("2026-11-21"))
        for found: TrustFindings in [[.selfSigned, .expired], .weakKey, []] {
            for host in ["lab.example", "10.0.0.7", "::1"] {
                let suggestion = SuggestedTrustRule(host: host, port: 8443, findings: found, pin: pin, today: today)
                let rules = try policy(suggestion.text).rules
                let client = ClientIdentity(address: IPAddress(v4: 0x7F00_0001))
                let decision = rules.decide(
                    .serverTrust(host: host, port: 8443, client: client, findings: found, today: today))
                let terms = Configuration.TrustTerms(
                    allow: found, pins: [try #require(KeyPin(Self.pin))], until: Day("2027-02-19"))
                #expect(decision.action == .trust(terms), "\(suggestion.text)")
            }
        }
    }

}
