import Model
import Testing

@testable import TLS

/// An evaluation's result about revocation, beside its problems.
@Suite struct RevocationListsTests {
    private func evaluated(
        below root: Bool = false, _ lists: (TestCertificate) -> [[UInt8]]
    ) throws -> TrustEvaluation {
        var scene = TrustCase.listed(lists)
        if root { scene.lists += [TestRevocationList.make(by: scene.anchors[0])] }
        return try scene.evaluated()
    }

    @Test func `certificates that no list speaks for are named, but for the anchor`() throws {
        #expect(try evaluated(below: true) { [TestRevocationList.make(by: $0)] }.unlisted.isEmpty)
        let silent: [(TestCertificate) -> [[UInt8]]] = [
            { _ in [TestRevocationList.make(by: .root("Other"))] },
            { [TestRevocationList.make(by: $0, base: 1)] },
            { [TestRevocationList.make(by: $0, distributionPoint: "only|onlyCA=TRUE")] },
        ]
        for lists in silent {
            let evaluation = try evaluated(below: true, lists)
            #expect(evaluation.findings.isEmpty)
            #expect(evaluation.unlisted.map(\.description) == [evaluation.leaf.description])
            #expect(evaluation.verified?.unlisted.count == 1)
        }
        let evaluation = try evaluated { [TestRevocationList.make(by: $0)] }
        #expect(evaluation.unlisted.map(\.description) == [evaluation.issuers[0].description])
    }

    @Test func `without lists nothing is unlisted`() throws {
        #expect(try TrustCase.listed { _ in [] }.evaluated().unlisted.isEmpty)
    }

    @Test func `a doubt is told from a revocation`() throws {
        let listed = try evaluated { [TestRevocationList.make(by: $0, revoking: [7])] }
        #expect(listed.provenKinds == [.revoked])
        let doubts: [(TestCertificate) -> [[UInt8]]] = [
            { [TestRevocationList.make(by: $0, from: -9, until: -2)] }, { [TestRevocationList.make(by: $0, from: 1)] },
            { [TestRevocationList.make(by: $0, signedBy: .fresh)] },
        ]
        for lists in doubts {
            let evaluation = try evaluated(lists)
            #expect(evaluation.kinds == [.revoked])
            #expect(evaluation.provenKinds.isEmpty)
            #expect(evaluation.findings.allSatisfy { $0.isDoubt })
        }
        // One that has ended and names the server all the same is believed.
        let ended = try evaluated { [TestRevocationList.make(by: $0, revoking: [7], from: -9, until: -2)] }
        #expect(ended.provenKinds == [.revoked])
    }

    @Test func `delta lists are counted and left out`() throws {
        let root = TestCertificate.root("Root")
        let lists = try RevocationLists(files: [
            TestRevocationList.make(by: root), TestRevocationList.make(by: root, base: 1),
        ])
        #expect(lists.count == 1)
        #expect(lists.deltaCount == 1)
    }
}
