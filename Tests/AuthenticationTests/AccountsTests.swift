import Bytes
import Crypto
import Synchronization
import Testing

@testable import Authentication

/// A store whose transactions each go on when the test lets them.
private final class HeldJournal: Accounts.Journal {
    private let state = Mutex((account: Account(), revision: Int64(0)))
    private let begun = AsyncStream<Promise<Bool>>.makeStream()
    private let over = AsyncStream<Int64>.makeStream()

    var isAttached: Bool { true }

    func change(
        _ own: Account.Shared, _ change: @escaping @Sendable (inout Account) -> (Account.Seat, [Account.Decision])?
    ) async -> Account.Shared.Change? {
        let turn = Promise<Bool>()
        begun.continuation.yield(turn)
        guard await turn.value() == true else { return nil }
        defer { over.continuation.yield(state.withLock { $0.revision }) }
        return state.withLock { state in
            guard let (seat, decisions) = change(&state.account) else { return nil }
            state.revision += 1
            return Account.Shared.Change(state.account, revision: state.revision, by: seat, decisions: decisions)
        }
    }

    func replaced(by version: CredentialVersion, isRenewal: Bool) {}

    /// Waits until the next transaction has begun, and has it wait.
    func transaction() async throws -> Promise<Bool> {
        var turns = begun.stream.makeAsyncIterator()
        return try #require(await turns.next())
    }

    /// Waits until a transaction has ended, and returns the number of changes so far.
    func ended() async -> Int64? {
        var ends = over.stream.makeAsyncIterator()
        return await ends.next()
    }
}

/// The accounts of a process: the machine behind its lock, with the requests that wait.
struct AccountsTests {
    private let accounts = Accounts()
    private let alice = Credential(name: "alice", user: "alice", password: Secret("a"))
    private static let server = "http://h:80"
    private static let target = Array("/a".utf8)
    private static let terms = Evidence.RetryTerms(retry: [30_000, 300_000, 1_800_000])

    private var evidence: Evidence { accounts.evidence(of: alice, at: Self.server) }

    private func admit(_ target: String = "/a", now: WallTime) -> Evidence.Admission {
        evidence.admit(target.utf8Span.span, under: Self.terms, now: now)
    }

    /// A request is sent with the version, and judged.
    private func send(_ target: String, _ verdict: Account.Verdict, now: WallTime) {
        guard case .send(let attempt) = admit(target, now: now) else {
            Issue.record("it is not sent to \(target)")
            return
        }
        let sample = Account.Sample(
            target: Evidence.hash(target.utf8Span.span), content: Array("GET \(target)\r\n".utf8))
        attempt.settle(verdict, sample: verdict == .accepted ? sample : nil, now: now)
    }

    @Test func `a version that is accepted is good, and costs no decision from then on`() {
        #expect(!evidence.isGood)
        send("/a", .accepted, now: 0)
        #expect(evidence.isGood && accounts.troubledCount == 0)
        let generation = accounts.generation
        evidence.judge(evidence.send(), .accepted, at: Self.target.span, now: 1)
        #expect(accounts.generation == generation)
    }

    @Test func `a version that was never accepted is sent twice, and then after half an hour`() {
        send("/a", .refused, now: 0)
        guard case .refused(.unproven, nextTry: 1_800_000) = admit("/a", now: 1) else {
            Issue.record("the same target is asked again")
            return
        }
        send("/b", .refused, now: 1000)
        guard case .refused(.unproven, nextTry: 1_801_000) = admit("/c", now: 2000) else {
            Issue.record("a third target is asked")
            return
        }
        #expect(accounts.hold(on: alice.version, at: Self.server, now: 1_800_999) == 1_801_000)
        send("/a", .refused, now: 1_801_000)
        #expect(accounts.hold(on: alice.version, at: Self.server, now: 1_801_001) == 5_401_000)
    }

