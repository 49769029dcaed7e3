import Authentication
import Bytes
import Challenges
import Credentials
import Crypto
import Foundation
import HTTP
import Model
import Rules
import TLS
import Telemetry
import TestPolicies
import Testing

@testable import Upstream

struct IdentityChoiceTests {
    private let authority: CertificateAuthority
    private let files: [ConfiguredCredential]

    init() throws {
        let now = WallTime(seconds: 1_795_000_000)
        authority = try CertificateAuthority.make(host: "test", at: now)
        let folder = NSTemporaryDirectory() + "attache.choice." + UUID().uuidString
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let strange = try CertificateAuthority.make(host: "strange", at: now)
        files = try [("device", authority), ("badge", strange)].map { name, issuer in
            let identity = try issuer.mint(for: ServerName("device.example"), at: now)
            let path = folder + "/" + name
            try identity.leaf.pem.write(toFile: path + ".pem", atomically: true, encoding: .utf8)
            let key = try identity.key.pem().withBytes { String(decoding: $0.array, as: UTF8.self) }
            try key.write(toFile: path + ".key", atomically: true, encoding: .utf8)
            return ConfiguredCredential(
                name: name,
                content: .identity(.pem(certificate: path + ".pem", key: path + ".key", passphrase: nil)))
        }
    }

    enum Accepted: CaseIterable {
        case any
        case ours
        case others
    }

    private func issuers(_ accepted: Accepted) throws -> [DistinguishedName] {
        switch accepted {
        case .any: []
        case .ours: [try #require(authority.identity.leaf.subject)]
        case .others:
            [
                try #require(
                    CertificateAuthority.make(host: "other", at: WallTime(seconds: 1_795_000_000)).identity.leaf.subject
                )
            ]
        }
    }

    private func choice(
        _ rule: String, user: String? = nil, storage: StoredCredentials = StoredCredentials(),
        metrics: Metrics = Metrics(), after progress: IdentityProgress = IdentityProgress(),
        parked: [String] = []
    ) throws -> IdentityChoice {
        let credentials = "credential device { certificate a; key b }\ncredential badge { certificate a; key b }\n"
        let policy = try policy(credentials + rule, identities: files)
        let shared = SharedState(storage: storage) { _ in }
        let delegate = RuleDelegate(
            policy: policy.challenges, state: shared.challenges,
            client: Model.ClientIdentity(address: IPAddress(v4: 0x7F00_0001), user: user))
        for name in parked {
            shared.spaces.accounts.putOnHold(try policy.credentials.credential(named: name), at: Self.origin)
        }
        return IdentityChoice(delegate, for: Self.origin, mayShow: true, after: progress, metrics: metrics) { 0 }
    }

    /// Rules, and whether the certificate is shown to an origin that accepts any issuer, ours, or only others.
    @Test(arguments: [
        ("", [false, false, false]),
        ("challenge { host a.example; method client-certificate; use device }", [true, true, true]),
        ("challenge { host b.example; method client-certificate; use device }", [false, false, false]),
        ("challenge { host a.example; port 8443; method client-certificate; use device }", [false, false, false]),
        // A rule for any host: only to whom the certificate means something.
        ("challenge { method client-certificate; use device }", [true, true, false]),
        ("challenge { issuer \"*test*\"; use device }", [false, true, false]),
        ("challenge { host a.example; client bob; method client-certificate; use device }", [false, false, false]),
        ("challenge { host a.example; client alice; method client-certificate; use device }", [true, true, true]),
        (
            "challenge { host a.example; method client-certificate; reject }\n"
                + "challenge { method client-certificate; use device }", [false, false, false]
        ),
    ])
    func `rules and accepted issuers decide`(rule: String, shown: [Bool]) throws {
        let results = try Accepted.allCases.map { accepted in
            try choice(rule, user: "alice").identity(acceptedBy: issuers(accepted)) != nil
        }
        #expect(results == shown)
    }

    /// Rules, and the certificate that is shown to an origin that accepts any issuer, ours, or only others.
    @Test(arguments: [
        ("challenge { host a.example; use badge device }", ["badge", "device", "badge"]),
        ("challenge { host a.example; use device badge }", ["device", "device", "device"]),
        ("challenge { method client-certificate; use badge device }", ["badge", "device", nil]),
    ])
    func `of several certificates the first is shown whose issuer the origin accepts`(
        rule: String, shown: [String?]
    ) throws {
        let names = try Accepted.allCases.map { accepted in
            let choice = try choice(rule)
            #expect(try (choice.identity(acceptedBy: issuers(accepted)) != nil) == (choice.shown.name != nil))
            return choice.shown.name
        }
        #expect(names == shown)
    }

