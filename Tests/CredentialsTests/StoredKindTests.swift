import Authentication
import Bytes
import Crypto
import Database
import Foundation
import IO
import Model
import TLS
import TestSupport
import Testing

@testable import Credentials

/// Credentials that are no password: what every storage keeps of them.
@Suite struct StoredKindTests {
    private static let origin = Origin(host: "host", port: 443, protocol: .https)

    private static func space(_ method: AuthenticationMethod, realm: String? = nil) -> ProtectionSpace {
        ProtectionSpace(origin: origin, realm: realm, authenticationMethod: method)
    }

    private static func identity(_ pem: String = TestPEM.server) throws -> Identity {
        try Identity(certificate: .content(Secret(pem)))
    }

    private static let exception = TrustException(
        pin: KeyPin(digest: [UInt8](repeating: 7, count: 32)), until: Day(number: 20_000))

    /// One of each kind, with its space and the name that it is kept under.
    private static func samples() throws -> [(Credential, ProtectionSpace, String)] {
        let pin = "\(exception.pin)"
        return [
            (Credential(name: "any", user: "ann", password: Secret("p")), space(.htmlForm), "ann"),
            (Credential(name: "token@host:443", token: Secret("t.o.k")), space(.bearer, realm: "api"), "token"),
            (Credential(name: "CN=a@host:443", identity: try identity()), space(.clientCertificate), "CN=a"),
            (Credential(name: "\(pin)@host:443", trust: exception), space(.serverTrust), pin),
        ]
    }

    private static func words(_ credential: Credential?) -> String {
        switch credential?.content {
        case .password(let user, let password)?: "\(user) \(password.withBytes { $0.text })"
        case .token(let token)?: token.withBytes { $0.text }
        case .identity(let identity)?: "\(identity.fingerprint)"
        case .trust(let exception)?: "\(exception)"
        default: "nothing"
        }
    }

    @Test(arguments: StorageKind.allCases)
    func `every kind is kept by its name, and given back as it was`(kind: StorageKind) async throws {
        let storage = try kind.make()
        for (credential, space, name) in try Self.samples() {
            try await storage.setDefault(credential, for: space)
            let kept = try #require(storage.credentials(for: space)[ExactText(name)])
            #expect(Self.words(kept) == Self.words(credential))
            #expect(kept.kind == credential.kind && kept.canAnswer(space))
            #expect(kept.persistence == .permanent)
            #expect(kept.version.name == space.credentialName(of: name))
            #expect(storage.version(of: name, for: space) == kept.version)
            #expect(storage.defaultCredential(for: space)?.version == kept.version)
            try await storage.set(credential, for: space)
            #expect(storage.version(of: name, for: space) != kept.version, "set again is another value")
            try await storage.remove(user: name, for: space)
            #expect(storage.credentials(for: space).isEmpty && storage.version(of: name, for: space) == nil)
        }
    }

    @Test(arguments: StorageKind.allCases)
    func `several of a space are told apart by their names`(kind: StorageKind) async throws {
        let storage = try kind.make()
        let space = Self.space(.clientCertificate)
        for (name, pem) in [("a", TestPEM.server), ("b", TestPEM.other)] {
            try await storage.set(
                Credential(name: space.credentialName(of: name), identity: try Self.identity(pem)), for: space)
        }
        let kept = storage.credentials(for: space)
        #expect(kept.keys.sorted() == ["a", "b"])
        #expect(kept["a"]?.identity?.fingerprint == (try Self.identity()).fingerprint)
        #expect(kept["b"]?.identity?.fingerprint == (try Self.identity(TestPEM.other)).fingerprint)
        #expect(kept["a"]?.lastDay == Day("2126-10-28"))
    }

