import Bytes
import Crypto
import Model
import Testing

@testable import Authentication

/// The clients' own answers that servers have accepted.
struct LearningEvidenceTests {
    private let evidence = LearningEvidence<String>(capacity: 4)
    private let origin = Origin(host: "a.test", port: 80, protocol: .http)
    private let answer = Credential(name: "c", user: "bob", password: Secret("x"))
    private let other = Credential(name: "c", user: "bob", password: Secret("y"))

    private func space(_ realm: String = "r") -> ProtectionSpace {
        ProtectionSpace(origin: origin, realm: realm, authenticationMethod: .basic)
    }

    private func request(
        _ target: String = "/a", method: String = "GET", host: String = "a.test"
    ) -> LearningEvidence<String>.Request {
        let origin = Origin(host: host, port: 80, protocol: .http)
        return .init(origin, method: method.utf8Span.span, target: target.utf8Span.span)
    }

    @Test func `an answer is proven by a challenge without it and a success with it`() {
        evidence.challenged(request(), for: [space()])
        #expect(evidence.accepted(answer, of: "ann", to: request("/a?x=1"), at: 0) == [space()])
    }

    @Test func `a success alone proves nothing`() {
        #expect(evidence.accepted(answer, of: "ann", to: request(), at: 0) == [])
        #expect(evidence.proven(for: space(), by: "ann", to: request(), at: 0, limit: 100) == nil)
    }

    @Test func `a challenge behind the success proves it as well, once, for the same client and in time`() {
        _ = evidence.accepted(answer, of: "ann", to: request(), at: 1000)
        evidence.challenged(request(), for: [space()])
        #expect(evidence.proven(for: space(), by: "eve", to: request(), at: 1000, limit: 100) == nil)
        #expect(evidence.proven(for: space("other"), by: "ann", to: request(), at: 1000, limit: 100) == nil)
        #expect(evidence.proven(for: space(), by: "ann", to: request(), at: 1100, limit: 100)?.user == "bob")
        #expect(evidence.proven(for: space(), by: "ann", to: request(), at: 1100, limit: 100) == nil)
        _ = evidence.accepted(answer, of: "ann", to: request("/b"), at: 1000)
        evidence.challenged(request("/b"), for: [space()])
        #expect(evidence.proven(for: space(), by: "ann", to: request("/b"), at: 1101, limit: 100) == nil)
    }

    @Test func `the challenge of another path, method or origin proves nothing`() {
        evidence.challenged(request(), for: [space()])
        for elsewhere in [request("/b"), request("/a/"), request(method: "POST"), request(host: "b.test")] {
            #expect(evidence.accepted(answer, of: "ann", to: elsewhere, at: 0) == [])
        }
    }

    @Test func `an answer that is refused later is proven no more, and another one is not affected`() {
        _ = evidence.accepted(answer, of: "ann", to: request(), at: 0)
        evidence.refused(other, of: "ann", to: request())
        evidence.challenged(request(), for: [space()])
        #expect(evidence.proven(for: space(), by: "ann", to: request(), at: 0, limit: 1) != nil)
        _ = evidence.accepted(answer, of: "bob", to: request("/c"), at: 0)
        evidence.refused(answer, of: "bob", to: request("/c"))
        evidence.challenged(request("/c"), for: [space()])
        #expect(evidence.proven(for: space(), by: "bob", to: request("/c"), at: 0, limit: 1) == nil)
    }

    @Test func `only so much is remembered`() {
        for number in 0..<9 { evidence.challenged(request("/\(number)"), for: [space()]) }
        let remembered = (0..<9).filter {
            !evidence.accepted(answer, of: "ann", to: request("/\($0)"), at: 0).isEmpty
        }
        #expect(remembered.count <= 4 && remembered.contains(8) && !remembered.contains(0))
    }
}
