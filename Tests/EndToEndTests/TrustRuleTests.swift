import Foundation
import Testing

/// Each form of a rule forgives exactly what it says, and nothing more.
struct TrustRuleTests {
    /// A rule for each, named like it.
    private func rules(_ specimens: [Specimen], _ terms: (Specimen) throws -> [String]) throws -> String {
        try specimens.map { specimen in
            let port = try Zoo.shared().port(of: specimen)
            let lines = try ["host \(specimen.host)", "port \(port)", "method server-trust"] + terms(specimen)
            return "challenge \"\(specimen.name)\" { \(lines.joined(separator: "; ")) }\n"
        }.joined()
    }

    private static let refused = Specimen.judged.filter { !$0.findings.isEmpty }

    /// Visits these and expects each to be trusted, or refused for what is listed under its name.
    private func expect(
        _ specimens: [Specimen], under rules: String, refusedFor reasons: [String: [String]] = [:],
        entrances: [Entrance] = Entrance.allCases, location: SourceLocation = #_sourceLocation
    ) throws {
        try AttacheProcess.visitingZoo(rules) { proxy throws in
            for entrance in entrances {
                for specimen in specimens {
                    let verdict = try TrustVerdict.of(specimen, by: entrance, through: proxy)
                    if let reasons = reasons[specimen.name] {
                        verdict.expectRefused(specimen, entrance, for: reasons, location: location)
                    } else {
                        verdict.expectTrusted(specimen, entrance, location: location)
                    }
                }
            }
        }
    }

    // MARK: allow

    @Test(arguments: Entrance.allCases)
    func `allow forgives the findings it names`(entrance: Entrance) throws {
        let rules = try rules(Self.refused) { ["allow \($0.findings.joined(separator: " "))", "trust"] }
        try expect(Self.refused, under: rules, entrances: [entrance])
    }

    @Test(arguments: Entrance.allCases)
    func `allow forgives nothing that it does not name`(entrance: Entrance) throws {
        let reasons = Dictionary(uniqueKeysWithValues: Self.refused.map { ($0.name, $0.findings) })
        let rules = try rules(Self.refused) { specimen in
            let others = TrustVerdict.words.filter { !specimen.findings.contains($0) }
            return ["allow \(others.joined(separator: " "))", "trust"]
        }
        try expect(Self.refused, under: rules, refusedFor: reasons, entrances: [entrance])
    }

    @Test func `of two findings the one that is not allowed is the reason`() throws {
        for (first, second) in [(0, 1), (1, 0)] {
            let rules = try rules(Specimen.mixtures) { ["allow \($0.findings[first])", "trust"] }
            let reasons = Dictionary(uniqueKeysWithValues: Specimen.mixtures.map { ($0.name, [$0.findings[second]]) })
            try expect(Specimen.mixtures, under: rules, refusedFor: reasons)
        }
    }

    @Test func `weak stands for a weak key and a weak signature`() throws {
        let both = try [Specimen["weak-key"], Specimen["weak-signature"]]
        try expect(both, under: rules(both) { _ in ["allow weak", "trust"] })
    }

    @Test func `a rule is for its host and its port`() throws {
        let expired = try Specimen["expired"]
        let port = try Zoo.shared().port(of: expired)
        for predicates in ["host expired-issuer.example.test", "host \(expired.host); port \(port - 1)"] {
            let rule = "challenge { \(predicates); method server-trust; allow expired; trust }"
            try expect([expired], under: rule, refusedFor: ["expired": ["expired"]])
        }
    }

    // MARK: pin

    @Test func `a pin is asked for besides the chain`() throws {
        let zoo = try Zoo.shared()
        let specimens = try ["good", "rsa", "self-signed", "expired"].map { try Specimen[$0] }
        let pin = { (specimen: Specimen) in "pin \(try zoo.identity(of: specimen).leaf.pin())" }
        let reasons = ["self-signed": ["self-signed"], "expired": ["expired"]]
        try expect(specimens, under: rules(specimens) { [try pin($0), "trust"] }, refusedFor: reasons)
        let forgiving = try rules(specimens) { specimen in
            [try pin(specimen), "allow self-signed expired", "trust"]
        }
        try expect(specimens, under: forgiving)
    }

    @Test(arguments: Entrance.allCases)
    func `a wrong pin refuses whatever is allowed`(entrance: Entrance) throws {
        let specimens = try ["good", "self-signed"].map { try Specimen[$0] }
        let wrong = try Zoo.shared().identity(of: Specimen["rsa"]).leaf.pin()
        let rules = try rules(specimens) { _ in ["pin \(wrong)", "allow self-signed", "trust"] }
        try AttacheProcess.visitingZoo(rules) { proxy throws in
            for specimen in specimens {
                let verdict = try TrustVerdict.of(specimen, by: entrance, through: proxy)
                #expect(verdict.answered.status == 502, "\(verdict)")
                #expect(verdict.answered["Proxy-Status"]?.contains("tls_certificate_error") == true, "\(verdict)")
                #expect(verdict.answered.text.contains("pin"), "\(verdict)")
                // What the server showed instead, to compare or to paste.
                let shown = try Zoo.shared().identity(of: specimen).leaf.pin()
                #expect(verdict.answered.text.contains(shown), "\(verdict)")
            }
        }
    }