    @Test func `a certificate that was shown is known, and counted`() throws {
        let metrics = Metrics()
        let choice = try choice(
            "challenge { host a.example; method client-certificate; use device }", metrics: metrics)
        #expect(choice.shown.name == nil)
        #expect(choice.identity(acceptedBy: []) != nil)
        #expect(choice.shown.name == "device")
        #expect(metrics.answeredCount(of: .clientCertificate) == 1)
    }

    @Test func `a rule that cancels is named`() throws {
        let choice = try choice("challenge \"no\" { host a.example; method client-certificate; cancel }")
        #expect(choice.identity(acceptedBy: []) == nil)
        #expect(Refusal(choice.progress, of: choice)?.sentence.contains("\"no\"") == true)
        #expect(choice.shown.name == nil)
    }

    // MARK: - Refusals

    /// The server refuses what it was shown, whose source has no other value.
    private func refuse(_ choice: IdentityChoice) throws -> IdentityProgress {
        guard case .reread(let answer) = choice.refused() else { throw Unexpected() }
        #expect(answer.credential.version == choice.shown.credential?.version)
        guard case .park = choice.progress.task.reread(.unchanged) else { throw Unexpected() }
        choice.settle(choice.progress.task.parked())
        return choice.progress
    }

    private struct Unexpected: Error {}

    /// The certificates that are shown one after the other, each on a connection of its own, to a server that refuses all.
    private func shown(
        _ rule: String, _ accepted: Accepted = .any, storage: StoredCredentials = StoredCredentials()
    ) throws -> [String] {
        var (progress, names) = (IdentityProgress(), [String]())
        while names.count < 9 {
            let choice = try choice(rule, storage: storage, after: progress)
            guard choice.identity(acceptedBy: try issuers(accepted)) != nil else { return names }
            names.append(choice.shown.name ?? "")
            progress = try refuse(choice)
        }
        return names
    }

    @Test(arguments: [
        ("challenge { host a.example; use badge device }", Accepted.any, ["badge", "device"]),
        // One that the server says it takes is not followed by one that it does not.
        ("challenge { host a.example; use badge device }", .ours, ["device"]),
        ("challenge { host a.example; use badge device }", .others, ["badge", "device"]),
        ("challenge { host a.example; use badge device; attempts 1 }", .any, ["badge", "device"]),
        ("challenge { method client-certificate; use badge device }", .ours, ["device"]),
        (
            "challenge { host a.example; method client-certificate; failures 1; use device }\n"
                + "challenge { host a.example; method client-certificate; use badge }", .any, ["badge", "device"]
        ),
        (
            "challenge { host a.example; method client-certificate; failures 1; use device; attempts 1 }\n"
                + "challenge { host a.example; method client-certificate; use badge }", .any, ["badge"]
        ),
        (
            "challenge { host a.example; method client-certificate; failures 1..; cancel }\n"
                + "challenge { host a.example; use badge device }", .any, ["badge"]
        ),
    ])
    func `after a refusal the rules are asked again`(rule: String, accepted: Accepted, names: [String]) throws {
        #expect(try shown(rule, accepted) == names)
    }

    @Test func `a parked certificate counts as refused, and is not shown`() throws {
        let rule = "challenge { host a.example; use badge device }"
        for (parked, name) in [(["badge"], "device"), (["device"], "badge"), (["badge", "device"], nil)] {
            let choice = try choice(rule, parked: parked)
            #expect(try (choice.identity(acceptedBy: issuers(.any)) != nil) == (name != nil))
            #expect(choice.shown.name == name)
        }
        let choice = try choice(rule, parked: ["device"])
        #expect(try choice.identity(acceptedBy: issuers(.ours)) == nil, "the other is not accepted")
        #expect(choice.progress.task.failureCount == 1)
    }

