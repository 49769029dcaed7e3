import Bytes
import Model
import Testing

@testable import TLS

@Suite struct MalformedChainTests {
    /// A generator with the same numbers in every run.
    private struct Numbers: RandomNumberGenerator {
        var state: UInt64
        mutating func next() -> UInt64 {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return state ^ state >> 29
        }
    }

    private let scene = TrustCase.chain(
        authority: {
            $0["nameConstraints"] = "critical,permitted;DNS:example.test,excluded;IP:192.0.2.0/255.255.255.0"
        },
        leaf: {
            $0["tlsfeature"] = "status_request"
            $0["subjectAltName"] = "DNS:www.example.test,IP:198.51.100.7,email:a@example.test,dirName:d|d|CN=x"
            $0["crlDistributionPoints"] = "URI:http://lists.example.test/1.crl"
        })

    @Test func `A certificate with any bit wrong is judged without a trap, and never trusted`() throws {
        var numbers = Numbers(state: 1)
        let staple = TestStaple.make(for: scene.leaf, issuedBy: scene.others[0])
        let anchors = try TrustAnchors(only: scene.anchors.map(\.certificate))
        let lists = try RevocationLists(files: [TestRevocationList.make(by: scene.others[0])])
        var readable = 0
        for target in 0..<2 {
            let certificates = [scene.leaf, scene.others[0]].map(\.certificate)
            let der = certificates[target].der
            for _ in 0..<1_500 {
                var changed = der
                for _ in 0..<Int.random(in: 1...3, using: &numbers) {
                    changed[Int.random(in: 0..<der.count, using: &numbers)] ^=
                        1 << UInt8.random(in: 0..<8, using: &numbers)
                }
                guard changed != der, let broken = try? Certificate(der: changed) else { continue }
                readable += 1
                let leaf = target == 0 ? broken : certificates[0]
                let chain = PresentedChain(leaf: leaf, others: [target == 1 ? broken : certificates[1]], staple: staple)
                let evaluation = TrustEvaluation.of(
                    chain, for: .host("www.example.test"), anchors: anchors, revocation: lists,
                    at: WallTime(seconds: TestCertificate.now))
                #expect(evaluation.verified == nil)
                #expect(!evaluation.findings.contains { $0.detail.isEmpty })
            }
        }
        #expect(readable > 500)
    }

    @Test func `A staple that is cut off says nothing`() {
        let staple = TestStaple.make(for: scene.leaf, issuedBy: scene.others[0])
        for count in 1..<staple.count {
            guard case .unusable = judged(Array(staple[..<count])) else {
                Issue.record("believed with \(count) bytes")
                continue
            }
        }
    }

    @Test func `No bit of a staple turns what it says`() {
        var numbers = Numbers(state: 2)
        for isRevoked in [false, true] {
            let status = isRevoked ? TestStaple.Status.revoked(reason: 1) : .good
            let staple = TestStaple.make(for: scene.leaf, issuedBy: scene.others[0], status)
            for _ in 0..<1_500 {
                var changed = staple
                let place = Int.random(in: 0..<staple.count, using: &numbers)
                changed[place] ^= 1 << UInt8.random(in: 0..<8, using: &numbers)
                switch judged(changed) {
                case .unusable, .absent: break
                case .good: #expect(!isRevoked)
                case .revoked: #expect(isRevoked)
                }
            }
        }
    }

    private func judged(_ staple: [UInt8]) -> StapledResponse {
        let issuer = scene.others[0].certificate
        return StapledResponse.read(
            staple, of: scene.leaf.certificate, issuedBy: issuer, at: WallTime(seconds: TestCertificate.now))
    }

    @Test func `A list that is cut off is refused`() {
        let list = TestRevocationList.make(by: scene.others[0], revoking: [1, 2, 3])
        for count in 0..<list.count {
            #expect(throws: Certificate.Failure.self) { try RevocationLists(files: [Array(list[..<count])]) }
        }
        #expect(throws: Certificate.Failure.malformed) { try RevocationLists(files: [list + [0]]) }
        #expect(
            (try? RevocationLists(files: [list, TestRevocationList.pem(list) + TestRevocationList.pem(list)]))?.count
                == 3)
    }

    @Test func `Elements of DER are found without reading beyond the end`() {
        var numbers = Numbers(state: 3)
        for _ in 0..<20_000 {
            let bytes = (0..<Int.random(in: 0..<12, using: &numbers)).map { _ in
                UInt8.random(in: 0...255, using: &numbers)
            }
            var elements = TrustAnchors.Index.Elements(bytes[...])
            var total = 0
            while let element = elements.next() {
                total += element.whole.count
                #expect(element.content.count < element.whole.count)
            }
            #expect(total <= bytes.count)
        }
    }
}
