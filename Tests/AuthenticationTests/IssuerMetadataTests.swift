import Bytes
import Crypto
import Model
import Testing

@testable import Authentication

/// Token endpoints that are named in the metadata of their issuers.
@Suite struct IssuerMetadataTests {
    private static let address = "https://id.example.com/realms/a"
    private static let good =
        #"{"issuer":"https://id.example.com/realms/a","token_endpoint":"https://login.example.net/t"}"#

    private func read(_ text: String, status: Int = 200, of address: String = address) throws -> IssuerMetadata {
        try IssuerMetadata(status: status, content: Array(text.utf8), of: #require(TokenIssuer(address)))
    }

    @Test(arguments: [
        (
            "https://id.example.com",
            ["/.well-known/oauth-authorization-server", "/.well-known/openid-configuration"]
        ),
        (
            "https://id.example.com/",
            ["/.well-known/oauth-authorization-server", "/.well-known/openid-configuration"]
        ),
        (
            "https://id.example.com/realms/a/",
            [
                "/.well-known/oauth-authorization-server/realms/a", "/.well-known/openid-configuration/realms/a",
                "/realms/a/.well-known/openid-configuration",
            ]
        ),
    ])
    func `the places of the metadata follow the issuer's path`(address: String, paths: [String]) throws {
        let issuer = try #require(TokenIssuer(address))
        #expect("\(issuer)" == address)
        #expect(issuer.metadata.map(\.target) == paths)
        #expect(issuer.metadata.allSatisfy { $0.host == "id.example.com" && $0.isSecure && $0.port == 443 })
    }

    @Test(arguments: ["https://id.example.com/?a", "https://id.example.com/#a", "https://u@id.example.com", "id", ""])
    func `an issuer is a URL without a query, a fragment or a user`(text: String) { #expect(TokenIssuer(text) == nil) }

    @Test func `the endpoint may be on another host`() throws {
        #expect("\(try read(Self.good).endpoint)" == "https://login.example.net/t")
    }

    /// Invariant: no other document names the host that a secret goes to.
    @Test(arguments: [
        ("{}", "its metadata names no issuer"), ("<html>", "its metadata is not a JSON object"),
        (#"{"issuer":"https://id.example.com","token_endpoint":"https://i/t"}"#, "its metadata names the issuer"),
        (#"{"issuer":"https://id.example.com/realms/a/","token_endpoint":"https://i/t"}"#, "names the issuer"),
        (#"{"issuer":"https://ID.example.com/realms/a","token_endpoint":"https://i/t"}"#, "names the issuer"),
        (#"{"issuer":["https://id.example.com/realms/a"],"token_endpoint":"https://i/t"}"#, "names no issuer"),
        (#"{"issuer":"https://id.example.com/realms/a"}"#, "has no usable token_endpoint"),
        (#"{"issuer":"https://id.example.com/realms/a","token_endpoint":"http://i/t"}"#, "is not https"),
        (#"{"issuer":"https://id.example.com/realms/a","token_endpoint":"http://127.0.0.1/t"}"#, "is not https"),
        (#"{"issuer":"https://id.example.com/realms/a","token_endpoint":"https://u:p@i/t"}"#, "no usable"),
        (#"{"issuer":"https://id.example.com/realms/a","token_endpoint":"https://i/t#f"}"#, "no usable"),
        (#"{"issuer":"https://id.example.com/realms/a","token_endpoint":"ftp://i/t"}"#, "no usable"),
        (#"{"issuer":"https://id.example.com/realms/a","token_endpoint":"/t"}"#, "no usable"),
        (#"{"issuer":"https://id.example.com/realms/a","token_endpoint":"https://i/t\r\nX: y"}"#, "no usable"),
    ])
    func `a document that does not name the endpoint safely names none`(text: String, why: String) {
        #expect {
            try read(text)
        } throws: { "\($0)".contains(why) && "\($0)".hasPrefix("cannot find the token endpoint of \(Self.address): ") }
    }

    @Test(arguments: [301, 302, 404, 500]) func `only a 200 has metadata`(status: Int) {
        #expect { try read(Self.good, status: status) } throws: { "\($0)".contains("has status \(status)") }
    }

    @Test(arguments: [("http://127.0.0.1:9/t", true), ("https://i/t", true), ("http://i/t", false)])
    func `an issuer on this machine may name an endpoint on it`(endpoint: String, isUsed: Bool) {
        let text = #"{"issuer":"http://localhost:9","token_endpoint":"\#(endpoint)"}"#
        #expect(((try? read(text, of: "http://localhost:9")) != nil) == isUsed)
    }

    @Test func `the client's authentication must be among the endpoint's`() throws {
        let list = { (names: String) in
            try read(Self.good.dropLast() + #","token_endpoint_auth_methods_supported":[\#(names)]}"#)
        }
        let (basic, post) = (
            TokenGrant.Proof.secret(Secret("s"), inBody: false), TokenGrant.Proof.secret(Secret("s"), inBody: true)
        )
        #expect(try list(#""client_secret_basic""#).trouble(with: basic) == nil)
        #expect(
            try list(#""client_secret_post","none""#).trouble(with: basic)
                == "it does not support client_secret_basic: write 'client-authentication post'")
        #expect(
            try list(#""private_key_jwt""#).trouble(with: post) == "it does not support client_secret_post")
        #expect(try list("").trouble(with: .none) == nil)
        #expect(try read(Self.good).trouble(with: post) == nil)
    }

    @Test func `one request reads a document for all, and it is kept for an hour`() async throws {
        let store = MetadataStore<String>()
        guard case .wait(let first, reads: true) = store.supply(for: "u", at: 0),
            case .wait(let second, reads: false) = store.supply(for: "u", at: 1)
        else {
            Issue.record("no request reads, or both do")
            return
        }
        store.land(.success("a"), for: "u", at: 2)
        for waiter in [first, second] {
            guard case .settled = await waiter.outcome() else {
                Issue.record("a waiting request was not told")
                continue
            }
        }
        #expect(Self.said(store.supply(for: "u", at: 3_600_001)) == "a")
        #expect(Self.said(store.supply(for: "u", at: 3_600_002)) == "read")
        store.land(.success("b"), for: "u", at: 3_600_002)
        store.forget("u")
        #expect(Self.said(store.supply(for: "u", at: 3_600_003)) == "read")
    }

    @Test func `a document that names another issuer is not read again soon, one that is missing is`() {
        let store = MetadataStore<String>()
        _ = store.supply(for: "u", at: 0)
        store.land(.failure(.undiscovered(issuer: "u", "away", isDefinite: false)), for: "u", at: 0)
        #expect(Self.said(store.supply(for: "u", at: 4_999)).contains("away"))
        #expect(Self.said(store.supply(for: "u", at: 5_000)) == "read")
        store.land(.failure(.undiscovered(issuer: "u", "another", isDefinite: true)), for: "u", at: 5_000)
        #expect(Self.said(store.supply(for: "u", at: 3_600_000)).contains("another"))
        store.retry()
        #expect(Self.said(store.supply(for: "u", at: 3_600_000)) == "read")
    }

    private static func said(_ supply: MetadataStore<String>.Supply) -> String {
        switch supply {
        case .known(.success(let document)): document
        case .known(.failure(let error)): "\(error)"
        case .wait(_, let reads): reads ? "read" : "wait"
        }
    }
}
