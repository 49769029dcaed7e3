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

/// The changes that requests bring about are told once each, and by whom.
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

    private func refuse(_ state: ChallengeState, at target: String? = nil, retry: [Int] = []) {
        let buffer = target.map { text in
            let buffer = ByteBuffer(capacity: 16)
            buffer.append(text)
            return buffer
        }
        state.refuse(
            DefiniteRefusal(of: Self.alice, in: Self.space, at: buffer, retry: retry), of: Self.client,
            countedBy: Metrics(), at: 1000)
    }

    @Test func `a refusal that is repeated is told once`() {
        let (state, told) = state()
        for _ in 1...50 { refuse(state) }
        #expect(told.names == [.credentialParked])
        let event = told.events.withLock { $0.first }
        #expect(event?.actor == .client(address: "10.0.0.7", user: "ann"))
        #expect(event?.credential == "alice@host:80" && event?.space == Self.space && event?.nextTry == nil)
    }

    @Test func `a refusal at a new target is told when it is the first, and when it raises doubt`() {
        let (state, told) = state()
        state.spaces.noteAccepted(Self.alice.version, for: Self.space)
        for number in 1...50 { refuse(state, at: "/\(number)", retry: [30_000]) }
        #expect(told.names == [.credentialRefused, .credentialRefused])
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
