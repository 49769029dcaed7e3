import Authentication
import Bytes
import Crypto
import Model
import Rules
import Synchronization
import Telemetry
import Testing

@testable import Challenges
@testable import Credentials

/// The changes that requests cause are reported once each, with their author.
struct AuditTests {
    private static let space = ProtectionSpace(
        origin: Origin(host: "host", port: 80, protocol: .http), realm: "r", authenticationMethod: .basic)
    private static let client = ClientIdentity(address: IPAddress(v4: 0x0A00_0007), user: "ann")
    private static let alice = Credential(name: "alice@host:80", user: "alice", password: Secret("p"))

    private final class Told: Sendable {
        let events = Mutex<[AuditEvent]>([])
        var names: [AuditEvent.Name] { events.withLock { $0.map(\.name) } }
    }

    private func state() -> (ChallengeState, Told) {
        let (state, told) = (PlayedRequest.freshState(), Told())
        state.audit.onEvent { event in told.events.withLock { $0.append(event) } }
        return (state, told)
    }

    /// A request sends the credential, and the server judges it.
    private func judge(
        _ state: ChallengeState, _ verdict: Account.Verdict, at target: String, of client: ClientIdentity? = client,
        second: Int = 0, server: String = space.origin.serverName
    ) {
        let evidence = state.spaces.accounts.evidence(of: Self.alice, at: server)
        let now = Self.start + .seconds(second)
        guard
            case .send(let attempt) = evidence.admit(
                target.utf8.span, under: Evidence.RetryTerms(retry: [30_000]), now: now)
        else { return }
        attempt.settle(verdict, because: "was refused by host:80", by: client, now: now)
    }

    private static let start: WallTime = 1_767_225_600_000

    @Test func `a value that is refused is told of when it is put on hold, with what ends that`() {
        let (state, told) = state()
        state.onRemedy { CredentialRemedy(of: $0.name, user: "alice", for: Self.space) }
        for number in 1...50 { judge(state, .refused, at: "/\(number)") }
        #expect(told.names == [.credentialRefused, .credentialParked])
        let event = told.events.withLock { $0.last }
        #expect(event?.actor == .client(address: "10.0.0.7", user: "ann") && event?.credential == "alice@host:80")
        #expect(event?.space?.origin == Self.space.origin)
        #expect(event?.since == Self.start && event?.nextTry == Self.start + .minutes(30))
        #expect(
            event?.details
                == "was refused by host:80 and is on hold for 30 minutes: run 'attache credential set http://host:80 alice "
                + "--realm r', or run 'attache credential retry alice@host:80'")
        judge(state, .accepted, at: "/", second: 30 * 60)
        #expect(told.names.suffix(1) == [.credentialLifted])
    }

    @Test func `an event about a KDC names it`() {
        let (state, told) = state()
        judge(state, .accepted, at: "", server: "krb5:EXAMPLE.COM")
        for _ in 1...2 { judge(state, .refused, at: "", of: nil, server: "krb5:EXAMPLE.COM") }
        judge(state, .accepted, at: "", second: 30, server: "krb5:EXAMPLE.COM")
        #expect(told.names == [.credentialRefused, .credentialParked, .credentialLifted])
        for event in told.events.withLock(\.self) {
            #expect(event.server == "krb5:EXAMPLE.COM" && event.space == nil, "\(event)")
        }
    }

    @Test func `a value that is sent again by an operator is told of once`() {
        let (state, told) = state()
        for target in ["/", "/a"] { judge(state, .refused, at: target) }
        #expect(state.retry(for: .dashboard, at: Self.start) { _, _ in true } == ["alice@host:80"])
        #expect(told.names == [.credentialRefused, .credentialParked, .credentialLifted])
        #expect(told.events.withLock { $0.last?.actor } == .dashboard)
        #expect(state.retry(for: .dashboard, at: Self.start) { _, _ in true } == [])
    }

    @Test func `a change by a request of the proxy's own is the proxy's`() {
        let (state, told) = state()
        judge(state, .refused, at: "/", of: nil)
        #expect(told.events.withLock { $0.map(\.actor) } == [.proxy])
    }

    @Test func `a hold that an answer ends which was sent unasked is lifted by its client`() {
        let (state, told) = state()
        judge(state, .accepted, at: "/")
        judge(state, .refused, at: "/1")
        judge(state, .refused, at: "/2", of: nil)
        #expect(told.names == [.credentialRefused, .credentialParked])
        let evidence = state.spaces.accounts.evidence(of: Self.alice, at: Self.space.origin.serverName)
        evidence.judge(evidence.send(), .accepted, at: "/".utf8.span, by: Self.client, now: Self.start)
        #expect(told.names.last == .credentialLifted)
        #expect(told.events.withLock { $0.last?.actor } == .client(address: "10.0.0.7", user: "ann"))
    }

    @Test func `a doubt is told of once, and not its end`() {
        let (state, told) = state()
        judge(state, .accepted, at: "/")
        judge(state, .refused, at: "/1")
        judge(state, .accepted, at: "/")
        #expect(told.names == [.credentialRefused])
        #expect(
            told.events.withLock { $0.first?.details }
                == "was refused by host:80 and is doubted: nothing to do: the next "
                + "request finds out; or run 'attache credential retry alice@host:80' to forget the refusal")
    }

    @Test func `what a client has shown is told when it is learned, and not when it is learned again`() async {
        let (state, told) = state()
        let kept = Self.alice.with(.permanent)
        for _ in 1...3 { await state.keep(kept, for: Self.space, of: Self.client) }
        #expect(told.names == [.credentialLearned])
        let event = told.events.withLock { $0.first }
        #expect(event?.persistence == .permanent && event?.isDefault == true)
        #expect(event?.credential == "alice@host:80")
    }
}
