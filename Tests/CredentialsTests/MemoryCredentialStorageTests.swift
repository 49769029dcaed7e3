import Authentication
import Credentials
import Crypto
import Testing

@Suite struct MemoryCredentialStorageTests {
    let storage = MemoryCredentialStorage()
    let space = ProtectionSpace(
        origin: Origin(host: "Host", port: 80, protocol: .http), realm: "r", authenticationMethod: .basic)

    func credential(_ user: String, _ password: String = "p") -> Credential {
        Credential(name: "stored \(user)", user: user, password: Secret(password), persistence: .permanent)
    }

    @Test func `credentials are kept by space and user, one of them the default`() async throws {
        try await storage.set(credential("a"), for: space)
        #expect(try await storage.defaultCredential(for: space) == nil)
        try await storage.setDefault(credential("b"), for: space)
        #expect(try await storage.credentials(for: space).keys.sorted() == ["a", "b"])
        #expect(try await storage.defaultCredential(for: space)?.user == "b")
        #expect(try await storage.allCredentials().keys.map(\.host) == ["host"])
        let other = ProtectionSpace(origin: space.origin, realm: "other", authenticationMethod: .basic)
        #expect(try await storage.credentials(for: other).isEmpty)
    }

    @Test func `setting replaces, removing takes the default away with the credential`() async throws {
        try await storage.setDefault(credential("a"), for: space)
        let first = try await storage.defaultCredential(for: space)?.version
        try await storage.set(credential("a", "changed"), for: space)
        let second = try await storage.defaultCredential(for: space)?.version
        #expect(second != nil && second != first)
        try await storage.remove(user: "a", for: space)
        #expect(try await storage.defaultCredential(for: space) == nil)
        #expect(try await storage.allCredentials().isEmpty)
        try await storage.remove(user: "a", for: space)
    }

    @Test func `every listener hears every change, in order`() async throws {
        var first = storage.changes().makeAsyncIterator()
        var second = storage.changes().makeAsyncIterator()
        try await storage.set(credential("a"), for: space)
        try await storage.setDefault(credential("a"), for: space)
        try await storage.remove(user: "nobody", for: space)
        try await storage.remove(user: "a", for: space)
        for kind in [CredentialChange.Kind.set, .madeDefault, .removed] {
            let expected = CredentialChange(kind, space: space, user: "a")
            #expect(await first.next() == expected)
            #expect(await second.next() == expected)
        }
    }
}
