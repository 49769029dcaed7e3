import Crypto
import Testing

@testable import Authentication

/// Which of clients' own answers servers have accepted.
struct AnswerSightingsTests {
    private let sightings = AnswerSightings<String>(capacity: 4)
    private let origin = Origin(host: "a.test", port: 80, protocol: .http)
    private let answer = Credential(name: "c", user: "bob", password: Secret("x"))
    private let other = Credential(name: "c", user: "bob", password: Secret("y"))

    private func space(_ realm: String = "r") -> ProtectionSpace {
        ProtectionSpace(origin: origin, realm: realm, authenticationMethod: .basic)
    }

    private func request(
        _ target: String = "/a", method: String = "GET", host: String = "a.test"
    ) -> AnswerSightings<String>.Request {
        let origin = Origin(host: host, port: 80, protocol: .http)
        return .init(origin, method: method.utf8Span.span, target: target.utf8Span.span)
    }

    @Test func `an answer is proven by a challenge without it and a success with it`() {
        sightings.challenged(request(), for: [space()])
        #expect(sightings.accepted(answer, of: "ann", to: request("/a?x=1"), at: 0) == [space()])
    }

    @Test func `a success alone proves nothing`() {
        #expect(sightings.accepted(answer, of: "ann", to: request(), at: 0) == [])
        #expect(sightings.proven(for: space(), by: "ann", to: request(), at: 0, limit: 100) == nil)
    }

    @Test func `a challenge behind the success proves it as well, once, for the same client and in time`() {
        _ = sightings.accepted(answer, of: "ann", to: request(), at: 1000)
        sightings.challenged(request(), for: [space()])
        #expect(sightings.proven(for: space(), by: "eve", to: request(), at: 1000, limit: 100) == nil)
        #expect(sightings.proven(for: space("other"), by: "ann", to: request(), at: 1000, limit: 100) == nil)
        #expect(sightings.proven(for: space(), by: "ann", to: request(), at: 1100, limit: 100)?.user == "bob")
        #expect(sightings.proven(for: space(), by: "ann", to: request(), at: 1100, limit: 100) == nil)
        _ = sightings.accepted(answer, of: "ann", to: request("/b"), at: 1000)
        sightings.challenged(request("/b"), for: [space()])
        #expect(sightings.proven(for: space(), by: "ann", to: request("/b"), at: 1101, limit: 100) == nil)
    }

    @Test func `the challenge of another path, method or origin proves nothing`() {
        sightings.challenged(request(), for: [space()])
        for elsewhere in [request("/b"), request("/a/"), request(method: "POST"), request(host: "b.test")] {
            #expect(sightings.accepted(answer, of: "ann", to: elsewhere, at: 0) == [])
        }
    }

    @Test func `an answer that is refused later is proven no more, and another one is not affected`() {
        _ = sightings.accepted(answer, of: "ann", to: request(), at: 0)
        sightings.refused(other, of: "ann", to: request())
        sightings.challenged(request(), for: [space()])
        #expect(sightings.proven(for: space(), by: "ann", to: request(), at: 0, limit: 1) != nil)
        _ = sightings.accepted(answer, of: "bob", to: request("/c"), at: 0)
        sightings.refused(answer, of: "bob", to: request("/c"))
        sightings.challenged(request("/c"), for: [space()])
        #expect(sightings.proven(for: space(), by: "bob", to: request("/c"), at: 0, limit: 1) == nil)
    }

    @Test func `only so much is remembered`() {
        for number in 0..<9 { sightings.challenged(request("/\(number)"), for: [space()]) }
        let remembered = (0..<9).filter {
            !sightings.accepted(answer, of: "ann", to: request("/\($0)"), at: 0).isEmpty
        }
        #expect(remembered.count <= 4 && remembered.contains(8) && !remembered.contains(0))
    }
}
