import Authentication
import Bytes
import Crypto
import HTTP
import IO
import Model
import TestSupport
import Testing

@testable import Challenges

/// Of one test, on one thread.
private final class PlayedConnections: ConnectionAuthenticator, @unchecked Sendable {
    let login = PlayedLogin()
    var extent: Extent { .origin }

    func answers(_ challenge: HeaderChallenge) -> Bool { true }
    func makeContext(over channel: ChannelBinding?, under terms: LoginTerms) -> any SecurityContext { login }
}

struct PerformerTests {
    private let challenger = Challenger(PlayedRequest.origin, title: "the origin")
    private static let credential = Credential(name: "a", user: "u", password: Secret("p"))

    private func connection() -> (ConnectionPerformer, PlayedServer, PlayedLogin) {
        let (authenticator, server) = (PlayedConnections(), PlayedServer())
        let performer = ConnectionPerformer(authenticator: authenticator, connection: server, challenger: challenger)
        return (performer, server, authenticator.login)
    }

    // MARK: - Connection

    @Test func `a login claims its connection once, and its first token goes without the body`() async throws {
        let (performer, server, _) = connection()
        #expect(try await performer.prepare(with: Self.credential, isShared: false, under: LoginTerms()))
        #expect(try await performer.prepare(with: Self.credential, isShared: false, under: LoginTerms()))
        #expect(server.claims == [Self.credential.version])
    }

    @Test func `requests on a connection whose login stands go without a token, and with their body`() async throws {
        let (performer, _, login) = connection()
        _ = try await performer.prepare(with: Self.credential, isShared: false, under: LoginTerms())
        let value = ByteBuffer(capacity: 64)
        #expect(try performer.authorize(at: 0, into: value))
        #expect(value.readable.text == "NTLM token")
        login.isEstablished = true
        #expect(try await !performer.prepare(with: Self.credential, isShared: false, under: LoginTerms()))
        #expect(try !performer.authorize(at: 0, into: value))
    }

    @Test
    func `a handshake whose connection ends is broken off, or tried again where the connection had served before`()
        async throws
    {
        let (performer, server, login) = connection()
        #expect(performer.refusal(by: [], in: server).refusal == nil)
        _ = try await performer.prepare(with: Self.credential, isShared: false, under: LoginTerms())
        #expect(performer.refusal(by: [], in: server).refusal == .proceed)
        server.keepsConnection = false
        #expect(performer.refusal(by: [], in: server).refusal == .aborted)
        server.isReused = true
        #expect(performer.refusal(by: [], in: server).refusal == .retry)
        login.refusal = .refused
        login.trouble = .clockSkew(credential: "a", service: "s")
        let (refusal, trouble) = performer.refusal(by: [], in: server)
        #expect(refusal == .refused && trouble == login.trouble)
    }

    @Test func `a response to a request without its body says nothing of the login`() async throws {
        let (performer, server, login) = connection()
        #expect(performer.proof(in: server, omitsBody: false) == nil)
        _ = try await performer.prepare(with: Self.credential, isShared: false, under: LoginTerms())
        #expect(performer.proof(in: server, omitsBody: true) == .ignored)
        server.status = .badGateway
        #expect(performer.proof(in: server, omitsBody: false) == nil)
        server.status = .ok
        server.persistsLogin = false
        #expect(performer.proof(in: server, omitsBody: false) == .unverified)
        #expect(!login.isEstablished)
    }

    // MARK: - Request

    @Test func `a request's answer is judged by its ticket, and by no server in trouble`() throws {
        let space = ProtectionSpace(origin: PlayedRequest.origin, realm: "r", authenticationMethod: .basic)
        let challenge = HeaderChallenge(
            scheme: "basic", parameters: [HeaderChallenge.Parameter(name: "realm", value: Array("r".utf8))])
        let answer = Answer(space: space, challenge: challenge, credential: Self.credential)
        let made = try ChallengeOrder().authenticator(for: answer, at: "/".utf8Span.span)
        guard case .request(let authenticator) = made.binding else {
            Issue.record("basic answers requests")
            return
        }
        let performer = RequestPerformer(authenticator: authenticator, challenger: challenger)
        let (server, value) = (PlayedServer(), ByteBuffer(capacity: 64))
        #expect(performer.refusal(by: [challenge], of: nil) == nil)
        let ticket = try performer.authorize(
            method: "GET".utf8Span.span, target: "/".utf8Span.span, bodyDigest: nil, into: value)
        #expect(performer.refusal(by: [challenge], of: ticket) == .refused)
        let proof = { performer.proof(in: server, of: ticket, at: "/".utf8Span.span, bodyDigest: nil) }
        #expect(proof() == .unverified)
        server.status = .badGateway
        #expect(proof() == nil)
    }

    // MARK: - Session

    @Test func `a session that is not open has no ticket, and nothing of a response is about it`() {
        let space = ProtectionSpace(origin: PlayedRequest.origin, realm: nil, authenticationMethod: .htmlForm)
        let answer = Answer(space: space, challenge: .loginPage, credential: Self.credential)
        let made = try? ChallengeOrder().authenticator(for: answer, at: "/".utf8Span.span)
        guard case .session(let session)? = made?.binding else {
            Issue.record("a form answers by sessions")
            return
        }
        let performer = SessionPerformer(session: session, pages: nil)
        let (server, value) = (PlayedServer(), ByteBuffer(capacity: 64))
        #expect(performer.authorize(target: "/".utf8Span.span, at: 0, into: value) == nil)
        #expect(
            performer.refusal(by: [.loginPage], of: nil, sawLoginPage: false, at: "/x".utf8Span.span, now: 0) == nil)
        #expect(performer.proof(in: server, of: nil, sawLoginPage: true) == nil)
        session.open(CookieJar(origin: PlayedRequest.origin))
        let ticket = performer.authorize(target: "/".utf8Span.span, at: 0, into: value)
        #expect(ticket != nil)
        #expect(performer.proof(in: server, of: ticket, sawLoginPage: false) == .unverified)
        #expect(
            performer.refusal(by: [.loginPage], of: ticket, sawLoginPage: false, at: "/x".utf8Span.span, now: 0) != nil)
    }
}
