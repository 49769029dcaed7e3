import Bytes
import Crypto
import Model
import Testing

@testable import Authentication

/// The answers for requests, minute by minute.
@Suite struct TokenStoreTests {
    let store = TokenStore()
    let grant = CredentialVersion(name: "crm", fingerprint: 1)

    private func said(_ supply: TokenStore.Supply) -> String {
        switch supply {
        case .token(let credential, let fetches):
            "token \(credential.token?.withBytes { $0.text } ?? "")\(fetches ? ", fetch" : "")"
        case .wait(_, let fetches): fetches ? "fetch, wait" : "wait"
        case .none(let error): "none: \(error)"
        }
    }

    private func supply(at now: WallTime, besides refused: CredentialVersion? = nil) -> String {
        said(store.supply(for: grant, besides: refused, at: now))
    }

    private func land(
        _ token: String, lifetime: Int?, for grant: CredentialVersion? = nil, at now: WallTime
    ) -> Credential? {
        let seconds = lifetime.map { ",\"expires_in\":\($0)" } ?? ""
        var content = Array("{\"access_token\":\"\(token)\",\"token_type\":\"bearer\"\(seconds)}".utf8)
        guard let endpoint = HTTPEndpoint("https://id/"),
            let response = try? TokenResponse(status: 200, content: &content, from: endpoint)
        else { return nil }
        return store.land(.success(response), for: grant ?? self.grant, at: now)
    }

    @Test func `a credential with very many tokens takes no room from others`() {
        _ = supply(at: 0)
        _ = land("a", lifetime: 3600, at: 0)
        let many = (1...1100).map { CredentialVersion(name: "mcp", fingerprint: UInt128($0)) }
        for grant in many {
            _ = store.supply(for: grant, besides: nil, at: 1)
            _ = land("m", lifetime: 3600, for: grant, at: 1)
        }
        #expect(supply(at: 2) == "token a")
        #expect(many.count { store.current(for: $0, at: 2) != nil } == 128)
    }

    @Test func `one request fetches for all`() async {
        guard case .wait(let first, true) = store.supply(for: grant, besides: nil, at: 0),
            case .wait(let second, false) = store.supply(for: grant, besides: nil, at: 0)
        else {
            Issue.record("nobody fetches")
            return
        }
        _ = land("a", lifetime: 3600, at: 0)
        for waiter in [first, second] {
            guard case .settled(.accepted) = await waiter.outcome() else {
                Issue.record("nobody told those who wait")
                continue
            }
        }
        #expect(supply(at: 1) == "token a")
    }

    @Test
    func `an endpoint that refused a grant is asked again when that is given another chance, one that is away is not`()
    {
        _ = supply(at: 0)
        store.fail(grant, .refused(endpoint: "https://id/", code: "invalid_client", words: nil), at: 0)
        #expect(supply(at: 1_000).hasPrefix("none: "))
        store.retry { $0.name == "other" }
        #expect(supply(at: 1_000).hasPrefix("none: "))
        store.retry { $0 == grant }
        #expect(supply(at: 1_000) == "fetch, wait")
        store.fail(grant, .unreachable(endpoint: "https://id/", "away"), at: 1_000)
        store.retry { _ in true }
        #expect(supply(at: 2_000).hasPrefix("none: "))
    }

    @Test func `a token is renewed before it ends, by one request, and never used after`() {
        _ = supply(at: 0)
        _ = land("a", lifetime: 3600, at: 0)
        #expect(supply(at: 0 + .minutes(50)) == "token a")
        #expect(store.current(for: grant, at: 0 + .minutes(50)) != nil)
        #expect(supply(at: 0 + .minutes(55)) == "token a, fetch")
        #expect(store.current(for: grant, at: 0 + .minutes(55)) == nil)
        #expect(supply(at: 0 + .minutes(56)) == "token a")
        _ = store.land(.failure(.status(endpoint: "e", 503)), for: grant, at: 0 + .minutes(56))
        #expect(supply(at: 1 + .minutes(56)) == "token a")
        #expect(supply(at: 0 + .minutes(57)) == "token a, fetch")
        #expect(supply(at: 0 + .minutes(60) - .seconds(4)) == "wait")
        _ = land("b", lifetime: 3600, at: 0 + .minutes(61))
        #expect(supply(at: 0 + .minutes(61)) == "token b")
    }

    @Test func `the generation changes with the tokens that are held, and only then`() throws {
        _ = supply(at: 0)
        let before = store.generation
        let first = try #require(land("a", lifetime: 3600, at: 0))
        let landed = store.generation
        #expect(landed != before)
        #expect(store.renewal(of: grant) == 0 + .minutes(53))
        #expect(supply(at: 1_000) == "token a")
        #expect(supply(at: 1_000, besides: first.version) == "fetch, wait")
        let lost = store.generation
        #expect(lost != landed)
        #expect(store.renewal(of: grant) == nil)
        store.fail(grant, .status(endpoint: "e", 503), at: 1_000)
        #expect(store.generation == lost)
    }

    @Test func `an endpoint that gave no token is left alone for a moment`() {
        _ = supply(at: 0)
        _ = store.land(.failure(.status(endpoint: "e", 503)), for: grant, at: 0)
        #expect(supply(at: 1_000) == "none: e answered with status 503")
        #expect(supply(at: 6_000) == "fetch, wait")
        _ = store.land(.failure(.refused(endpoint: "e", code: "invalid_client", words: nil)), for: grant, at: 6_000)
        #expect(supply(at: 7_000) == "none: it was refused by e (invalid_client)")
        let changed = CredentialVersion(name: "crm", fingerprint: 2)
        #expect(said(store.supply(for: changed, besides: nil, at: 7_000)) == "fetch, wait")
    }

    @Test func `a token that a server refuses is replaced, but not again and again`() throws {
        _ = supply(at: 0)
        let first = try #require(land("a", lifetime: 3600, at: 0))
        #expect(supply(at: 1_000, besides: first.version) == "fetch, wait")
        let second = try #require(land("b", lifetime: 3600, at: 1_000))
        #expect(first.version != second.version)
        #expect(supply(at: 2_000, besides: first.version) == "token b")
        #expect(supply(at: 2_000, besides: second.version) == "token b")
        #expect(supply(at: 40_000, besides: second.version) == "fetch, wait")
    }
}
