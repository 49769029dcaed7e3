import Bytes
import Crypto
import Synchronization
import Testing

@testable import Authentication

/// The states of a value that are shown, and the changes that are reported.
struct AccountStandingTests {
    private static let start: WallTime = 1_767_225_600_000
    private static let (first, second) = ("https://a.example:443", "https://b.example:443")

    /// Requests that servers judge, at played times.
    private final class Play: Sendable {
        let accounts = Accounts()
        let told = Mutex<[String]>([])
        let name: String

        init(_ name: String = "ci") {
            self.name = name
            accounts.onChange { [weak self] changes in
                self?.told.withLock {
                    $0 += changes.map { "\($0.isOurs ? "" : "other's ")\($0.kind) \($0.server ?? "all")" }
                }
            }
        }

        var credential: Credential { Credential(name: name, user: name, password: Secret("secret")) }
        var account: Account { accounts.all.first { $0.version.name == name }?.account ?? Account() }

        func evidence(_ server: String) -> Evidence { accounts.evidence(of: credential, at: server) }

        func attempt(_ server: String, _ target: String, second: Int, retry: [Milliseconds] = Account.shortSteps)
            -> Evidence.Attempt?
        {
            let now = AccountStandingTests.start + .seconds(second)
            let admission = evidence(server).admit(target.utf8.span, under: Evidence.RetryTerms(retry: retry), now: now)
            if case .send(let attempt) = admission { return attempt }
            return nil
        }

        func judge(
            _ server: String, _ verdict: Account.Verdict, target: String = "/", second: Int,
            retry: [Milliseconds] = Account.shortSteps
        ) {
            attempt(server, target, second: second, retry: retry)?
                .settle(verdict, because: "was refused", now: AccountStandingTests.start + .seconds(second))
        }

        /// The state at a server, or over all.
        func state(_ server: String? = nil, second: Int) -> String {
            let now = AccountStandingTests.start + .seconds(second)
            let standing = server.map { account.standing(at: $0, now: now) } ?? account.standing(now: now)
            let since = standing.since.map { " since \(($0 - AccountStandingTests.start).seconds)" } ?? ""
            let next =
                switch standing.nextTry {
                case .time(let time): "at \((time - AccountStandingTests.start).seconds)"
                case .otherTarget(let time): "otherTarget or at \((time - AccountStandingTests.start).seconds)"
                case .otherServer(let time): "otherServer or at \((time - AccountStandingTests.start).seconds)"
                case .request, .verdict, .newValue: "\(standing.nextTry)"
                }
            return "\(standing.state)\(since), \(next)"
        }

        func takeTold() -> [String] {
            told.withLock { told in
                defer { told = [] }
                return told
            }
        }
    }

    @Test func `a value that no server has accepted is unknown, then unproven`() {
        let play = Play()
        #expect(play.state(second: 0) == "unknown, request")
        play.judge(Self.first, .refused, second: 10)
        #expect(play.state(second: 10) == "unproven since 10, otherTarget or at 1810")
        #expect(play.takeTold() == ["refused \(Self.first)"])
        play.judge(Self.second, .refused, second: 20)
        #expect(play.state(second: 20) == "unproven since 10, at 1820")
        #expect(play.takeTold() == ["onHold(isFirst: true) \(Self.second)"])
        play.judge(Self.second, .refused, target: "/a", second: 30)
        #expect(play.takeTold().isEmpty)
        play.judge(Self.second, .refused, second: 1820)
        #expect(play.state(second: 1820) == "unproven since 10, at 5420")
        #expect(play.takeTold() == ["onHold(isFirst: false) \(Self.second)"])
        play.judge(Self.second, .accepted, second: 5420)
        #expect(play.state(second: 5420) == "good, request")
        #expect(play.takeTold() == ["lifted all"])
    }

    @Test func `a value that was accepted is doubted, then paused until it is accepted again`() {
        let play = Play()
        play.judge(Self.first, .accepted, second: 0)
        play.judge(Self.second, .accepted, second: 1)
        #expect(play.takeTold().isEmpty)
        play.judge(Self.first, .refused, second: 10)
        #expect(play.state(Self.second, second: 10) == "doubted since 10, request")
        #expect(play.takeTold() == ["refused \(Self.first)"])
        play.judge(Self.first, .refused, second: 11)
        #expect(play.state(Self.first, second: 11) == "paused since 11, at 41")
        #expect(play.state(second: 11) == "paused since 11, at 41")
        #expect(play.takeTold() == ["onHold(isFirst: true) \(Self.first)"])
        // The other server clears the account. This one stays paused.
        play.judge(Self.second, .accepted, second: 12)
        #expect(play.state(Self.second, second: 12) == "good, request")
        #expect(play.state(second: 12) == "paused since 11, at 41")
        play.judge(Self.first, .refused, second: 41)
        #expect(play.state(second: 41) == "paused since 11, at 341")
        #expect(play.takeTold() == ["onHold(isFirst: false) \(Self.first)"])
        play.judge(Self.second, .accepted, second: 42)
        play.judge(Self.first, .accepted, second: 341)
        #expect(play.state(second: 341) == "good, request")
        #expect(play.takeTold() == ["lifted \(Self.first)"])
    }

    @Test func `a rule that tries never again waits for a new value`() {
        let play = Play()
        play.judge(Self.first, .accepted, second: 0)
        for second in [1, 2] { play.judge(Self.first, .refused, second: second, retry: []) }
        #expect(play.state(second: 2) == "paused since 2, newValue")
        #expect(play.account.hold(at: Self.first, now: 0) == .distantFuture)
    }

