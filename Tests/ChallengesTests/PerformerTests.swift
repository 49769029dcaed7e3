import Authentication
import Bytes
import Crypto
import HTTP
import IO
import Model
import TestSupport
import Testing

@testable import Challenges

/// A class for one test, on one thread.
private final class PlayedConnections: ConnectionAuthenticator, @unchecked Sendable {
    let login = PlayedLogin()
    var extent: Extent { .origin }

    func answers(_ challenge: HeaderChallenge) -> Bool { true }
    func makeContext(over channel: ChannelBinding?, under terms: LoginTerms) -> any SecurityContext { login }
}

struct PerformerTests {
    private static let credential = Credential(name: "a", user: "u", password: Secret("p"))

    private static func answer(_ method: AuthenticationMethod, to challenge: HeaderChallenge) -> Answer {
        Answer(
            space: ProtectionSpace(origin: PlayedRequest.origin, realm: challenge.realm, authenticationMethod: method),
            challenge: challenge, credential: credential)
    }

    /// A request that answers by an NTLM login.
    private static func login(on loop: EventLoop) throws -> (AnswerSession, PlayedServer, PlayedLogin) {
        let (authenticator, request) = (PlayedConnections(), try PlayedRequest("", on: loop, hasBody: true))
        let prepared = PreparedAnswer(
            authenticator: authenticator, answer: answer(.ntlm, to: HeaderChallenge(scheme: "ntlm")))
        return (AnswerSession(.prepared(prepared), in: request.context), request.server, authenticator.login)
    }

    private static func authorize(_ performer: AnswerSession) throws -> String? {
        let value = ByteBuffer(capacity: 64)
        let isAnswered = try performer.authorize(
            method: "GET".utf8Span.span, target: "/".utf8Span.span, bodyDigest: nil, into: value)
        return isAnswered ? value.readable.text : nil
    }

    // MARK: - Connection

    @Test func `a login claims its connection once, and its first token goes without the body`() async throws {
        try await onLoop { loop in
            let (performer, server, _) = try Self.login(on: loop)
            for _ in 0..<2 {
                try await performer.prepareLogin(failures: 0)
                #expect(performer.omitsBody)
            }
            #expect(server.claims == [Self.credential.version])
        }
    }

    @Test func `requests on a connection whose login stands go without a token, and with their body`() async throws {
        try await onLoop { loop in
            let (performer, _, login) = try Self.login(on: loop)
            try await performer.prepareLogin(failures: 0)
            #expect(try Self.authorize(performer) == "NTLM token")
            login.isEstablished = true
            try await performer.prepareLogin(failures: 0)
            #expect(!performer.omitsBody)
            #expect(try Self.authorize(performer) == nil)
        }
    }

    @Test
    func `a handshake whose connection ends is broken off, or tried again where the connection had served before`()
        async throws
    {
        try await onLoop { loop in
            let (performer, server, login) = try Self.login(on: loop)
            #expect(performer.refusal(by: []).refusal == nil)
            try await performer.prepareLogin(failures: 0)
            #expect(performer.refusal(by: []).refusal == .proceed)
            server.keepsConnection = false
            #expect(performer.refusal(by: []).refusal == .aborted)
            server.isReused = true
            #expect(performer.refusal(by: []).refusal == .retry)
            login.refusal = .refused
            login.trouble = .clockSkew(credential: "a", service: "s")
            let (refusal, trouble) = performer.refusal(by: [])
            #expect(refusal == .refused && trouble == login.trouble)
        }
    }

    @Test func `a response to a request without its body says nothing of the login`() async throws {
        try await onLoop { loop in
            let (performer, server, login) = try Self.login(on: loop)
            #expect(performer.proof(bodyDigest: nil) == nil)
            try await performer.prepareLogin(failures: 0)
            #expect(performer.proof(bodyDigest: nil) == .ignored)
            login.isOpening = false
            try await performer.prepareLogin(failures: 0)
            server.status = .badGateway
            #expect(performer.proof(bodyDigest: nil) == nil)
            server.status = .ok
            server.persistsLogin = false
            #expect(performer.proof(bodyDigest: nil) == .unverified)
            #expect(!login.isEstablished)
        }
    }

    // MARK: - Request

    @Test func `a request's answer is judged by its ticket, and by no server in trouble`() async throws {
        try await onLoop { loop in
            let challenge = HeaderChallenge(
                scheme: "basic", parameters: [HeaderChallenge.Parameter(name: "realm", value: Array("r".utf8))])
            let answer = Self.answer(.basic, to: challenge)
            let request = try PlayedRequest("", on: loop)
            let prepared = PreparedAnswer(
                authenticator: try ChallengeOrder().authenticator(for: answer, at: "/".utf8Span.span), answer: answer)
            let performer = AnswerSession(.prepared(prepared), in: request.context)
            #expect(performer.refusal(by: [challenge]).refusal == nil)
            #expect(performer.proof(bodyDigest: nil) == nil)
            #expect(try Self.authorize(performer) == "Basic dTpw")
            #expect(performer.refusal(by: [challenge]).refusal == .refused)
            #expect(performer.proof(bodyDigest: nil) == .unverified)
            request.server.status = .badGateway
            #expect(performer.proof(bodyDigest: nil) == nil)
        }
    }

    // MARK: - Session

    @Test func `a session that is not open has no ticket, and nothing of a response is about it`() async throws {
        try await onLoop { loop in
            let answer = Self.answer(.htmlForm, to: .loginPage)
            let made = try ChallengeOrder().authenticator(for: answer, at: "/".utf8Span.span)
            let prepared = PreparedAnswer(authenticator: made, answer: answer)
            let performer = AnswerSession(.prepared(prepared), in: try PlayedRequest("", on: loop).context)
            let session = try #require(performer.session)
            #expect(performer.refusal(by: [.loginPage]).refusal == nil)
            #expect(performer.proof(bodyDigest: nil) == nil)
            #expect(try Self.authorize(performer) == nil)
            #expect(performer.answer == nil)
            session.open(CookieJar(origin: PlayedRequest.origin))
            performer.take(prepared)
            #expect(try Self.authorize(performer) != nil)
            #expect(performer.proof(bodyDigest: nil) == .unverified)
            #expect(performer.refusal(by: [.loginPage]).refusal != nil)
        }
    }
}