    @Test func `a server that asks again on its connection is answered again`() throws {
        let choice = try choice("challenge { host a.example; method client-certificate; use device }")
        for _ in 1...40 { #expect(choice.identity(acceptedBy: []) != nil) }
    }

    @Test func `of a server that may see none the issuers are kept all the same`() throws {
        let policy = try policy()
        let delegate = RuleDelegate(
            policy: policy.challenges, state: sharedState().challenges,
            client: Model.ClientIdentity(address: IPAddress(v4: 0x7F00_0001)))
        let choice = IdentityChoice(delegate, for: Self.origin, mayShow: false, metrics: Metrics()) { 0 }
        #expect(try choice.identity(acceptedBy: issuers(.ours)) == nil)
        let text = IdentityReport(choice).text
        #expect(text.contains("of these issuers:\n  \(try issuers(.ours)[0])"), "\(text)")
        let lines = text.split(separator: "\n").suffix(2).joined(separator: "\n")
        let suggested = try TestPolicies.policy(lines).rules
        let speaks = { (host: String) in suggested.speaksOfClientCertificates(host: host.utf8Span.span, port: 443) }
        #expect(speaks("a.example") && !speaks("b.example"))
        let refusal = Refusal(.certificateRequired, of: choice)
        #expect(refusal.status == .badGateway && refusal.error == .tlsAlertReceived, "\(refusal)")
        #expect(refusal.sentence.contains("a.example port 443 asks for a client certificate"), "\(refusal)")
    }

    @Test func `each certificate is listed with the reason why it was not shown`() throws {
        let rule = """
            challenge "far" { host a.example; client bob; method client-certificate; use badge }
            challenge "near" { host a.example; method client-certificate; use device }
            """
        let parked = try choice(rule, user: "alice", parked: ["device"])
        _ = parked.identity(acceptedBy: [])
        let text = IdentityReport(parked).text
        #expect(text.contains("device: it was refused before and is on hold: the next try is in 30 minutes"), "\(text)")
        #expect(text.contains("badge: rule \"near\" decides, which says 'use device'"), "\(text)")
        let none = try choice("challenge \"far\" { host a.example; client bob; issuer *; use badge }", user: "alice")
        _ = none.identity(acceptedBy: try issuers(.ours))
        let other = IdentityReport(none).text
        #expect(other.contains("badge: rule \"far\" is for other clients"), "\(other)")
        #expect(other.contains("device: no rule shows it to this server"), "\(other)")
        let strange = try choice("challenge \"any\" { method client-certificate; use badge }")
        _ = strange.identity(acceptedBy: try issuers(.ours))
        #expect(
            IdentityReport(strange).text.contains("which the server does not accept"), "\(IdentityReport(strange).text)"
        )
    }

    // MARK: - The store

    @Test func `of stored certificates the next is shown where the first was refused, as far as the server names it`()
        async throws
    {
        let storage = try await filledStorage()
        #expect(try shown("", .any, storage: storage) == ["theirs@a.example:443"])
        #expect(try shown("", .ours, storage: storage) == ["ours@a.example:443"])
        #expect(try shown("", .others, storage: storage) == ["theirs@a.example:443"])
    }

    private static let origin = Origin(host: "a.example", port: 443, protocol: .https)

    /// Has a certificate of our authority's, and one of another's, which is the default.
    private func filledStorage(for origin: Origin = Self.origin) async throws -> StoredCredentials {
        let storage = StoredCredentials()
        let space = ProtectionSpace(clientCertificateOf: origin)
        let now = WallTime(seconds: 1_795_000_000)
        let other = try CertificateAuthority.make(host: "other authority", at: now)
        for (name, issuer) in [("ours", authority), ("theirs", other)] {
            let identity = try issuer.mint(for: ServerName("device.example"), at: now)
            let credential = Credential(name: space.credentialName(of: name), identity: identity)
            if name == "theirs" {
                try await storage.setDefault(credential, for: space)
            } else {
                try await storage.set(credential, for: space)
            }
        }
        return storage
    }

    @Test(arguments: ["", "challenge { host a.example; method client-certificate; default }"])
    func `of several stored certificates the accepted issuers choose, else it is the default`(rule: String)
        async throws
    {
        let storage = try await filledStorage()
        let names = try Accepted.allCases.map { accepted in
            let choice = try choice(rule, storage: storage)
            #expect(try choice.identity(acceptedBy: issuers(accepted)) != nil)
            return choice.shown.name
        }
        #expect(names == ["theirs@a.example:443", "ours@a.example:443", "theirs@a.example:443"])
    }

    @Test(arguments: [
        "challenge { host a.example; method client-certificate; reject }",
        "challenge { host a.example; method client-certificate; cancel }",
    ])
    func `a rule that says no shows no stored certificate`(rule: String) async throws {
        let choice = try choice(rule, storage: try await filledStorage())
        #expect(choice.identity(acceptedBy: []) == nil && choice.shown.name == nil)
    }

    @Test(arguments: [
        Origin(host: "b.example", port: 443, protocol: .https), Origin(host: "a.example", port: 8443, protocol: .https),
        Origin(host: "a.example", port: 443, protocol: .https, isProxy: true),
    ])
    func `a stored certificate is for its server alone`(other: Origin) async throws {
        let choice = try choice("", storage: try await filledStorage(for: other))
        #expect(choice.identity(acceptedBy: []) == nil)
    }
}
