import Crypto
import Model
import Synchronization
import Testing

@testable import Authentication

@Suite struct ProtectionSpacesTests {
    let spaces = ProtectionSpaces()
    let origin = Origin(host: "Host.Example", port: 80, protocol: .http)
    let alice = Credential(name: "alice", user: "alice", password: Secret("a"))
    let bob = Credential(name: "bob", user: "bob", password: Secret("b"))

    func answer(_ credential: Credential, realm: String = "r") -> Answer {
        Answer(
            space: ProtectionSpace(origin: origin, realm: realm, authenticationMethod: .basic),
            challenge: challenges("Basic realm=\"\(realm)\"").first, credential: credential)
    }

    func remember(_ credential: Credential, realm: String = "r", at target: String = "/a/b") throws {
        let answer = answer(credential, realm: realm)
        spaces.remember(try ChallengeOrder().authenticator(for: answer, at: target.utf8Span.span), for: answer)
    }

    func known(_ host: String, port: UInt16 = 80, _ kind: NetworkProtocol = .http, isProxy: Bool = false)
        -> KnownOrigin?
    {
        spaces.known(host: host.utf8Span.span, port: port, protocol: kind, isProxy: isProxy)
    }

    func knownSpace(covering target: String, on host: String = "host.example") -> KnownSpace? {
        known(host)?.space(covering: target.utf8Span.span)
    }

    func realm(covering target: String) -> String? { knownSpace(covering: target)?.space.realm }

    @Test func `an accepted answer is found by origin, path and exactly that credential`() throws {
        try remember(alice)
        let space = try #require(knownSpace(covering: "/a/c", on: "HOST.example"))
        #expect(space.authenticator(for: alice.version) != nil)
        #expect(space.authenticator(for: bob.version) == nil)
        #expect(realm(covering: "/x") == nil)
        #expect(known("host.example", port: 81) == nil)
        #expect(known("host.example", .https) == nil)
        #expect(known("host.example", isProxy: true) == nil)
        #expect(known("host.exampl") == nil)
    }

    @Test func `two credentials of one space have their own sessions`() throws {
        try remember(alice)
        try remember(bob)
        let space = try #require(knownSpace(covering: "/a/"))
        let first = try #require(space.authenticator(for: alice.version)?.request)
        let second = try #require(space.authenticator(for: bob.version)?.request)
        #expect(first !== second)
        #expect(try first.answer().value != second.answer().value)
    }

    @Test func `a changed value replaces the version before it`() throws {
        try remember(alice)
        let changed = Credential(name: "alice", user: "alice", password: Secret("new"))
        #expect(changed.version != alice.version)
        try remember(changed)
        let space = try #require(knownSpace(covering: "/a/"))
        #expect(space.authenticator(for: alice.version) == nil)
        #expect(space.authenticator(for: changed.version) != nil)
    }

    @Test func `the nearest space counts, and a space may grow`() throws {
        try remember(alice, realm: "outer", at: "/")
        try remember(alice, realm: "inner", at: "/in/x")
        #expect(realm(covering: "/in/y") == "inner")
        #expect(realm(covering: "/else") == "outer")
        try remember(alice, realm: "inner", at: "/more/x")
        #expect(realm(covering: "/more/") == "inner")
    }

    @Test func `a credential with no persistence is not kept`() throws {
        try remember(alice.with(.none))
        #expect(known("host.example") == nil)
    }

    @Test func `an answer is made anew when its realm asks in another way`() throws {
        let space = ProtectionSpace(origin: origin, realm: "r", authenticationMethod: .digest)
        let digest = { (algorithm: String) in
            Answer(
                space: space,
                challenge: challenges("Digest realm=\"r\", nonce=\"n\", algorithm=\(algorithm)").first,
                credential: alice)
        }
        let first = try ChallengeOrder().authenticator(for: digest("MD5"), at: "/".utf8Span.span)
        spaces.remember(first, for: digest("MD5"))
        #expect(spaces.authenticator(for: digest("MD5")) === first)
        #expect(spaces.authenticator(for: digest("SHA-256")) == nil)
        #expect(spaces.authenticator(for: Answer(space: space, challenge: nil, credential: alice)) === first)
    }

    @Test func `the oldest is forgotten at the limits`() throws {
        let few = ProtectionSpaces(capacity: 2)
        for port in [UInt16(1), 2, 3] {
            few.markOpen(Origin(host: "h", port: port, protocol: .http), target: "/".utf8Span.span)
        }
        let known = { (port: UInt16) in few.known(host: "h".utf8Span.span, port: port, protocol: .http) != nil }
        #expect([1, 2, 3].map(known) == [false, true, true])
    }

    @Test func `an open page leaves its space with its directory, or alone if that is the whole space`() throws {
        try remember(alice)
        let space = try #require(knownSpace(covering: "/a/"))
        let excluded = ["/a/page?q", "/a/open/page", "/elsewhere"].map { space.exclude($0.utf8Span.span) }
        #expect(excluded == [true, true, false])
        let isCovered = { (target: String) in space.coverage(of: target.utf8Span.span) != nil }
        let targets = ["/a/", "/a/other", "/a/page", "/a/open/", "/a/open/x"]
        #expect(targets.filter(isCovered) == ["/a/", "/a/other"])
        #expect(["/a/other", "/a/open/x"].map { space.readmit($0.utf8Span.span) } == [false, true])
        #expect(targets.filter(isCovered) == ["/a/", "/a/other", "/a/open/", "/a/open/x"])
    }

