import Authentication
import Bytes
import Crypto
import Database
import Foundation
import IO
import Model
import Testing

@testable import Credentials

/// Processes that share a store take turns with a refresh token.
@Suite struct TokenClaimTests {
    private static let minute = Milliseconds.minutes(1)
    private static let now = SystemClock.wallTime

    enum Kind: CaseIterable {
        case sqlite, postgresql

        /// Opens the same store again and again.
        func make() throws -> () throws -> CredentialStore {
            switch self {
            case .sqlite:
                let path = try StoreFile.temporary()
                return { try StoreFile.open(path) }
            case .postgresql:
                let info = try PostgreSQLServer.shared.newDatabase()
                return { try PostgreSQLServer.shared.open(info) }
            }
        }
    }

    /// The grant of one process: another proof is another version of the same family.
    private struct Grant {
        let family: RefreshTokenFamily
        let version: CredentialVersion

        init(_ token: String = "own", secret: String = "s") throws {
            let grant = TokenGrant(
                server: .endpoint(try #require(HTTPEndpoint("https://id/"))), clientID: "c",
                proof: .secret(Secret(secret), inBody: false), kind: .refreshToken(Secret(token)))
            family = try #require(RefreshTokenFamily(of: grant, named: "crm"))
            version = Credential(name: "crm", grant: grant).version
        }
    }

    private func claim(_ store: CredentialStore, _ grant: Grant, at now: WallTime = Self.now) async -> String {
        switch await store.tokens.claim(grant.family, for: grant.version, at: now, until: now + Self.minute) {
        case .granted(let rotation):
            "granted \(rotation.generation) \(rotation.token?.withBytes { $0.text } ?? "own")"
        case .renewed(let token): "renewed \(token.token.withBytes { $0.text })"
        case .taken: "taken"
        case .unavailable(let cause): "unavailable: \(cause)"
        }
    }

    private func land(_ token: String, generation: Int, in store: CredentialStore, for grant: Grant) async throws {
        var content = Array("{\"access_token\":\"\(token)\",\"token_type\":\"bearer\",\"expires_in\":3600}".utf8)
        let endpoint = try #require(HTTPEndpoint("https://id/"))
        let response = try TokenResponse(status: 200, content: &content, from: endpoint)
        await store.tokens.end(
            grant.family, at: RefreshTokenFamily.Rotation(generation: generation, token: Secret("given with \(token)")),
            with: TokenStore.FetchedToken(response, for: grant.version, generation: generation, at: Self.now))
    }

    @Test(arguments: Kind.allCases)
    func `one process fetches, and the others have its token and its refresh token`(kind: Kind) async throws {
        let open = try kind.make()
        let (first, second, grant) = (try open(), try open(), try Grant())
        #expect(await claim(first, grant) == "granted 0 own")
        #expect(await claim(second, grant) == "taken")
        try await land("one", generation: 1, in: first, for: grant)
        #expect(await claim(second, grant) == "renewed one")
        // When that has ended, and in a later process.
        #expect(await claim(second, grant, at: Self.now + Self.minute * 59) == "granted 1 given with one")
        #expect(await claim(first, grant, at: Self.now + Self.minute * 59) == "taken")
        try await land("two", generation: 2, in: second, for: grant)
        #expect(await claim(try open(), grant, at: Self.now + Self.minute * 120) == "granted 2 given with two")
    }

    @Test(arguments: Kind.allCases)
    func `a fetch that fails, and one that nothing is heard of, leave the token to the others`(kind: Kind) async throws
    {
        let open = try kind.make()
        let (first, second, grant) = (try open(), try open(), try Grant())
        #expect(await claim(first, grant) == "granted 0 own")
        await first.tokens.end(grant.family, at: .initial, with: nil)
        #expect(await claim(second, grant) == "granted 0 own")
        #expect(await claim(first, grant, at: Self.now + Self.minute - 1) == "taken")
        #expect(await claim(first, grant, at: Self.now + Self.minute) == "granted 0 own")
    }

    @Test func `a token that was adopted and refused is not offered again`() async throws {
        let open = try Kind.sqlite.make()
        let (first, second, grant) = (try open(), try open(), try Grant())
        #expect(await claim(first, grant) == "granted 0 own")
        try await land("one", generation: 1, in: first, for: grant)
        #expect(try second.follow(within: 5000))
        #expect(second.tokens.current(for: grant.version, at: Self.now)?.token == Secret("one"))
        #expect(await claim(second, grant) == "granted 1 given with one")
    }

    @Test func `another proof goes on with the family, another refresh token begins anew`() async throws {
        let open = try Kind.sqlite.make()
        let (store, grant) = (try open(), try Grant())
        _ = await claim(store, grant)
        try await land("one", generation: 1, in: store, for: grant)
        #expect(await claim(store, try Grant(secret: "another")) == "granted 1 given with one")
        #expect(await claim(store, try Grant("another")) == "granted 0 own")
    }

    @Test func `what a process had before its store was opened goes on there`() async throws {
        let (memory, grant) = (CredentialMemory(), try Grant())
        let path = try StoreFile.temporary()
        await memory.tokens.end(
            grant.family, at: RefreshTokenFamily.Rotation(generation: 3, token: Secret("third")), with: nil)
        let store = try CredentialStore(
            sqlite: path, key: StoreFile.key(1), memory: memory, fingerprintKey: { _ in },
            report: { Issue.record("\($0)") })
        #expect(await claim(store, grant) == "granted 3 third")
        #expect(await claim(try StoreFile.open(path), grant, at: Self.now + Self.minute * 2) == "granted 3 third")
    }

    @Test func `nobody reads a refresh token in the store`() async throws {
        let (path, grant) = (try StoreFile.temporary(), try Grant())
        let store = try StoreFile.open(path)
        _ = await claim(store, grant)
        try await land("one", generation: 1, in: store, for: grant)
        for suffix in ["", "-wal"] {
            let content = FileManager.default.contents(atPath: path + suffix) ?? Data()
            #expect(content.range(of: Data("given with".utf8)) == nil)
        }
        let database = try SQLiteDatabase(path: path)
        // Another credential's row opens nothing here: the endpoint is asked with the configured one.
        try database.rows("UPDATE attache_refresh_tokens SET fingerprint = x'00112233445566778899aabbccddeeff'")
        #expect(await claim(try StoreFile.open(path), grant, at: Self.now + Self.minute * 59) == "granted 0 own")
    }

    @Test func `while the store is away only an endpoint that rotates nothing is asked`() async throws {
        let server = PostgreSQLServer.shared
        let name = try server.newDatabase()
        let (store, rotating, constant) = (try server.open(name), try Grant("one"), try Grant("two"))
        let last: [(Grant, Secret?)] = [(rotating, Secret("given")), (constant, nil)]
        for (grant, token) in last {
            #expect(await claim(store, grant) == "granted 0 own")
            await store.tokens.end(
                grant.family, at: RefreshTokenFamily.Rotation(generation: 1, token: token), with: nil)
        }
        let database = try #require(name.split(separator: "dbname=").last)
        let other = try PostgreSQLConnection(name.replacing("dbname=\(database)", with: "dbname=postgres"))
        try other.rows("ALTER DATABASE \(database) ALLOW_CONNECTIONS false")
        try other.rows("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '\(database)'")
        #expect(await claim(store, rotating).hasPrefix("unavailable"))
        #expect(await claim(store, constant) == "granted 1 own")
    }
}
