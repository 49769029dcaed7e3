import Authentication
import Bytes
import Crypto
import Model
import Rules
import TestSupport
import Testing

@testable import Challenges

struct SessionCredentialsTests {
    private let space = ProtectionSpace(
        origin: Origin(host: "host", port: 80, protocol: .http), realm: "r",
        authenticationMethod: .basic)
    private let here = ClientIdentity(address: IPAddress(v4: 0x7F00_0001))
    private let there = ClientIdentity(address: IPAddress(v4: 0x7F00_0002))

    private func credential(_ user: String) -> Credential {
        Credential(name: user, user: user, password: Secret("p"))
    }

    @Test func `a client finds its own credential and nobody else's`() {
        let sessions = SessionCredentials()
        sessions.put(credential("a"), for: space, of: here, at: 0, limit: 10)
        #expect(sessions.credential(for: space, of: here, at: 1, limit: 10)?.user == "a")
        #expect(sessions.credential(for: space, of: there, at: 1, limit: 10) == nil)
        // An authenticated user is that user, wherever it asks from, and not the address.
        let user = ClientIdentity(address: here.address, user: "alice")
        #expect(sessions.credential(for: space, of: user, at: 1, limit: 10) == nil)
        sessions.put(credential("b"), for: space, of: user, at: 1, limit: 10)
        let elsewhere = ClientIdentity(address: there.address, user: "alice")
        #expect(sessions.credential(for: space, of: elsewhere, at: 2, limit: 10)?.user == "b")
    }

    @Test func `users whose names differ in their bytes alone have sessions of their own`() {
        let sessions = SessionCredentials()
        let (one, other) = (
            ClientIdentity(address: here.address, user: "\u{E9}"),
            ClientIdentity(address: here.address, user: "e\u{301}")
        )
        sessions.put(credential("a"), for: space, of: one, at: 0, limit: 10)
        #expect(sessions.credential(for: space, of: other, at: 0, limit: 10) == nil)
        sessions.put(credential("b"), for: space, of: other, at: 0, limit: 10)
        #expect(sessions.credential(for: space, of: one, at: 0, limit: 10)?.user == "a")
    }

    @Test func `a session ends when it was quiet, and not before`() {
        let sessions = SessionCredentials()
        sessions.put(credential("a"), for: space, of: here, at: 0, limit: 10)
        for now in [10, 20, 30] {
            #expect(sessions.credential(for: space, of: here, at: now, limit: 10) != nil)
        }
        #expect(sessions.credential(for: space, of: here, at: 41, limit: 10) == nil)
        #expect(sessions.credential(for: space, of: here, at: 41, limit: 100) == nil)
    }

    @Test func `a refused version is forgotten, another one is not`() {
        let sessions = SessionCredentials()
        let (old, new) = (credential("a"), credential("b"))
        sessions.put(new, for: space, of: here, at: 0, limit: 10)
        sessions.remove(old.version, for: space, of: here)
        #expect(sessions.credential(for: space, of: here, at: 0, limit: 10) != nil)
        sessions.remove(new.version, for: space, of: here)
        #expect(sessions.credential(for: space, of: here, at: 0, limit: 10) == nil)
    }

    @Test func `where there are too many the one that was quiet longest ends`() {
        let sessions = SessionCredentials(capacity: 2)
        let clients = (1...3).map { ClientIdentity(address: IPAddress(v4: $0)) }
        for (time, client) in clients.enumerated() {
            sessions.put(credential("a"), for: space, of: client, at: time, limit: 100)
        }
        let kept = clients.map { sessions.credential(for: space, of: $0, at: 3, limit: 100) != nil }
        #expect(kept == [false, true, true])
    }

    @Test func `what a client has shown counts in the table of credentials that clients bring`() async throws {
        let accounts = try await onLoop { loop -> [SharedAccount] in
            let state = PlayedRequest.freshState()
            let rules = "challenge { host h; default; learn yes; persistence session }"
            for number in 0..<40 {
                let context = try PlayedRequest(rules, state: state, on: loop).context
                let request = LearningEvidence<SessionClient>.Request(
                    PlayedRequest.origin, method: "GET".utf8Span.span, target: "/\(number)".utf8Span.span)
                let learning = Learning(
                    delegate: context.delegate, origin: PlayedRequest.origin, request: request, loop: loop)
                let realm = HeaderChallenge.Parameter(name: "realm", value: Array("\(number)".utf8))
                let credential = Credential(name: "shown", user: "u\(number)", password: Secret("p"))
                learning.sawChallenges([HeaderChallenge(scheme: "basic", parameters: [realm])])
                learning.sawAcceptance(of: credential)
                let space = ProtectionSpace(
                    origin: PlayedRequest.origin, realm: "\(number)", authenticationMethod: .basic)
                let kept = try #require(context.source.kept(for: space))
                _ = context.evidence(of: kept)
            }
            return state.spaces.accounts.all
        }
        #expect(accounts.allSatisfy { $0.owner != nil })
        #expect(accounts.count == 32)
    }
}
