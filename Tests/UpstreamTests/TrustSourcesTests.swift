import Bytes
import Foundation
import Model
import Rules
import TLS
import TestPolicies
import Testing

@testable import Upstream

struct TrustSourcesTests {
    private let folder = NSTemporaryDirectory() + "attache.trust." + UUID().uuidString
    private var path: String { folder + "/file.pem" }

    init() throws { try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true) }

    private func write(_ text: String) throws {
        // Renamed into its place, as one replaces such a file.
        try text.write(toFile: path, atomically: true, encoding: .utf8)
    }

    private static func authority() throws -> String {
        try CertificateAuthority.make(host: "test", at: WallTime(seconds: 1_795_000_000)).identity.leaf.pem
    }

    @Test(arguments: [true, false])
    func `a rule's anchors are read when they change, and stay when they go`(isOnly: Bool) throws {
        let rule = "challenge { host a; method server-trust; anchor \(path)\(isOnly ? " only" : ""); trust }"
        let sources = try TrustSources(policy(rule).rules)
        let terms = Configuration.TrustTerms(anchors: [path], hasOnlyItsAnchors: isOnly)
        #expect(sources.refresh().map { "\($0)" } == ["cannot read \(path): no such file or directory"])
        let system = sources.anchors(for: nil).certificates.count
        #expect(sources.anchors(for: terms).certificates.count == (isOnly ? 0 : system))
        for _ in 1...2 {
            let text = try Self.authority()
            try write(text)
            #expect(sources.refresh().isEmpty)
            let anchors = sources.anchors(for: terms)
            #expect(anchors.certificates.last?.pem == text)
            #expect(anchors.certificates.count == (isOnly ? 1 : system + 1))
            #expect(sources.refresh().isEmpty)
            #expect(sources.anchors(for: terms) === anchors, "nothing was read again")
        }
        let last = sources.anchors(for: terms)
        try write("nothing\n")
        #expect(sources.refresh().count == 1)
        #expect(sources.refresh().count == 1)
        #expect(sources.anchors(for: terms) === last)
        #expect(sources.anchors(for: nil).certificates.count == system)
    }

    @Test func `the system's anchors are read when they are needed first, or a rule adds to them`() async throws {
        let plain = try TrustSources(policy("").rules)
        #expect(plain.refresh().isEmpty && !plain.hasSystem)
        await plain.prepare()
        let read = plain.anchors(for: nil)
        await plain.prepare()
        #expect(plain.hasSystem && plain.anchors(for: nil) === read)
        try write(Self.authority())
        func sources(_ word: String) throws -> TrustSources {
            try TrustSources(policy("challenge { host a; method server-trust; anchor \(path)\(word); trust }").rules)
        }
        let (adding, only) = (try sources(""), try sources(" only"))
        #expect(adding.refresh().isEmpty && only.refresh().isEmpty)
        #expect(adding.hasSystem && !only.hasSystem)
    }

    @Test func `issuers without a list are told, one time each`() throws {
        let sources = try TrustSources(policy("").rules)
        _ = sources.refresh()
        let certificate = try #require(try Certificate.all(inPEM: Array(Self.authority().utf8).span).first)
        let terms = Configuration.TLSTerms(revocation: ["a.crl", "b.crl"])
        for _ in 1...3 { sources.note(unlisted: [certificate], by: terms) }
        sources.note(unlisted: [certificate], by: nil)
        let told = sources.refresh().map { "\($0)" }
        #expect(told.count == 1)
        #expect(told.first?.contains("in a.crl b.crl") == true)
        #expect(told.first?.hasSuffix("counts as not revoked") == true)
        #expect(sources.refresh().map { "\($0)" } == told)
    }

    @Test func `revocation lists that were never read are told from none`() throws {
        let sources = try TrustSources(policy("route a { tls revocation \(path) }").rules)
        #expect(sources.refresh().count == 1)
        #expect(throws: TrustSources.UnreadLists.self, "a missing list is taken for an empty one") {
            try sources.revocation(for: Configuration.TLSTerms(revocation: [path]))
        }
        for terms in [nil, Configuration.TLSTerms(minimum: .v13)] {
            let isAsked = try sources.revocation(for: terms) != nil
            #expect(!isAsked, "no list was asked for")
        }
    }
}