    @Test func `a ticket that a server takes clears no refusal, the acceptance of the password by a KDC does`() {
        let kdc = accounts.evidence(of: alice, at: "krb5:R")
        kdc.judge(kdc.send(), .accepted, at: Self.target.span, now: 0)
        let guarded = accounts.evidence(of: alice, at: "http://tickets:80")
        guarded.noteTicket(now: 1)
        #expect(guarded.version == alice.version && !guarded.isGood)
        for refusal in 0..<4 {
            // The fourth was sent before the third was known, and shares its slot.
            evidence.judge(evidence.send(), .refused, at: Self.target.span, now: 2 + Milliseconds(refusal))
            guarded.noteTicket(now: 10)
        }
        #expect(!kdc.isGood && accounts.troubledCount == 1)
        let account = accounts.all.first?.account
        #expect(account?.slots.isEmpty == false)
        #expect(account?.record(of: "http://tickets:80")?.lastAccepted == 10)
        guard case .send(let attempt) = kdc.admit(Self.target.span, under: Self.terms, now: 20) else {
            Issue.record("the KDC is not asked")
            return
        }
        attempt.settle(.accepted, now: 21)
        #expect(kdc.isGood && accounts.troubledCount == 0)
    }

    @Test func `behind a refusal the next request waits for a probe, and goes on with its acceptance`() async {
        let probes = Mutex<[Evidence.Probe]>([])
        accounts.onProbe { probe in probes.withLock { $0.append(probe) } }
        send("/a", .accepted, now: 0)
        evidence.judge(evidence.send(), .refused, at: "/forbidden".utf8Span.span, now: 10)
        #expect(!evidence.isGood)
        guard case .wait(let waiter) = admit("/b", now: 20) else {
            Issue.record("it does not wait")
            return
        }
        let probe = probes.withLock { $0.popLast() }
        #expect(probe.map { String(decoding: $0.sample.content, as: UTF8.self) } == "GET /a\r\n")
        probe?.attempt.settle(.accepted, now: 30)
        guard case .send? = await waiter.admission() else {
            Issue.record("it is not sent")
            return
        }
        #expect(evidence.isGood && accounts.troubledCount == 0)
    }

    @Test func `a refused probe holds the version until the next try, which wakes by itself`() async {
        let probes = Mutex<[Evidence.Probe]>([])
        let wakes = Mutex<[WallTime]>([])
        accounts.onProbe { probe in probes.withLock { $0.append(probe) } }
        accounts.onWake { time in wakes.withLock { $0.append(time) } }
        send("/a", .accepted, now: 0)
        evidence.judge(evidence.send(), .refused, at: "/b".utf8Span.span, now: 10)
        guard case .wait(let waiter) = admit("/b", now: 20) else {
            Issue.record("it does not wait")
            return
        }
        probes.withLock { $0.popLast() }?.attempt.settle(.refused, now: 30)
        guard case .refused(.paused, nextTry: 30_030)? = await waiter.admission() else {
            Issue.record("it is sent")
            return
        }
        #expect(wakes.withLock { $0.contains(30_030) })
        accounts.wake(at: 30_030)
        probes.withLock { $0.popLast() }?.attempt.settle(.accepted, now: 30_040)
        #expect(evidence.isGood)
    }

    @Test func `a request whose client leaves is no verdict, and the next one leads`() async {
        var admission: Evidence.Admission? = admit("/a", now: 0)
        guard case .send? = admission, case .wait(let waiter) = admit("/b", now: 1) else {
            Issue.record("the second does not wait for the first")
            return
        }
        admission = nil
        guard case .send? = await waiter.admission() else {
            Issue.record("it is not sent")
            return
        }
    }

    @Test func `another value ends all waits, and begins with what the value before knew`() async {
        send("/a", .accepted, now: 0)
        let changed = Credential(name: "alice", user: "alice", password: Secret("new"))
        accounts.replace(with: changed.version)
        #expect(!accounts.all.contains { $0.version == alice.version })
        let next = accounts.evidence(of: changed, at: Self.server)
        guard case .send(let attempt) = next.admit(Self.target.span, under: Self.terms, now: 10) else {
            Issue.record("it is not sent")
            return
        }
        attempt.settle(.refused, now: 10)
        // The server may learn of it later.
        #expect(accounts.hold(on: changed.version, at: Self.server, now: 11) == 60_010)
    }

