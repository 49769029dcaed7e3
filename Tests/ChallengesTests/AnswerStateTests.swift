import Authentication
import Bytes
import Crypto
import Model
import Testing

@testable import Challenges

struct AnswerStateTests {
    private static func basic() throws -> (PreparedAnswer, AuthorizationTicket) {
        let space = ProtectionSpace(origin: PlayedRequest.origin, realm: "r", authenticationMethod: .basic)
        let challenge = HeaderChallenge(
            scheme: "basic", parameters: [HeaderChallenge.Parameter(name: "realm", value: Array("r".utf8))])
        let answer = Answer(
            space: space, challenge: challenge, credential: Credential(name: "a", user: "u", password: Secret("p")))
        let authenticator = try ChallengeOrder().authenticator(for: answer, at: "/".utf8Span.span)
        guard case .request(let requests) = authenticator.binding else { throw AuthenticationError.noRandomness }
        let ticket = try requests.authorize(
            method: "GET".utf8Span.span, target: "/".utf8Span.span, bodyDigest: nil, into: ByteBuffer(capacity: 64))
        return (PreparedAnswer(authenticator: authenticator, answer: answer), ticket)
    }

    @Test func `an answer has a ticket once it was sent, and none again when it is prepared anew`() throws {
        let (prepared, ticket) = try Self.basic()
        var state = PreparedAnswer.State.prepared(prepared)
        #expect(state.ticket == nil)
        state.send(ticket)
        #expect(state.ticket == ticket)
        #expect(state.prepared?.answer === prepared.answer)
        state.renew()
        #expect(state.ticket == nil)
    }

    @Test func `an answer that is renewed counts as one that nobody asked for`() throws {
        var state = PreparedAnswer.State.prepared(try Self.basic().0)
        #expect(state.prepared?.answer.challenge != nil)
        state.renew()
        #expect(state.prepared?.answer.challenge == nil)
        #expect(state.prepared?.answer.credential.version.name == "a")
    }

    @Test func `without an answer there is nothing to send or to renew`() throws {
        var state = PreparedAnswer.State.none
        state.send(try Self.basic().1)
        state.renew()
        #expect(state.prepared == nil && state.ticket == nil)
    }
}
