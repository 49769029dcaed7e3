import Authentication
import Bytes
import Crypto
import Foundation
import IO
import Model
import Synchronization
import Telemetry
import TestSupport
import Testing

@testable import Credentials

/// The receivers of changes of credentials and answers.
@Suite(.serialized) struct AuditTests {
    private static let space = ProtectionSpace(
        origin: Origin(host: "host", port: 80, protocol: .http), realm: "r", authenticationMethod: .basic)

    /// One process with a store open.
    private struct Process {
        let audit: AuditTrail
        let store: CredentialStore
        private let told = Told()

        private final class Told: Sendable {
            let events = Mutex<[AuditEvent]>([])
        }

        /// - Parameter info: libpq's, or a file's path.
        init(_ info: String, at host: String, by actor: AuditEvent.Actor? = nil) throws {
            let told = told
            audit = AuditTrail(at: host, by: actor)
            audit.onEvent { event in told.events.withLock { $0.append(event) } }
            let memory = CredentialMemory(audit: audit)
            let report = { @Sendable (sentence: String) in _ = Issue.record("\(sentence)") }
            store =
                info.hasPrefix("/")
                ? try CredentialStore(
                    sqlite: info, key: StoreFile.key(1), memory: memory, fingerprintKey: { _ in }, report: report)
                : try CredentialStore(
                    postgresql: info, key: StoreFile.key(1), memory: memory, fingerprintKey: { _ in }, report: report)
            try store.follow(within: 0)
        }

        var events: [AuditEvent] { told.events.withLock { $0 } }

        /// Follows the store until it has reported `count` events.
        func follows(until count: Int) throws -> [AuditEvent] {
            for _ in 0..<100 where events.count < count { try store.follow(within: 100) }
            return events
        }
    }

    enum Place: CaseIterable {
        case sqlite, postgresql

        func make() throws -> String {
            switch self {
            case .sqlite: try StoreFile.temporary()
            case .postgresql: try PostgreSQLServer.shared.newDatabase()
            }
        }
    }

    private func credential(_ user: String, _ password: String) -> Credential {
        Credential(name: "\(user)@host:80", user: user, password: Secret(password), persistence: .permanent)
    }

    @Test(arguments: Place.allCases)
    func `a command's changes are told by those who follow the store, with its user`(_ place: Place) throws {
        let info = try place.make()
        let proxy = try Process(info, at: "pod-1")
        let command = try Process(info, at: "desk", by: .command(user: 1000))
        try command.store.put(credential("alice", "p"), for: Self.space, asDefault: true)
        try command.store.put(credential("bob", "p"), for: Self.space, asDefault: false)
        try command.store.apply([.makeDefault(user: "bob", for: Self.space)])
        try command.store.apply([.makeDefault(user: "nobody", for: Self.space)])
        try command.store.remove(user: "alice", for: Self.space)
        try command.store.remove(user: "alice", for: Self.space)
        let events = try proxy.follows(until: 4)
        #expect(events.map(\.name) == [.credentialSet, .credentialSet, .credentialDefault, .credentialRemoved])
        #expect(events.map(\.credential) == ["alice", "bob", "bob", "alice"].map { "\($0)@host:80" })
        #expect(events.map(\.isDefault) == [true, false, true, false])
        for event in events {
            #expect(event.actor == .command(user: 1000) && event.elsewhere?.replica == "desk")
            #expect(event.space == Self.space)
        }
        #expect(command.events.isEmpty)
    }

    @Test(arguments: Place.allCases)
    func `what happens at one replica is told once at each, and said to be from there`(_ place: Place) throws {
        let info = try place.make()
        let (first, second) = (try Process(info, at: "pod-1"), try Process(info, at: "pod-2"))
        var event = AuditEvent(
            .credentialParked, by: .client(address: "10.0.0.7", user: "ann"), Self.space, credential: "alice@host:80")
        event.nextTry = 30_000
        first.audit.note(event)
        var lift = AuditEvent(.credentialLifted, by: .proxy, credential: "svc")
        lift.server = "krb5:EXAMPLE.COM"
        first.audit.note(lift)
        first.audit.note(AuditEvent(.rulesReloaded, by: .signal(user: 0)))
        #expect(first.store.settles())
        let all = try second.follows(until: 2)
        let heard = try #require(all.first)
        #expect(heard.elsewhere?.replica == "pod-1")
        var same = heard
        same.elsewhere = nil
        #expect(same == event)
        #expect(all.last?.server == "krb5:EXAMPLE.COM" && all.last?.space == nil)
        try first.store.follow(within: 300)
        #expect(first.events.count == 3)
        #expect(second.events.count == 2)
        let late = try Process(info, at: "pod-3")
        #expect(late.events.isEmpty, "what was before is nobody's news")
    }