    @Test func `200 tasks that meet an unknown space cause one probe`() async throws {
        let probes = Tally()
        let answered = await withTaskGroup(of: Bool.self) { group in
            for _ in 0..<200 { group.addTask { await self.run(counting: probes) } }
            return await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
        }
        #expect(answered == 200)
        #expect(probes.count.load(ordering: .relaxed) == 1)
    }

    /// One request as the proxy makes it: true when it ends with an authenticator.
    private func run(counting probes: Tally) async -> Bool {
        let find = {
            knownSpace(covering: "/a/b")?.authenticator(for: alice.version) != nil
        }
        if find() { return true }
        var lease: FlightLease?
        switch spaces.admit(to: origin, target: "/a/b".utf8Span.span, version: alice.version) {
        case .proceed, .overtake: return false
        case .lead(let first): lease = first
        case .wait(let waiter):
            if case .lead(let next) = await waiter.outcome() { lease = next }
        }
        if find() {
            lease?.settle(.accepted)
            return true
        }
        guard let lease else { return false }
        probes.count.add(1, ordering: .relaxed)
        await Task.yield()
        do { try remember(alice) } catch { return false }
        lease.settle(.accepted)
        return true
    }

    @Test func `a leader that fails hands the lead to exactly one that still waits`() async throws {
        var lease = lead()
        #expect(lease != nil)
        let waiters = (0..<3).compactMap { _ in joined() }
        try #require(waiters.count == 3)
        waiters[0].expire()
        lease = nil
        guard case .expired = await waiters[0].outcome() else { throw Unexpected() }
        guard case .lead(let next) = await waiters[1].outcome() else { throw Unexpected() }
        next.settle(.unanswered)
        next.settle(.accepted)
        guard case .settled(.unanswered) = await waiters[2].outcome() else { throw Unexpected() }
        #expect(lead() != nil)
    }

    @Test func `a promoted task that is gone passes the lead on`() async throws {
        var lease = lead()
        var gone = joined()
        let last = try #require(joined())
        lease = nil
        _ = lease
        gone = nil
        _ = gone
        guard case .lead = await last.outcome() else { throw Unexpected() }
    }

    @Test func `a cancelled wait ends`() async throws {
        let lease = lead()
        let waiter = try #require(joined())
        let task = Task { await waiter.outcome() }
        task.cancel()
        guard case .expired = await task.value else { throw Unexpected() }
        lease?.settle(.open)
    }

    @Test func `clients with different credentials do not wait for each other`() {
        let first = spaces.admit(to: origin, target: "/".utf8Span.span, version: alice.version)
        let second = spaces.admit(to: origin, target: "/".utf8Span.span, version: bob.version)
        guard case .lead(let one) = first, case .lead(let two) = second else {
            Issue.record("both should lead")
            return
        }
        one.settle(.open)
        two.settle(.open)
    }

    @Test func `an open directory admits everyone, until it is challenged`() {
        spaces.markOpen(origin, target: "/open/x".utf8Span.span)
        let isOpen = { (target: String) in
            if case .proceed = spaces.admit(to: origin, target: target.utf8Span.span, version: nil) {
                true
            } else {
                false
            }
        }
        #expect(isOpen("/open/y?z=/"))
        #expect(!isOpen("/open/deeper/y"))
        #expect(!isOpen("/"))
        spaces.markProtected(origin, target: "/open/z".utf8Span.span)
        #expect(!isOpen("/open/y"))
    }

    private final class Tally: Sendable {
        let count = Atomic<Int>(0)
    }

    private struct Unexpected: Error {}

    private func lead() -> FlightLease? {
        if case .lead(let lease) = spaces.admit(to: answer(alice).space, version: alice.version) { lease } else { nil }
    }

    private func joined() -> FlightWaiter? {
        if case .wait(let waiter) = spaces.admit(to: answer(alice).space, version: alice.version) {
            waiter
        } else {
            nil
        }
    }

    @Test func `an origin with long challenges is forgotten before the others`() throws {
        let spaces = ProtectionSpaces(byteLimit: 200_000)
        func remember(_ host: String, realm: String) throws {
            let origin = Origin(host: host, port: 80, protocol: .http)
            let answer = Answer(
                space: ProtectionSpace(origin: origin, realm: realm, authenticationMethod: .basic),
                challenge: challenges("Basic realm=\"\(realm)\"").first, credential: alice)
            spaces.remember(try ChallengeOrder().authenticator(for: answer, at: "/".utf8Span.span), for: answer)
        }
        func isKnown(_ host: String) -> Bool {
            spaces.known(host: host.utf8Span.span, port: 80, protocol: .http) != nil
        }
        for number in 0..<20 { try remember("small\(number)", realm: "r") }
        for host in 0..<8 {
            for realm in 0..<4 {
                try remember("large\(host)", realm: "\(realm)" + String(repeating: "R", count: 20_000))
            }
        }
        #expect((0..<20).allSatisfy { isKnown("small\($0)") })
        #expect(1...3 ~= (0..<8).count { isKnown("large\($0)") })
    }
}