    @Test func `a value that was refused too often is held everywhere`() {
        let play = Play()
        let servers = [Self.first, Self.second, "https://c.example:443", "https://d.example:443"]
        for server in servers { play.judge(server, .accepted, second: 0) }
        for (second, server) in servers.dropLast().enumerated() { play.judge(server, .refused, second: 10 + second) }
        #expect(play.state(servers[3], second: 12) == "held since 12, at 41")
        #expect(play.takeTold().suffix(1) == ["onHold(isFirst: true) \(servers[2])"])
        #expect(play.attempt(servers[3], "/", second: 13) == nil)
        play.judge(servers[3], .accepted, second: 41)
        #expect(play.state(servers[3], second: 41) == "good, request")
        #expect(play.takeTold() == ["lifted all"])
    }

    @Test func `a target that a server refused is another matter than others`() {
        let play = Play()
        play.judge(Self.first, .accepted, second: 0)
        play.judge(Self.second, .refused, second: 5)
        #expect(play.state(Self.second, second: 5) == "unknown since 5, otherTarget or at 1805")
        #expect(play.state(second: 5) == "doubted since 5, request")
        play.judge(Self.first, .accepted, second: 6)
        #expect(play.state(second: 6) == "unknown since 5, otherTarget or at 1805")
    }

    @Test func `a server that has one target alone is tried again at the time that is shown`() {
        let play = Play()
        let proxy = "proxy socks5://proxy:1080"
        play.judge(proxy, .refused, target: "", second: 10)
        #expect(play.state(proxy, second: 10) == "unproven since 10, at 1810")
        #expect(Account.soleTarget == Evidence.hash([UInt8]().span))
        #expect(play.state(second: 10) == "unproven since 10, otherServer or at 1810")
        // A grant's endpoint, or a principal's KDC, is the only server that is ever asked.
        let standing = play.account.standing(now: Self.start + 10_000, ofOneServer: true)
        #expect(standing.nextTry == .time(Self.start + 1_810_000))
        #expect(play.takeTold() == ["onHold(isFirst: true) \(proxy)"])
        #expect(play.attempt(proxy, "", second: 1809) == nil)
        #expect(play.attempt(proxy, "", second: 1810) != nil)
    }

    @Test func `a server with one target that never accepted a good value holds it until the time that is shown`() {
        let play = Play()
        let proxy = "proxy socks5://proxy:1080"
        play.judge(Self.first, .accepted, second: 0)
        play.judge(proxy, .refused, target: "", second: 5)
        #expect(play.takeTold() == ["onHold(isFirst: true) \(proxy)"])
        play.judge(Self.first, .accepted, second: 6)
        #expect(play.state(proxy, second: 6) == "unknown since 5, at 1805")
        #expect(play.attempt(proxy, "", second: 1804) == nil)
        play.judge(proxy, .accepted, target: "", second: 1805)
        #expect(play.state(proxy, second: 1805) == "good, request")
        #expect(play.takeTold() == ["lifted \(proxy)"])
    }

    @Test func `a reset is told by whoever asked for it`() {
        let play = Play()
        for target in ["/", "/a"] { play.judge(Self.first, .refused, target: target, second: 0) }
        #expect(play.takeTold().count == 2)
        #expect(play.accounts.reset(at: Self.start) { _, _ in true } == [play.credential.version])
        #expect(play.takeTold() == ["other's lifted all"])
        #expect(play.state(second: 1) == "unknown, request")
        #expect(play.account.record(of: Self.first)?.reason == nil)
    }

    @Test func `the time of use is noted though requests do not look at the clock`() {
        let play = Play()
        play.judge(Self.first, .accepted, second: 0)
        let evidence = play.evidence(Self.first)
        #expect((play.account.since, play.account.lastSent) == (Self.start, Self.start))
        #expect(play.account.record(of: Self.first)?.lastAccepted == Self.start)
        play.accounts.noteUse(at: Self.start + 1000)
        let generation = play.accounts.generation
        _ = evidence.send()
        #expect(play.account.lastSent == Self.start)
        play.accounts.noteUse(at: Self.start + 2000)
        #expect(play.account.lastSent == Self.start + 2000 && play.account.since == Self.start)
        // The response comes later.
        play.accounts.noteUse(at: Self.start + 3000)
        #expect(play.account.record(of: Self.first)?.lastAccepted == Self.start)
        _ = evidence.countAcceptance()
        play.accounts.noteUse(at: Self.start + 4000)
        #expect(play.account.record(of: Self.first)?.lastAccepted == Self.start + 4000)
        #expect(play.account.lastSent == Self.start + 2000)
        // No search is needed again.
        #expect(play.accounts.generation == generation)
        let read = Account(encoded: play.account.encoded(within: 65536))
        #expect(read == play.account)
    }

    @Test func `an answer whose replica has died holds the last slots until it must have been told of`() {
        let play = Play()
        play.judge(Self.first, .accepted, second: 0)
        let lost = play.attempt(Self.second, "/", second: 1)
        #expect(lost != nil)
        play.judge(Self.second, .refused, target: "/a", second: 32)
        withExtendedLifetime(lost) {
            #expect(play.state("https://c.example:443", second: 33) == "held since 32, at 1831")
        }
    }
}
