import Foundation
import TestSupport
import Testing

/// The knowledge of a proxy that its successor has too.
struct StoreMemoryTests {
    private func store() -> String { "store sqlite \(Scratch.folder("store"))/credentials.db" }

    private func secret(in store: String) throws -> Data {
        let path = String(store.dropFirst("store sqlite ".count))
        return Data(Scratch.bytes(path) + Scratch.bytes(path + "-wal"))
    }

    /// Waits until what is written behind is in the file.
    private func awaitRow(_ table: String, in store: String) {
        let path = String(store.dropFirst("store sqlite ".count))
        let isThere = Wait.until {
            let run = try? Finished.run("sqlite3", [path, "SELECT count(*) FROM \(table)"], seconds: 10)
            return (run?.output.trimmingCharacters(in: .whitespacesAndNewlines)).map { $0 != "0" && !$0.isEmpty }
                == true
        }
        #expect(isThere, "\(table) is empty")
    }

    @Test func `a Basic space is answered unasked from the first request of the next process on`() throws {
        let sentry = BasicGuard()
        let origin = try RecordingOrigin.guarded(by: sentry)
        let store = store()
        for _ in 1...2 {
            try AttacheProcess.answering(origin.port, rules: store) { proxy throws in
                #expect(try proxy.get(origin.url("/a/b?query=1")).status == 200)
                awaitRow("attache_spaces", in: store)
            }
        }
        #expect(sentry.unanswered == 1)
        #expect(sentry.accepted == 2)
        #expect(try secret(in: store).range(of: Data("query=1".utf8)) == nil)
        // Another password is another credential.
        let changed = AttacheProcess.Setting(files: ["password": Account.wrongPassword + "\n"])
        try AttacheProcess.answering(origin.port, rules: store, setting: changed) { proxy throws in
            #expect(try proxy.get(origin.url("/a/c")).status == 401)
        }
        #expect(sentry.unanswered == 2)
        #expect(sentry.refused == 1)
    }

    @Test func `a Digest space is asked once by the next process, whoever comes`() throws {
        let sentry = DigestGuard(.init(usesPerNonce: 20))
        let origin = try RecordingOrigin.guarded(by: sentry)
        let store = store()
        for run in 1...2 {
            try AttacheProcess.answering(origin.port, rules: store) { proxy throws in
                let statuses = try Parallel.fetch(20, origin.url("/a"), through: proxy)
                #expect(statuses.allSatisfy { $0 == 200 }, "\(statuses)")
                awaitRow("attache_spaces", in: store)
            }
            #expect(sentry.unauthenticated == run)
        }
    }

    @Test func `a token is used by the next process, and nobody can read it`() throws {
        let server = try TokenServer(TokenServer.Terms())
        let store = store()
        let rule = """
            \(store)
            credential crm { oauth2 \(server.url); client-id crm; client-secret file @/secret }
            challenge { host 127.0.0.1; port \(server.api.port); use crm }
            """
        for _ in 1...2 {
            try AttacheProcess.running(rule, setting: .init(files: ["secret": "s3cret\n"])) { proxy throws in
                #expect(try proxy.get(server.api.url()).text == "ok")
                awaitRow("attache_tokens", in: store)
                awaitRow("attache_spaces", in: store)
            }
        }
        #expect(server.issued == 1)
        #expect(server.api.messages.filter { $0["Authorization"] == nil }.count == 1)
        #expect(try secret(in: store).range(of: Data(TokenServer.stem.utf8)) == nil)
    }

    @Test func `a parked credential is not sent by the next process either, until somebody sets it again`() throws {
        let sentry = BasicGuard("somebody changed it")
        let origin = try RecordingOrigin.guarded(by: sentry)
        let store = store()
        try AttacheProcess.running(store) { proxy throws in
            try proxy.set(Account.password, for: origin)
            #expect(
                Wait.until {
                    _ = try? proxy.get(origin.url())
                    return sentry.refused == 1
                })
            awaitRow("attache_accounts", in: store)
        }
        try AttacheProcess.running(store) { proxy throws in
            for _ in 1...3 { #expect(try proxy.get(origin.url()).status == 401) }
            #expect(sentry.refused == 1)
            // The account was unlocked, and the password is the same.
            sentry.change(to: Account.password)
            #expect(try proxy.get(origin.url()).status == 401)
            try proxy.set(Account.password, for: origin)
            #expect(try Wait.until { try proxy.get(origin.url()).status == 200 })
            #expect(sentry.refused == 1)
        }
    }
}