    @Test func `another key of the store, and a written exception, are told`() throws {
        let path = try StoreFile.temporary()
        let proxy = try Process(path, at: "pod-1")
        let command = try Process(path, at: "desk", by: .command(user: 0))
        let space = ProtectionSpace(
            origin: Origin(host: "host", port: 443, protocol: .https), realm: nil, authenticationMethod: .serverTrust)
        let pin = try #require(KeyPin("sha256/" + Data(repeating: 7, count: 32).base64EncodedString()))
        let day = try #require(Day("2027-01-31"))
        let exception = Credential(
            name: space.credentialName(of: "\(pin)"), trust: TrustException(pin: pin, until: day),
            persistence: .permanent)
        try command.store.put(exception, for: space, asDefault: false)
        try command.store.remove(user: "\(pin)", for: space)
        try CredentialStore.rewrap(
            .sqlite, path, from: StoreFile.key(1), to: StoreFile.key(2),
            audit: AuditTrail(at: "desk", by: .command(user: 0)))
        let events = try proxy.follows(until: 3)
        #expect(events.map(\.name) == [.trustSet, .trustRemoved, .storeRekeyed])
        #expect(events.first?.details == "until 2027-01-31")
        #expect(events.allSatisfy { $0.actor == .command(user: 0) })
    }

    @Test func `a command that lifts a refusal is named`() async throws {
        let path = try StoreFile.temporary()
        let proxy = try Process(path, at: "pod-1")
        let sending = SendingProcess(store: proxy.store)
        let asked = sending.ask(now: 1000)
        #expect(await Wait.asTask { asked.attempt != nil })
        try #require(asked.attempt).settle(.refused, now: 1000)
        #expect(try await Wait.asTask { try sending.row()?.unprovenRefusals == 1 })
        let command = try Process(path, at: "desk", by: .command(user: 7))
        #expect(try command.store.reset { _, _ in true }.count == 1)
        let event = try #require(try proxy.follows(until: 1).first)
        #expect(event.name == .credentialLifted && event.credential == "ci")
        #expect(event.actor == .command(user: 7))
    }

    @Test func `an event's line has no more than names`() throws {
        var event = AuditEvent(
            .credentialParked, by: .client(address: "10.0.0.7", user: "ann"), Self.space, credential: "alice@host:80")
        event.elsewhere = AuditEvent.Elsewhere(replica: "pod-1", time: 1)
        let buffer = ByteBuffer(capacity: 64)
        event.append(to: buffer, at: 2, as: .json)
        #expect(
            buffer.readable.text
                == #"{"time":"1970-01-01T00:00:00.002Z","level":"warning","event":"credential.parked","#
                + #""by":"client","client":"10.0.0.7","user":"ann","replica":"pod-1","#
                + #""happened":"1970-01-01T00:00:00.001Z","host":"host","port":80,"protocol":"http","realm":"r","#
                + #""method":"basic","credential":"alice@host:80"}"# + "\n")
    }

    @Test func `an event about a KDC has it as its host`() {
        var event = AuditEvent(.credentialRefused, by: .proxy, credential: "svc")
        event.server = "krb5:EXAMPLE.COM"
        let buffer = ByteBuffer(capacity: 64)
        event.append(to: buffer, at: 2, as: .json)
        #expect(
            buffer.readable.text
                == #"{"time":"1970-01-01T00:00:00.002Z","level":"warning","event":"credential.refused","#
                + #""by":"proxy","host":"krb5:EXAMPLE.COM","credential":"svc"}"# + "\n")
    }

    @Test func `an origin with another realm each time fills no log`() {
        var budget = AuditTrail.Budget()
        func event(_ number: Int, at host: String) -> AuditEvent {
            AuditEvent(
                .credentialParked, by: .proxy,
                ProtectionSpace(
                    origin: Origin(host: host, port: 80, protocol: .http), realm: "\(number)",
                    authenticationMethod: .basic))
        }
        let told = (1...1000).count { budget.admit(event($0, at: "bad"), at: .zero + Milliseconds($0)).isAdmitted }
        #expect(told == 64)
        let other = budget.admit(event(1, at: "good"), at: .zero + 1000)
        #expect(other.isAdmitted && other.omitted == 936)
        #expect(budget.admit(event(2, at: "bad"), at: .zero + 60_001) == (true, 0))
        #expect(budget.admit(AuditEvent(.rulesReloaded, by: .proxy), at: .zero + 60_001).isAdmitted)
        for number in 1...5000 { _ = budget.admit(event(number, at: "h\(number)"), at: .zero + 60_001) }
    }
}
