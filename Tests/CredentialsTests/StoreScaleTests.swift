import Authentication
import Crypto
import Database
import Foundation
import Model
import Testing

@testable import Credentials

/// A store with many credentials. `ATTACHE_STORE_SCALE` says how many. What it costs is printed, and decides nothing.
@Suite(.enabled(if: ProcessInfo.processInfo.environment["ATTACHE_STORE_SCALE"] != nil)) struct StoreScaleTests {
    private let count = Int(ProcessInfo.processInfo.environment["ATTACHE_STORE_SCALE"] ?? "") ?? 0

    private func space(_ number: Int) -> ProtectionSpace {
        ProtectionSpace(
            origin: Origin(host: "service-\(number).example.com", port: 443, protocol: .https),
            realm: "realm \(number % 50)", authenticationMethod: .basic)
    }

    private func edits() -> [StoredCredentials.Edit] {
        (0..<count).map { number in
            let user = "user-\(number)"
            return .set(
                Credential(name: user, user: user, password: Secret("password \(number)"), persistence: .permanent),
                for: space(number), asDefault: true)
        }
    }

    @Test func `a file that is opened again has each credential`() throws {
        let path = try StoreFile.temporary()
        try StoreFile.open(path).apply(edits())
        try measure("sqlite") { try StoreFile.open(path) }
    }

    @Test func `a server's tables that are opened again have each credential`() throws {
        let info = try PostgreSQLServer.shared.newDatabase()
        try PostgreSQLServer.shared.open(info).apply(edits())
        try measure("postgresql") { try PostgreSQLServer.shared.open(info) }
    }

    private func measure(_ name: String, _ open: () throws -> CredentialStore) throws {
        let before = resident
        let clock = ContinuousClock()
        var store: CredentialStore?
        let opening = try clock.measure { store = try open() }
        let grown = resident - before
        let known = space(count / 2)
        _ = store?.storage.defaultCredential(for: known)
        let finding = clock.measure {
            for _ in 0..<100_000 { _ = store?.storage.defaultCredential(for: known) }
        }
        var wrong: [Int] = []
        let all = clock.measure {
            for number in 0..<count {
                let found = store?.storage.defaultCredential(for: space(number))
                let isRight = found?.user == "user-\(number)" && found?.password == Secret("password \(number)")
                if !isRight { wrong.append(number) }
            }
        }
        print("\(name): open \(opening), \(grown) KiB; found again \(finding / 100_000); each once \(all / count)")
        #expect(wrong == [])
        #expect(store?.storage.defaultCredential(for: space(count)) == nil)
        #expect(store?.entries.count == count)
    }

    /// KiB of memory that the process has.
    private var resident: Int {
        let lines = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8))?.split(separator: "\n") ?? []
        let line = lines.first { $0.hasPrefix("VmRSS:") }
        return line?.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
    }
}