    @Test(arguments: StorageKind.allCases)
    func `a kind that does not answer the space is not kept`(kind: StorageKind) async throws {
        let storage = try kind.make()
        for (credential, own, _) in try Self.samples() {
            for (_, other, _) in try Self.samples() where other != own {
                await #expect(throws: StoredCredentials.Failure.unkept(credential: credential.version.name)) {
                    try await storage.set(credential, for: other)
                }
            }
        }
        let nameless = Credential(name: "elsewhere", token: Secret("t"))
        await #expect(throws: StoredCredentials.Failure.unkept(credential: "elsewhere")) {
            try await storage.set(nameless, for: Self.space(.bearer))
        }
    }

    @Test func `an export holds every kind`() throws {
        let kept = try Self.samples().map { CredentialStore.Entry($0.0, for: $0.1, isDefault: true) }
        let text = try SealedCredentials.write(kept, sealedWith: StoreFile.key(1))
        #expect(!text.contains("PRIVATE") && !text.contains("t.o.k"))
        let read = try SealedCredentials.read(Array(text.utf8).span, openedWith: StoreFile.key(1))
        #expect(read.map { Self.words($0.credential) } == kept.map { Self.words($0.credential) })
        #expect(read.map(\.space) == kept.map(\.space))
    }

    @Test func `a token says its last day, if it is one that says anything`() {
        let day = { (claims: String) in
            let middle = Base64.encode(Array(claims.utf8)).replacing("+", with: "-").replacing("/", with: "_")
                .replacing("=", with: "")
            return Credential(name: "t", token: Secret("e30.\(middle).c2ln")).lastDay
        }
        #expect(day(#"{"sub":"ü?>~","exp":1800000000}"#) == Day("2027-01-15"))
        #expect(day(#"{"exp":1e300}"#) == nil && day(#"{"exp":-1}"#) == nil && day(#"{"exp":"soon"}"#) == nil)
        #expect(Credential(name: "t", token: Secret("opaque")).lastDay == nil)
    }

    // MARK: - The tables

    @Test(arguments: StoreMigrationTests.Kind.allCases)
    func `a store of the second version keeps what it has, and every kind from then on`(
        kind: StoreMigrationTests.Kind
    ) async throws {
        let path = try StoreFile.temporary()
        let info = kind == .postgresql ? try PostgreSQLServer.shared.newDatabase() : ""
        let reopened = { () throws -> any CredentialDatabase in
            switch kind {
            case .sqlite: try SQLiteCredentialDatabase(path: path)
            case .postgresql: try PostgreSQLCredentialDatabase(info)
            }
        }
        let open = { () throws -> CredentialStore in
            try CredentialStore(
                try reopened(), key: StoreFile.key(1), pool: .shared, fingerprintKey: { _ in },
                report: { Issue.record("\($0)") })
        }
        let password = Credential(name: "any", user: "ann", password: Secret("one"))
        try open().put(password, for: Self.space(.basic, realm: "r"), asDefault: true)
        try reopened().write { connection, _ throws(DatabaseError) in
            for table in ["refresh_tokens", "events", "accounts"] { try connection.rows("DROP TABLE attache_\(table)") }
            try connection.rows("ALTER TABLE attache_revision DROP COLUMN accounts")
            try connection.rows("ALTER TABLE attache_tokens DROP COLUMN generation")
            try connection.rows("ALTER TABLE attache_credentials DROP COLUMN kind")
            for column in ["since", "next_try", "retries"] {
                try connection.rows("ALTER TABLE attache_refusals DROP COLUMN \(column)")
            }
            try connection.rows(
                kind == .sqlite ? "PRAGMA user_version = 2" : "UPDATE attache_schema SET version = 2")
        }
        let store = try open()
        for (credential, space, _) in try Self.samples() { try store.put(credential, for: space, asDefault: true) }
        let again = try open()
        let kept = again.storage.defaultCredential(for: Self.space(.basic, realm: "r"))
        #expect(Self.words(kept) == "ann one")
        for (credential, space, name) in try Self.samples() {
            #expect(Self.words(again.credential(of: name, for: space)) == Self.words(credential))
        }
        let kinds = try reopened().read { connection throws(DatabaseError) in
            try connection.rows("SELECT kind FROM attache_credentials ORDER BY kind").compactMap { $0.first?.text }
        }
        #expect(kinds == ["certificate", "password", "password", "token", "trust"])
    }

    @Test func `a row of a kind that another version knows is left out by name`() throws {
        let path = try StoreFile.temporary()
        let token = Credential(name: "token@host:443", token: Secret("t"))
        try StoreFile.open(path).put(token, for: Self.space(.bearer), asDefault: true)
        try SQLiteDatabase(path: path).rows("UPDATE attache_credentials SET kind = 'passkey'")
        let said = Said()
        let store = try CredentialStore(
            sqlite: path, key: try StoreFile.key(1), fingerprintKey: { _ in }, report: { said.add($0) })
        #expect(store.entries.isEmpty && store.holds("token", for: Self.space(.bearer)))
        #expect(said.all.map { $0.contains("token for host, because its kind is 'passkey'") } == [true], "\(said.all)")
    }
}
