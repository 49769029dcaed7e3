import Authentication
import Bytes
import Crypto
import Model
import Testing

@testable import Credentials

/// The behaviour that all storages share.
@Suite struct CredentialStorageTests {
    let space = ProtectionSpace(
        origin: Origin(host: "Host", port: 80, protocol: .http), realm: "r", authenticationMethod: .basic)

    func credential(_ user: String, _ password: String = "p") -> Credential {
        Credential(name: "stored \(user)", user: user, password: Secret(password), persistence: .permanent)
    }

    @Test(arguments: StorageKind.allCases)
    func `credentials are kept by space and user, one of them the default`(kind: StorageKind) async throws {
        let storage = try kind.make()
        try await storage.set(credential("a"), for: space)
        #expect(storage.defaultCredential(for: space) == nil)
        try await storage.setDefault(credential("b"), for: space)
        #expect(storage.credentials(for: space).keys.sorted() == ["a", "b"])
        #expect(storage.defaultCredential(for: space)?.user == "b")
        #expect(storage.allCredentials().keys.map(\.host) == ["host"])
        let other = ProtectionSpace(origin: space.origin, realm: "other", authenticationMethod: .basic)
        #expect(storage.credentials(for: other).isEmpty)
    }

    @Test(arguments: StorageKind.allCases)
    func `users whose names differ in their bytes alone have credentials of their own`(kind: StorageKind) async throws {
        let storage = try kind.make()
        let (one, other) = ("\u{E9}", "e\u{301}")
        try await storage.setDefault(credential(one, "1"), for: space)
        try await storage.set(credential(other, "2"), for: space)
        #expect(Set([one, other].map { StoredCredentials.Change(.set, space: space, user: $0) }).count == 2)
        let kept = storage.credentials(for: space)
        #expect(kept.count == 2)
        #expect(kept[ExactText(one)]?.password == Secret("1") && kept[ExactText(other)]?.password == Secret("2"))
        try await storage.remove(user: other, for: space)
        #expect(storage.defaultCredential(for: space)?.password == Secret("1"))
    }

    @Test(arguments: StorageKind.allCases)
    func `setting replaces, removing takes the default away with the credential`(kind: StorageKind) async throws {
        let storage = try kind.make()
        try await storage.setDefault(credential("a"), for: space)
        let first = storage.defaultCredential(for: space)?.version
        try await storage.set(credential("a", "changed"), for: space)
        let second = storage.defaultCredential(for: space)?.version
        #expect(second != nil && second != first)
        try await storage.remove(user: "a", for: space)
        #expect(storage.defaultCredential(for: space) == nil)
        #expect(storage.allCredentials().isEmpty)
        try await storage.remove(user: "a", for: space)
    }

    @Test(arguments: StorageKind.allCases)
    func `every listener hears every change, in order`(kind: StorageKind) async throws {
        let storage = try kind.make()
        var first = storage.changes().makeAsyncIterator()
        var second = storage.changes().makeAsyncIterator()
        try await storage.set(credential("a"), for: space)
        try await storage.setDefault(credential("a"), for: space)
        try await storage.remove(user: "nobody", for: space)
        try await storage.remove(user: "a", for: space)
        for kind in [StoredCredentials.Change.Kind.set, .madeDefault, .removed] {
            let expected = StoredCredentials.Change(kind, space: space, user: "a")
            #expect(await first.next() == expected)
            #expect(await second.next() == expected)
        }
    }

    /// Any sequence of operations leaves every storage with the same answers.
    @Test(arguments: 1...8 as ClosedRange<UInt64>)
    func `all storages agree whatever is done to them`(seed: UInt64) async throws {
        var random = SeededGenerator(seed)
        let storages = try StorageKind.allCases.map { try $0.make() }
        let spaces = Self.spaces
        for _ in 0..<200 {
            let space = spaces[Int.random(in: spaces.indices, using: &random)]
            let user = ["", "a", "b", "ü"][Int.random(in: 0..<4, using: &random)]
            let password = "p\(Int.random(in: 0..<5, using: &random))"
            let operation = Int.random(in: 0..<4, using: &random)
            for storage in storages {
                switch operation {
                case 0: try await storage.remove(user: user, for: space)
                case 1: try await storage.setDefault(credential(user, password), for: space)
                default: try await storage.set(credential(user, password), for: space)
                }
            }
        }
        let answers = try await Self.answers(of: storages[0])
        for storage in storages.dropFirst() {
            let others = try await Self.answers(of: storage)
            #expect(others == answers)
        }
    }

    /// Spaces that differ in one thing only.
    private static var spaces: [ProtectionSpace] {
        let origins = [
            Origin(host: "host", port: 80, protocol: .http), Origin(host: "host", port: 443, protocol: .https),
            Origin(host: "host", port: 80, protocol: .http, isProxy: true),
        ]
        return origins.flatMap { origin in
            [nil, "", "realm", "=realm"].map {
                ProtectionSpace(origin: origin, realm: $0, authenticationMethod: .basic)
            }
        }
    }

    /// Every password by space and user, and each space's default.
    private static func answers(of storage: StoredCredentials) async throws -> [String] {
        var answers: [String] = []
        for (space, credentials) in storage.allCredentials() {
            for (user, credential) in credentials {
                let password = credential.password?.withBytes { $0.text } ?? "none"
                answers.append("\(space) \(user) \(password)")
            }
            answers.append("\(space) default \(storage.defaultCredential(for: space)?.user ?? "none")")
        }
        return answers.sorted()
    }
}
