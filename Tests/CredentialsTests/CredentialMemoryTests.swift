import Authentication
import Bytes
import Crypto
import Model
import TestSupport
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
        #expect(await changes.next() == StoredCredentials.Change(.madeDefault, space: space, user: "ann"))
        try store.put(credential("bob"), for: space, asDefault: false)
        #expect(await changes.next() == StoredCredentials.Change(.set, space: space, user: "bob"))
    }

    @Test func `what servers have said before is written with the next event, unless the store knows it`() async throws
    {
        let path = try StoreFile.temporary()
        let earlier = SendingProcess(store: try StoreFile.open(path))
        let (known, fresh) = (SendingProcess.credential(name: "known"), SendingProcess.credential(name: "fresh"))
        try await earlier.isAccepted(known, now: 1000)
        let memory = CredentialMemory()
        // Without a store all is decided at once.
        for credential in [known, fresh] {
            let evidence = memory.spaces.accounts.evidence(of: credential, at: SendingProcess.server)
            let admission = evidence.admit("/".utf8Span.span, under: SendingProcess.terms, now: 1000)
            let asked = AskedRequest(admission)
            #expect(asked.isDecided)
            try #require(asked.attempt).settle(.refused, now: 1000)
        }
        let store = try open(path, for: memory)
        #expect(memory.spaces === store.spaces)
        let process = SendingProcess(store: store)
        #expect(process.account(of: known.version)?.isProven == true)
        #expect(process.account(of: fresh.version)?.unprovenRefusals == 1)
        let asked = process.ask(fresh, for: "/2", now: 2000)
        #expect(await Wait.asTask { asked.attempt != nil })
        try #require(asked.attempt).settle(.refused, now: 2000)
        #expect(try await Wait.asTask { try earlier.row(of: fresh.version)?.unprovenRefusals == 2 })
    }
}
