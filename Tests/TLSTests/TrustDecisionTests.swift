import Model
import Testing

@testable import TLS

@Suite struct TrustDecisionTests {
    private let key = TestKey.fresh
    private let clean = TrustCase.chain()

    private func expired() -> TrustCase.Scene {
        TrustCase.chain(leaf: {
            $0.ends = -1
            $0["subjectAltName"] = "DNS:other.test"
        })
    }

    private func refusal(_ decision: TrustEvaluation.Outcome) -> (kinds: TrustFindings, pinMismatch: Bool)? {
        guard case .refused(let findings, let mismatch) = decision else { return nil }
        return (TrustFindings(findings.map(\.kind)), mismatch)
    }

    @Test func `A chain without a finding is trusted as it is`() throws {
        let evaluation = try clean.evaluated()
        let chain = try #require(evaluation.verified)
        #expect(chain.leaf == clean.leaf.certificate)
        #expect(chain.issuers == [clean.others[0].certificate, clean.anchors[0].certificate])
        #expect(chain.name == .host("www.example.test"))
        #expect(chain.forgiven.isEmpty)
        #expect(evaluation.isAnchored)
    }

    @Test func `What is named is forgiven, and nothing else`() throws {
        let evaluation = try expired().evaluated()
        #expect(evaluation.verified == nil)
        #expect(try #require(refusal(evaluation.forgiving([]))).kinds == [.expired, .wrongName])
        #expect(try #require(refusal(evaluation.forgiving([.expired]))).kinds == [.wrongName])
        #expect(
            try #require(refusal(evaluation.forgiving(TrustFindings.all.subtracting([.expired])))).kinds == [
                .expired
            ])
        guard case .trusted(let chain) = evaluation.forgiving([.expired, .wrongName, .weakKey]) else {
            Issue.record("not trusted")
            return
        }
        #expect(chain.forgiven == [.expired, .wrongName])
    }

    @Test func `A pin is asked for beside the chain, not instead of it`() throws {
        let pin = clean.leaf.certificate.publicKeyPin
        let other = TestCertificate.root().certificate.publicKeyPin
        let evaluation = try clean.evaluated()
        #expect(refusal(evaluation.forgiving([], pins: [other, pin])) == nil)
        let mismatch = try #require(refusal(evaluation.forgiving([], pins: [other])))
        #expect(mismatch.kinds.isEmpty && mismatch.pinMismatch)
        var expired = expired()
        let evaluated = try expired.evaluated()
        let left = try #require(
            refusal(evaluated.forgiving([.wrongName], pins: [expired.leaf.certificate.publicKeyPin])))
        #expect(left.kinds == [.expired] && !left.pinMismatch)
        expired.anchors = []
        let both = try #require(refusal(try expired.evaluated().forgiving([.expired], pins: [other])))
        #expect(both.kinds == [.wrongName, .incompleteChain] && both.pinMismatch)
    }

    @Test func `An authority's pin counts on a path that is proved, and on no other`() throws {
        for pin in [clean.others[0], clean.anchors[0]].map(\.certificate.publicKeyPin) {
            #expect(refusal(try clean.evaluated().forgiving([], pins: [pin])) == nil)
        }
        let forgiven = expired()
        for pin in [forgiven.others[0], forgiven.anchors[0]].map(\.certificate.publicKeyPin) {
            let refused = try #require(
                refusal(try forgiven.evaluated().forgiving([.expired, .wrongName], pins: [pin])))
            #expect(refused.pinMismatch)
        }
    }

    @Test func `A pinned key that was stolen from another chain helps nobody`() throws {
        // The attacker sends the pinned certificate as an issuer of its own.
        let pinned = TestCertificate.selfSigned()
        let attacker = TestCertificate.selfSigned()
        let scene = TrustCase.Scene(leaf: attacker, others: [pinned], anchors: [])
        let decision = try scene.evaluated().forgiving([.selfSigned], pins: [pinned.certificate.publicKeyPin])
        #expect(try #require(refusal(decision)).pinMismatch)
    }

    @Test func `More certificates than anybody needs are a finding`() throws {
        let noise = TestCertificate.root("Noise")
        var scene = clean
        scene.others += Array(repeating: noise, count: 30)
        #expect(try scene.evaluated().verified != nil)
        scene.others.append(noise)
        let evaluation = try scene.evaluated()
        #expect(evaluation.kinds == [.invalid])
        #expect(evaluation.findings[0].detail == "the server sent 33 certificates, which is too many")
    }

    @Test func `Findings come in the order of their kinds`() throws {
        let kinds = try TrustCase.several.map { try $0.make().evaluated().findings.map(\.kind) }
        for row in kinds {
            let places = row.compactMap { TrustFinding.allCases.firstIndex(of: $0) }
            #expect(places == places.sorted())
        }
    }

    @Test func `A response that came later belongs to the same chain`() throws {
        let chain = PresentedChain(
            leaf: clean.leaf.certificate, others: Array(repeating: clean.leaf.certificate, count: 40))
        let stapled = chain.stapled(with: [1])
        #expect(stapled.staple == [1] && stapled.omitted == 9 && stapled.others.count == 31)
    }
}
