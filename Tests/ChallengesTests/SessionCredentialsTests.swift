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
        for now: WallTime in [10, 20, 30] {
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
        let sessions = SessionCredentials(limits: SessionCredentials.Limits(sessions: 2))
        let clients = (1...3).map { ClientIdentity(address: IPAddress(v4: $0)) }
        for (time, client) in clients.enumerated() {
            sessions.put(credential("a"), for: space, of: client, at: WallTime(milliseconds: time), limit: 100)
        }
        let kept = clients.map { sessions.credential(for: space, of: $0, at: 3, limit: 100) != nil }
        #expect(kept == [false, true, true])
    }

    @Test func `a peer with many addresses pushes out its own sessions, and nobody else's`() {
        let limits = SessionCredentials.Limits(sessions: 4096, credentials: 64, bytes: 1 << 20)
        let sessions = SessionCredentials(limits: limits)
        sessions.put(credential("theirs"), for: space, of: here, at: 0, limit: 100_000)
        let clients = (1...200 as ClosedRange<UInt64>).map { ClientIdentity(address: IPAddress(v6High: 1, low: $0)) }
        for (time, client) in clients.enumerated() {
            sessions.put(
                credential("theirs"), for: space, of: client, at: WallTime(milliseconds: time + 1), limit: 100_000)
        }
        #expect(sessions.credential(for: space, of: here, at: 300, limit: 100_000) != nil)
        let kept = clients.count { sessions.credential(for: space, of: $0, at: 300, limit: 100_000) != nil }
        #expect(kept == 63)
        // The addresses of a network count as one client, and have sessions of their own all the same.
        let last = ClientIdentity(address: IPAddress(v6High: 1, low: 201))
        #expect(sessions.credential(for: space, of: last, at: 300, limit: 100_000) == nil)
    }

    @Test func `sessions take no more than their bytes, however long the names are`() {
        let sessions = SessionCredentials(limits: SessionCredentials.Limits(bytes: 100_000))
        let long = String(repeating: "u", count: 10_000)
        let clients = (1...50 as ClosedRange<UInt32>).map { ClientIdentity(address: IPAddress(v4: $0)) }
        for (time, client) in clients.enumerated() {
            sessions.put(credential(long), for: space, of: client, at: WallTime(milliseconds: time), limit: 1000)
        }
        let kept = clients.count { sessions.credential(for: space, of: $0, at: 60, limit: 1000) != nil }
        #expect(1...9 ~= kept)
        #expect(sessions.credential(for: space, of: clients[49], at: 60, limit: 1000) != nil)
    }

    @Test func `a refused credential of a full session makes room`() {
        let sessions = SessionCredentials(limits: SessionCredentials.Limits(credentials: 1))
        sessions.put(credential("a"), for: space, of: here, at: 0, limit: 10)
        sessions.remove(credential("a").version, for: space, of: here)
        sessions.put(credential("b"), for: space, of: there, at: 1, limit: 10)
        #expect(sessions.credential(for: space, of: there, at: 1, limit: 10)?.user == "b")
    }

    @Test func `the addresses of an IPv6 network are one owner of what they bring`() async throws {
        let owners = try await onLoop { loop -> [String?] in
            try ([(1, 1, nil), (1, 2, nil), (2, 1, nil), (1, 2, "alice")] as [(UInt64, UInt64, String?)]).map {
                high, low, user -> String? in
                let client = ClientIdentity(address: IPAddress(v6High: high, low: low), user: user)
                let request = try PlayedRequest("", client: client, on: loop)
                let brought = Credential(name: "url:u", user: "u", password: Secret("p"), isBrought: true)
                return request.context.source.owner(of: brought)
            }
        }
        #expect(owners[0] == owners[1])
        #expect(Set(owners).count == 3)
    }

    @Test func `what a client has shown counts in the table of credentials that clients bring`() async throws {
        let accounts = try await onLoop { loop -> [Account.Shared] in
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
                _ = context.source.evidence(of: kept)
            }
            return state.spaces.accounts.all
        }
        #expect(accounts.allSatisfy { $0.owner != nil })
        #expect(accounts.count == 32)
    }
}
