import Authentication
import Crypto
import Model
import Testing

@testable import Credentials

/// A store that is opened for a process which serves already.
@Suite struct CredentialMemoryTests {
    private let space = ProtectionSpace(
        origin: Origin(host: "host", port: 80, protocol: .http), realm: "r", authenticationMethod: .basic)

    private func open(_ path: String, for memory: CredentialMemory) throws -> CredentialStore {
        try CredentialStore(
            sqlite: path, key: StoreFile.key(1), memory: memory, fingerprintKey: { _ in },
            report: { Issue.record("\($0)") })
    }

    private func credential(_ user: String) -> Credential {
        Credential(name: "any", user: user, password: Secret("p"), persistence: .permanent)
    }

    @Test func `all that is in the store is there when it is opened, and those who listen hear of it`() async throws {
        let path = try StoreFile.temporary()
        try StoreFile.open(path).put(credential("ann"), for: space, asDefault: true)
        let memory = CredentialMemory()
        var changes = memory.storage.changes().makeAsyncIterator()
        #expect(memory.storage.defaultCredential(for: space) == nil && !memory.storage.serves(space.origin))
        let generation = memory.storage.originGeneration
        let store = try open(path, for: memory)
        #expect(memory.storage.defaultCredential(for: space)?.user == "ann" && memory.storage.serves(space.origin))
        #expect(memory.storage.originGeneration != generation)
        #expect(await changes.next() == CredentialChange(.madeDefault, space: space, user: "ann"))
        try store.put(credential("bob"), for: space, asDefault: false)
        #expect(await changes.next() == CredentialChange(.set, space: space, user: "bob"))
    }

    @Test func `what is refused from then on is kept, and what others had refused is known`() throws {
        let path = try StoreFile.temporary()
        let earlier = try StoreFile.open(path)
        let (refused, later) = (
            CredentialVersion(name: "a", fingerprint: 1), CredentialVersion(name: "b", fingerprint: 2)
        )
        earlier.spaces.parked.park(refused, for: space)
        #expect(earlier.settles())
        let memory = CredentialMemory()
        let spaces = memory.spaces
        let store = try open(path, for: memory)
        #expect(spaces === store.spaces && spaces.parked.contains(refused, for: space))
        spaces.parked.park(later, for: space)
        #expect(store.settles())
        #expect(try StoreFile.open(path).spaces.parked.contains(later, for: space))
    }
}