    @Test func `a renewed token is known where the one before it was, and another token of its grant stays`() {
        let tokens = ["b", "c", "d"].map { Credential(name: "alice", user: "alice", password: Secret($0)) }
        send("/a", .accepted, now: 0)
        let second = accounts.evidence(of: tokens[0], at: "http://other:80")
        guard case .send(let attempt) = second.admit(Self.target.span, under: Self.terms, now: 1) else {
            Issue.record("it is not sent")
            return
        }
        attempt.settle(.accepted, now: 1)
        accounts.renew(alice.version, with: tokens[1].version)
        #expect(accounts.hasAccepted(tokens[1].version, at: Self.server))
        #expect(!accounts.hasAccepted(alice.version, at: Self.server))
        #expect(accounts.hasAccepted(tokens[0].version, at: "http://other:80"))
        // The only token of its grant takes the place of all.
        accounts.renew(with: tokens[2].version)
        #expect(accounts.all.map(\.version) == [tokens[2].version])
        #expect(
            ["http://other:80", Self.server].contains { accounts.hasAccepted(tokens[2].version, at: $0) })
    }

    @Test func `set again, a version is sent at once`() {
        send("/a", .refused, now: 0)
        send("/b", .refused, now: 0)
        #expect(accounts.troubledCount == 1)
        #expect(accounts.reset(at: 1) { version, _ in version == alice.version } == [alice.version])
        #expect(accounts.troubledCount == 0)
        send("/a", .accepted, now: 2)
    }

    @Test(.timeLimit(.minutes(5)))
    func `requests that come while the store is asked are each told what becomes of them`() async throws {
        let journal = HeldJournal()
        let evidence = Accounts(journal: journal).evidence(of: alice, at: Self.server)
        func ask(_ target: String) throws -> Evidence.Waiter {
            let admission = evidence.admit(target.utf8Span.span, under: Self.terms, now: 0)
            guard case .wait(let waiter) = admission else { throw CancellationError() }
            return waiter
        }
        let first = try ask("/1")
        let opening = try await journal.transaction()
        let second = try ask("/2")
        opening.keep(true)
        guard case .send(let leader)? = await first.admission() else { throw CancellationError() }
        let following = try await journal.transaction()
        let third = try ask("/3")
        following.keep(true)
        try await journal.transaction().keep(true)
        leader.settle(.accepted, now: 1)
        try await journal.transaction().keep(true)
        for waiter in [second, third] {
            guard case .send? = await waiter.admission() else { throw CancellationError() }
        }
    }

    @Test(.timeLimit(.minutes(5)))
    func `an answer without a verdict has no request lead beside the store`() async throws {
        let journal = HeldJournal()
        let evidence = Accounts(journal: journal).evidence(of: alice, at: Self.server)
        var leaders: [Evidence.Attempt] = []
        guard case .wait(let first) = evidence.admit("/1".utf8Span.span, under: Self.terms, now: 0) else {
            throw CancellationError()
        }
        try await journal.transaction().keep(true)
        if case .send(let leader)? = await first.admission() { leaders.append(leader) }
        guard case .wait(let second) = evidence.admit("/2".utf8Span.span, under: Self.terms, now: 1) else {
            throw CancellationError()
        }
        try await journal.transaction().keep(true)
        while evidence.ledger.shared.revision < 2 { await Task.yield() }
        // Its leader has not answered for half a minute.
        evidence.judge(evidence.send(), .none, at: "/3".utf8Span.span, now: 31_000)
        try #require(!second.promise.isOver)
        try await journal.transaction().keep(true)
        guard case .send? = await second.admission() else { throw CancellationError() }
        #expect(leaders.count == 1)
    }

    @Test(.timeLimit(.minutes(5)))
    func `the store keeps nothing of a value that was replaced before its event was carried out`() async throws {
        let journal = HeldJournal()
        let accounts = Accounts(journal: journal)
        let evidence = accounts.evidence(of: alice, at: Self.server)
        _ = evidence.admit("/1".utf8Span.span, under: Self.terms, now: 0)
        let turn = try await journal.transaction()
        accounts.replace(with: CredentialVersion(name: alice.version.name, fingerprint: 1))
        turn.keep(true)
        #expect(await journal.ended() == 0)
        _ = accounts.evidence(of: alice, at: Self.server).admit("/2".utf8Span.span, under: Self.terms, now: 1)
        try await journal.transaction().keep(true)
        #expect(await journal.ended() == 1)
    }

    @Test func `credentials that one client brings push out its own, and nobody else's`() {
        func brought(_ number: Int, by owner: String) -> Credential {
            Credential(name: "url:\(number)", user: "\(number)", password: Secret("p"))
        }
        let other = accounts.evidence(of: brought(0, by: "other"), at: Self.server, broughtBy: "other")
        for number in 1...200 {
            _ = accounts.evidence(of: brought(number, by: "one"), at: Self.server, broughtBy: "one")
        }
        #expect(accounts.all.count < 64)
        #expect(accounts.all.contains { $0.version == other.version })
    }

    @Test func `a forgotten account leaves the memory, and so does one that a request asks about afterwards`() throws {
        func bring(_ number: Int) -> Evidence {
            let credential = Credential(name: "url:\(number)", user: "u", password: Secret("\(number)"))
            return accounts.evidence(of: credential, at: Self.server, broughtBy: "one")
        }
        weak var ledger: Account.Ledger?
        func bringFirst() {
            let first = bring(0)
            ledger = first.ledger
            for number in 1..<40 { _ = bring(number) }
            _ = first.ledger.evidence(at: "http://other:80")
        }
        bringFirst()
        #expect(ledger == nil)
    }

    @Test func `credentials that clients bring take no more than their bytes, however long the names are`() {
        let long = String(repeating: "u", count: 14_000)
        for owner in 0..<100 {
            for number in 0..<32 {
                let user = "\(owner) \(number) \(long)"
                let credential = Credential(name: "url:\(user)", user: user, password: Secret("p"), isBrought: true)
                _ = accounts.evidence(of: credential, at: Self.server, broughtBy: "\(owner)")
            }
        }
        let all = accounts.all
        #expect(all.allSatisfy { $0.version.name.utf8.count <= 1024 })
        #expect(Set(all.map(\.version)).count == all.count)
        // Each takes some 15 KB.
        #expect(all.count < 300 && all.count > 200)
        #expect(all.count { $0.owner == "99" } < 10)
    }

    @Test(
        arguments: [
            ("http://h:80", "h", 80, false), ("proxy https://[2001:db8::1]:3128", "2001:db8::1", 3128, true),
        ] as [(String, String, UInt16, Bool)])
    func `a server's name is read as it is written`(name: String, host: String, port: UInt16, isProxy: Bool) {
        let origin = Origin(serverName: name)
        #expect(origin?.host == host && origin?.port == port && origin?.isProxy == isProxy)
        #expect(origin?.serverName == name)
    }

    @Test(arguments: ["", "kdc EXAMPLE.TEST", "http://h", "x://h:1", "http:/h:80", ":80"])
    func `another name is none of a server`(name: String) {
        #expect(Origin(serverName: name) == nil)
    }

    @Test func `what the rule file or the store has as well is not pushed out by what clients bring`() {
        func bring(_ number: Int, by owner: String) {
            let credential = Credential(name: "url:\(number)", user: "u", password: Secret("\(number)"))
            _ = accounts.evidence(of: credential, at: Self.server, broughtBy: owner)
        }
        _ = accounts.evidence(of: alice, at: Self.server, broughtBy: "one")
        send("/a", .refused, now: 0)
        for number in 0..<40 { bring(number, by: "one") }
        #expect(accounts.isRefused(alice.version, at: Self.server, now: 1))
        #expect(accounts.all.first { $0.version == alice.version }.map { $0.owner == nil } == true)
    }
}
