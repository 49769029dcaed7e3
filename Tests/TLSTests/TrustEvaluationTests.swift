import Bytes
import COpenSSL
import Model
import Testing

@testable import TLS

@Suite struct TrustEvaluationTests {
    static let cases =
        TrustCase.names + TrustCase.authorities + TrustCase.constraints + TrustCase.paths
        + TrustCase.strength + TrustCase.times + TrustCase.usage + TrustCase.extensions + TrustCase.revocation
        + TrustCase.staples + TrustCase.several + TrustCase.anchors + TrustCase.twins

    @Test(arguments: cases)
    func `Each chain has exactly the expected findings`(row: TrustCase) throws {
        let evaluation = try row.make().evaluated()
        #expect(evaluation.kinds == row.expected, "\(evaluation.findings)")
        #expect((evaluation.verified == nil) == !row.expected.isEmpty)
    }

    @Test(arguments: cases)
    func `The verdict is OpenSSL's, or another one with the section that demands it`(row: TrustCase) throws {
        let scene = try row.make()
        let error = try scene.judgedByOpenSSL()
        let accepted = try scene.evaluated().verified != nil
        let reason = String(cString: X509_verify_cert_error_string(Int(error)))
        if row.looser != nil {
            #expect(accepted && error != X509_V_OK, "\(reason)")
            #expect(try scene.judgedByOpenSSL(strictly: false) == X509_V_OK)
        } else if row.others != nil {
            #expect(accepted && error != X509_V_OK, "\(reason)")
            #expect(try scene.reducedToItsPath().judgedByOpenSSL() == X509_V_OK)
        } else if error != X509_V_OK {
            #expect(!accepted, "OpenSSL refuses: \(reason)")
            #expect(row.stricter == nil, "OpenSSL refuses it as well: \(reason)")
        } else {
            #expect(accepted == (row.stricter == nil))
        }
    }

    @Test func `a demanded staple that cannot be checked is told apart from one that did not come`() throws {
        var scene = TrustCase.chain(leaf: { $0["tlsfeature"] = "status_request" })
        let staple = TestStaple.make(for: scene.leaf, issuedBy: scene.others[0])
        scene.others = []
        let detail = { (scene: TrustCase.Scene) in
            try scene.evaluated().findings.first { $0.kind == .missingStaple }?.detail ?? ""
        }
        #expect(try detail(scene).hasSuffix("and none came"))
        scene.staple = staple
        #expect(try detail(scene).hasSuffix("cannot be checked without its issuer"))
    }

    @Test func `A host name that looks like an address does not read like one`() throws {
        let scene = TrustCase.named("DNS:127.0.0.1", "127.0.0.1")
        let evaluation = try scene.evaluated()
        #expect(
            evaluation.findings.map(\.detail) == [
                "CN=leaf is for the host name \"127.0.0.1\", not for the address 127.0.0.1"
            ])
    }

    @Test func `There are at least 120 chains, each described once`() {
        #expect(Self.cases.count >= 120)
        #expect(Set(Self.cases.map(\.what)).count == Self.cases.count)
    }

    @Test(arguments: cases)
    func `Every finding names what it is about`(row: TrustCase) throws {
        for finding in try row.make().evaluated().findings {
            #expect(!finding.detail.isEmpty && !finding.detail.contains("\n") && finding.detail.utf8.count < 600)
        }
    }

    @Test(arguments: cases)
    func `Anchors that are decoded when a chain asks for them judge alike`(row: TrustCase) throws {
        let scene = try row.make()
        let chain = PresentedChain(
            leaf: scene.leaf.certificate, others: scene.others.map(\.certificate), staple: scene.staple,
            keyExchange: scene.keyExchange)
        let anchors = try TrustAnchors([], TrustAnchors.Index(scene.anchors.map(\.certificate.der)))
        let lists = scene.lists.isEmpty ? nil : try RevocationLists(files: scene.lists)
        let name = ServerName(scene.name)
        let evaluation = TrustEvaluation.of(
            chain, for: name, anchors: anchors, revocation: lists, at: WallTime(seconds: scene.at))
        #expect(evaluation.findings == (try scene.evaluated()).findings)
    }
}