    @Test func `one of several pins is enough`() throws {
        let good = try Specimen["good"]
        let pins = try [Specimen["rsa"], good].map { try Zoo.shared().identity(of: $0).leaf.pin() }
        try expect([good], under: rules([good]) { _ in ["pin \(pins.joined(separator: " "))", "trust"] })
    }

    // MARK: anchor

    @Test func `an anchor is added to the system's`() throws {
        let both = try ["good", "unknown-issuer"].map { try Specimen[$0] }
        let anchor = try Hierarchy.shared().elsewhere.certificate
        try expect(both, under: rules(both) { _ in ["anchor \(anchor)", "trust"] })
    }

    @Test func `an anchor can stand in the place of the system's`() throws {
        let both = try ["root-sent", "unknown-issuer"].map { try Specimen[$0] }
        let anchor = try Hierarchy.shared().elsewhere.certificate
        let rules = try rules(both) { _ in ["anchor \(anchor) only", "trust"] }
        try expect(both, under: rules, refusedFor: ["root-sent": ["unknown-issuer"]])
    }

    @Test func `a certificate can be its own anchor, for its own name and time`() throws {
        let specimens = try ["self-signed", "expired-self-signed", "wrong-name-self-signed"].map { try Specimen[$0] }
        let rules = try rules(specimens) { specimen in
            ["anchor \(try Zoo.shared().identity(of: specimen).leaf.certificate)", "trust"]
        }
        let reasons = ["expired-self-signed": ["expired"], "wrong-name-self-signed": ["wrong-name"]]
        try expect(specimens, under: rules, refusedFor: reasons)
    }

    // MARK: name, until, cancel, default

    @Test func `name verifies as another name, and only that`() throws {
        let specimens = try ["wrong-name", "good"].map { try Specimen[$0] }
        let rules = try rules(specimens) { _ in ["name other.example.test", "trust"] }
        try expect(specimens, under: rules, refusedFor: ["good": ["wrong-name"]])
    }

    /// Days from today, as a rule says one.
    private func day(_ count: Int) -> String {
        let format = DateFormatter()
        format.locale = Locale(identifier: "en_US_POSIX")
        format.timeZone = TimeZone(identifier: "UTC")
        format.dateFormat = "yyyy-MM-dd"
        return format.string(from: Date(timeIntervalSinceNow: Double(count) * 86_400))
    }

    @Test func `after its day a rule no longer applies`() throws {
        let expired = try Specimen["expired"]
        try expect([expired], under: rules([expired]) { _ in ["allow expired", "until \(day(1))", "trust"] })
        let past = try rules([expired]) { _ in ["allow expired", "until \(day(-1))", "trust"] }
        try expect([expired], under: past, refusedFor: ["expired": ["expired"]])
        // The next rule is asked.
        let next = "challenge { host \(expired.host); method server-trust; allow expired; trust }"
        try expect([expired], under: past + next)
    }

    @Test func `a rule that will soon end is warned of`() throws {
        let rule = { (count: Int) in
            "challenge { host a.example.test; method server-trust; allow expired; until \(day(count)); trust }"
        }
        for (count, isWarned) in [(5, true), (-3, true), (40, false)] {
            try AttacheProcess.visitingZoo(rule(count)) { proxy throws in
                #expect(try proxy.visit(Specimen["good"], by: .upgraded).status == 200)
                #expect(proxy.errorOutput.contains(day(count)) == isWarned, "\(count): \(proxy.errorOutput)")
            }
        }
    }

    @Test func `cancel refuses what would be trusted, and names the rule`() throws {
        let good = try Specimen["good"]
        try AttacheProcess.visitingZoo(rules([good]) { _ in ["cancel"] }) { proxy throws in
            for entrance in Entrance.allCases {
                let verdict = try TrustVerdict.of(good, by: entrance, through: proxy)
                #expect(verdict.answered.status == 502, "\(verdict)")
                #expect(verdict.answered["Proxy-Status"]?.isEmpty == false)
                #expect(verdict.answered.text.contains("\"good\""), "\(verdict)")
            }
        }
    }

    @Test func `the first rule decides, and default is one`() throws {
        let expired = try Specimen["expired"]
        let first = try rules([expired]) { _ in ["default"] }
        let second = "challenge { host \(expired.host); method server-trust; allow expired; trust }"
        try expect([expired], under: first + second, refusedFor: ["expired": ["expired"]])
    }

    @Test func `a rule can speak of what was found`() throws {
        let specimens = try ["expired", "wrong-name", "expired-wrong-name", "good"].map { try Specimen[$0] }
        let rules = """
            challenge "names" { host *.example.test; method server-trust; finding wrong-name; cancel }
            challenge "dates" { host *.example.test; method server-trust; finding expired; allow expired; trust }

            """
        try AttacheProcess.visitingZoo(rules) { proxy throws in
            for entrance in Entrance.allCases {
                for (specimen, rule) in zip(specimens, ["dates", "names", "names", nil]) {
                    let verdict = try TrustVerdict.of(specimen, by: entrance, through: proxy)
                    #expect(verdict.answered.status == (rule == "names" ? 502 : 200), "\(verdict)")
                    if let rule { #expect(verdict.rule == rule, "\(verdict)") }
                }
            }
        }
    }
}
