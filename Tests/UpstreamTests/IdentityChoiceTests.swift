import Authentication
import Bytes
import Credentials
import Crypto
import Foundation
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
        let now = 1_795_000_000
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

    private enum Accepted: CaseIterable {
        case any
        case ours
        case others
    }

    private func issuers(_ accepted: Accepted) throws -> [DistinguishedName] {
        switch accepted {
        case .any: []
        case .ours: [try #require(authority.identity.leaf.subject)]
        case .others: [try #require(CertificateAuthority.make(host: "other", at: 1_795_000_000).identity.leaf.subject)]
        }
    }

    private func choice(
        _ rule: String, user: String? = nil, storage: any CredentialStorage = MemoryCredentialStorage(),
        metrics: Metrics = Metrics()
    ) throws -> IdentityChoice {
        let credentials = "credential device { certificate a; key b }\ncredential badge { certificate a; key b }\n"
        let policy = try policy(credentials + rule, identities: files)
        return IdentityChoice(
            rules: policy.rules, credentials: policy.credentials, storage: storage,
            origin: Origin(host: "a.example", port: 443, protocol: .https),
            client: Rules.ClientIdentity(address: IPAddress(v4: 0x7F00_0001), user: user), metrics: metrics)
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
        #expect(metrics.value(of: .answeredClientCertificate) == 1)
    }

    @Test func `a rule that cancels is named`() throws {
        let choice = try choice("challenge \"no\" { host a.example; method client-certificate; cancel }")
        #expect(choice.identity(acceptedBy: []) == nil)
        #expect(choice.cancelling?.name == "no")
        #expect(choice.shown.name == nil)
    }

    // MARK: - The store

    private static let origin = Origin(host: "a.example", port: 443, protocol: .https)

    /// Has a certificate of our authority's, and one of another's, which is the default.
    private func filledStorage(for origin: Origin = Self.origin) async throws -> any CredentialStorage {
        let storage = MemoryCredentialStorage()
        let space = ProtectionSpace(clientCertificateOf: origin)
        let now = 1_795_000_000
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
