import Bytes
import Credentials
import Crypto
import Foundation
import Model
import TLS
import Testing

@Suite final class CAStoreTests {
    private let now = WallTime(seconds: 1_800_000_000)
    private let folder = FileManager.default.temporaryDirectory.appending(path: "attache-state-\(UUID().uuidString)")
    private var state: String { folder.appending(path: "deep/attache").path }

    deinit { try? FileManager.default.removeItem(at: folder) }

    private func store(_ names: [NameConstraint] = []) -> CAStore {
        CAStore(.state(directory: state), names: names, environment: [:])
    }

    private func mode(_ path: String) throws -> Int {
        try #require(try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int)
    }

    private func text(_ name: String) throws -> String {
        try String(contentsOfFile: "\(state)/\(name)", encoding: .utf8)
    }

    private func write(_ text: String, _ name: String) throws {
        // Like a shell: the permissions stay.
        let file = try #require(FileHandle(forWritingAtPath: "\(state)/\(name)"))
        try file.truncate(atOffset: 0)
        try file.write(contentsOf: Data(text.utf8))
        try file.close()
    }

    @Test func `the first start makes an authority that the second one finds`() throws {
        let first = store()
        try first.open(host: "test", at: now)
        let authority = try #require(first.leaves?.authority)
        #expect(authority.identity.leaf.notAfter == now + CertificateAuthority.lifetime)
        #expect(try mode(state) == 0o700)
        #expect(try mode("\(folder.path)/deep") == 0o700)
        #expect(try mode("\(state)/ca.key") == 0o600)
        #expect(try mode("\(state)/ca.pem") == 0o644)
        #expect(try FileManager.default.contentsOfDirectory(atPath: state).sorted() == ["ca.key", "ca.pem"])
        let second = store()
        try second.open(host: "other", at: now + .seconds(1))
        #expect(second.leaves?.authority.identity.leaf == authority.identity.leaf)
        #expect(try second.certificate(host: "", at: now) == authority.identity.leaf)
        #expect(second.refresh(at: now + .seconds(2)) == nil)
    }

    @Test func `of many first starts at once one makes the authority`() async throws {
        let certificates = try await withThrowingTaskGroup { group in
            for _ in 0..<8 {
                let store = store()
                group.addTask { [now] in
                    try store.open(host: "test", at: now)
                    return try store.certificate(host: "test", at: now).pem
                }
            }
            return try await group.reduce(into: Set()) { $0.insert($1) }
        }
        #expect(certificates.count == 1)
    }

    @Test func `a key that others can read is refused, with what to run`() throws {
        try store().open(host: "test", at: now)
        for mode in [0o640, 0o604, 0o620] {
            try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: "\(state)/ca.key")
            let error = try #require(throws: CAStore.Problem.self) {
                try self.store().open(host: "test", at: self.now)
            }
            #expect("\(error)" == "the CA: other users can read its key; run: chmod 600 \(state)/ca.key")
        }
    }

    @Test(arguments: [("ca.key", "ca.pem"), ("ca.pem", "ca.key")])
    func `one file without the other is never written over`(gone: String, left: String) throws {
        try store().open(host: "test", at: now)
        let before = try text(left)
        try FileManager.default.removeItem(atPath: "\(state)/\(gone)")
        let error = try #require(throws: CAStore.Problem.self) { try store().open(host: "test", at: now) }
        #expect(
            "\(error)" == "the CA: there is no file \(state)/\(gone): restore it, or make a new CA "
                + "with 'attache authority renew'")
        #expect(try text(left) == before)
    }

    @Test func `a renewed authority is taken over, and the old certificate kept`() throws {
        let running = store()
        try running.open(host: "test", at: now)
        let old = try #require(running.leaves)
        #expect(running.refresh(at: now) == nil)
        #expect(running.leaves === old)
        try store().renew(host: "test", at: now + .seconds(60))
        #expect(running.refresh(at: now + .seconds(60)) == nil)
        let new = try #require(running.leaves)
        #expect(new.authority.identity.leaf != old.authority.identity.leaf)
        #expect(try text("ca.old.pem") == old.authority.identity.leaf.pem)
        #expect(try mode("\(state)/ca.key") == 0o600)
    }

    @Test func `files that cannot be used leave the authority that is there`() throws {
        let running = store()
        try running.open(host: "test", at: now)
        let leaves = try #require(running.leaves)
        let (certificate, key) = try (text("ca.pem"), text("ca.key"))
        try write("", "ca.key")
        #expect(running.refresh(at: now)?.description == "the CA: \(state)/ca.key is empty")
        try write("-----BEGIN PRIVATE KEY-----\nnone\n-----END PRIVATE KEY-----\n", "ca.key")
        for _ in 0..<2 {
            #expect(running.refresh(at: now) == .unusable(.state(directory: state), .identity(.unreadableKey)))
        }
        #expect(running.leaves === leaves)
        try write(key, "ca.key")
        try write("not a certificate\n", "ca.pem")
        #expect(running.refresh(at: now) == .unusable(.state(directory: state), .identity(.noCertificate)))
        try write(certificate, "ca.pem")
        #expect(running.refresh(at: now) == nil)
    }

    @Test func `an authority that is made for other names, or about to expire, is used and spoken of`() throws {
        try store().open(host: "test", at: now)
        let other = store([.domain("corp.example", withItself: true)])
        try other.open(host: "test", at: now)
        #expect(other.refresh(at: now) == .otherNames(certificate: "\(state)/ca.pem"))
        #expect(other.leaves != nil)
        let late = store()
        try late.open(host: "test", at: now + CertificateAuthority.lifetime - .days(29))
        let warning = try #require(late.refresh(at: now + CertificateAuthority.lifetime - .days(29)))
        #expect("\(warning)".contains("expires on 2032-01-"))
        #expect(late.refresh(at: now + CertificateAuthority.lifetime) == .unusable(late.place, .expired))
    }

    @Test func `an operator's authority may have an encrypted key and is never made`() throws {
        try store().open(host: "test", at: now)
        let place = CAStore.Location.files(
            certificate: "\(state)/ca.pem", key: "\(state)/ca.key", passphrase: .environment("NOWHERE"))
        let error = #expect(throws: CAStore.Problem.self) {
            try CAStore(place, environment: [:]).open(host: "test", at: now)
        }
        #expect(
            error?.description
                == "credential (the authority's passphrase): environment variable NOWHERE is not set")
        let absent = CAStore.Location.files(certificate: "\(state)/a.pem", key: "\(state)/a.key", passphrase: nil)
        #expect(throws: CAStore.Problem.missing(path: "\(state)/a.pem", absent)) {
            try CAStore(absent, environment: [:]).open(host: "test", at: now)
        }
    }

    @Test func `a directory that cannot be made is told`() throws {
        let store = CAStore(.state(directory: "/proc/attache"), environment: [:])
        let error = #expect(throws: CAStore.Problem.self) { try store.open(host: "test", at: now) }
        #expect(
            error?.description
                == "cannot write the CA: cannot make the directory /proc/attache: no such file or directory")
    }
}
