import Authentication
import Crypto
import Database
import Foundation
import Model
import Synchronization
import Testing

@testable import Credentials

/// The places of a store and its key, and the behaviour when they are missing.
@Suite struct StorePlaceTests {
    private func open(
        _ place: CredentialStore.Place, _ environment: [String: String] = [:]
    ) throws(CredentialStore.Failure) -> CredentialStore {
        try place.open(environment: environment, fingerprintKey: { _ in }, report: { _ in })
    }

    @Test func `a key is made beside the file once, for its owner alone, and spoken of`() throws {
        let path = try StoreFile.temporary()
        let key = path.replacing("credentials.db", with: "credentials.key")
        let said = Mutex<[String]>([])
        let place = CredentialStore.Place(file: path, key: nil)
        for _ in 1...2 {
            _ = try place.open(
                environment: [:], fingerprintKey: { _ in }, report: { text in said.withLock { $0.append(text) } })
        }
        let mode = try FileManager.default.attributesOfItem(atPath: key)[.posixPermissions] as? Int
        #expect(mode == 0o600)
        #expect(said.withLock(\.count) == 1)
        #expect(said.withLock { $0.first?.contains(key) } == true)
    }

    @Test func `a store whose key is gone gets no new one`() throws {
        let path = try StoreFile.temporary()
        let key = path.replacing("credentials.db", with: "credentials.key")
        let place = CredentialStore.Place(file: path, key: nil)
        _ = try open(place)
        try FileManager.default.removeItem(atPath: key)
        #expect(throws: CredentialStore.Failure.missingKey(path: key)) { try open(place) }
        #expect(!FileManager.default.fileExists(atPath: key))
    }

    @Test(arguments: [0o644, 0o640])
    func `a key that others may read is refused`(mode: Int) throws {
        let path = try StoreFile.temporary()
        let key = path.replacing("credentials.db", with: "credentials.key")
        let place = CredentialStore.Place(file: path, key: nil)
        _ = try open(place)
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: key)
        #expect(throws: CredentialStore.Failure.exposedKey(path: key)) { try open(place) }
        // One that an operator has mounted may belong to a group.
        let named = CredentialStore.Place(file: path, key: .file(key))
        if mode == 0o640 {
            _ = try open(named)
        } else {
            #expect(throws: CredentialStore.Failure.exposedKey(path: key)) { try open(named) }
        }
    }

    @Test func `a key is 64 hexadecimal digits or 44 characters of base64`() throws {
        let path = try StoreFile.temporary()
        let place = CredentialStore.Place(file: path, key: .environment("KEY"))
        let hex = String(repeating: "5a", count: 32)
        let base64 = Data(repeating: 0x5A, count: 32).base64EncodedString()
        for text in [hex, base64] { _ = try open(place, ["KEY": text]) }
        for text in ["", "x", hex + "0", String(base64.dropLast()), String(repeating: "z", count: 64)] {
            #expect { try open(place, ["KEY": text]) } throws: { "\($0)".contains("openssl rand -base64 32") }
        }
    }

    @Test func `a follower says once that the store is away, and once that it is back`() {
        let isAway = Mutex(false)
        let said = Mutex<[String]>([])
        let follower = CredentialStore.Follower(
            report: { text in said.withLock { $0.append(text) } },
            follow: { () throws(CredentialStore.Failure) in
                if isAway.withLock({ $0 }) { throw .database(.unavailable("no route to host")) }
            })
        for away in [false, true, true, false, false, true] {
            isAway.withLock { $0 = away }
            #expect(follower.step() == !away)
            #expect((follower.problem != nil) == away)
        }
        #expect(said.withLock(\.count) == 3)
        #expect(said.withLock { $0[0] }.contains("no route to host"))
        #expect(said.withLock { $0[1] } == "the credential store can be reached again")
    }
}
