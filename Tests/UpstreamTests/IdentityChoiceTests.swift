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
    private let files: ConfiguredCredential

    init() throws {
        let now = 1_795_000_000
        authority = try CertificateAuthority.make(host: "test", at: now)
        let identity = try authority.mint(for: ServerName("device.example"), at: now)
        let folder = NSTemporaryDirectory() + "attache.choice." + UUID().uuidString
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        try identity.leaf.pem.write(toFile: folder + "/device.pem", atomically: true, encoding: .utf8)
        let key = try identity.key.pem().withBytes { String(decoding: $0.array, as: UTF8.self) }
        try key.write(toFile: folder + "/device.key", atomically: true, encoding: .utf8)
        files = ConfiguredCredential(
            name: "device",
            content: .identity(
                .pem(certificate: folder + "/device.pem", key: folder + "/device.key", passphrase: nil)))
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

    private func choice(_ rule: String, user: String? = nil, metrics: Metrics = Metrics()) throws -> IdentityChoice {
        let credential = "credential device { certificate a; key b }\n"
        let policy = try policy(credential + rule, identities: [files])
        return IdentityChoice(
            rules: policy.rules, credentials: policy.credentials,
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
}
