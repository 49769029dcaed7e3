import Bytes
import Crypto
import Model
import Testing

@testable import Authentication

@Suite struct TokenRequestTests {
    private func grant(
        _ proof: TokenGrant.Proof, _ kind: TokenGrant.Kind = .clientCredentials, scopes: [String] = [],
        audience: String? = nil
    ) throws -> TokenGrant {
        TokenGrant(
            server: .endpoint(try #require(HTTPEndpoint("https://id.example.com/token"))), clientID: "s6BhdRkqt3",
            proof: proof, kind: kind, scopes: scopes, audience: audience)
    }

    private func text(_ secret: Secret?) -> String? { secret?.withBytes { $0.text } }

    /// RFC 6749 section 4.4.2, with the credentials of section 2.3.1.
    @Test func `the published request comes out`() throws {
        let request = try TokenRequest(grant(.secret(Secret("7Fjfp0ZBr1KtDRbnfVdmIw"), inBody: false)), at: 0)
        #expect(text(request.content) == "grant_type=client_credentials")
        #expect(text(request.authorization) == "Basic czZCaGRSa3F0Mzo3RmpmcDBaQnIxS3REUmJuZlZkbUl3")
    }

    @Test func `a secret may stand in the content, and everything is encoded`() throws {
        let request = try TokenRequest(
            grant(.secret(Secret("a+b&c=d ü"), inBody: true), scopes: ["read", "write:all"], audience: "https://api/"),
            at: 0)
        #expect(
            text(request.content)
                == "grant_type=client_credentials&scope=read%20write%3Aall&audience=https%3A%2F%2Fapi%2F"
                + "&client_id=s6BhdRkqt3&client_secret=a%2Bb%26c%3Dd%20%C3%BC")
        #expect(request.authorization == nil)
    }

    /// RFC 6749 section 2.3.1 has both parts encoded before they are joined.
    @Test func `a colon in a secret is no separator`() throws {
        let request = try TokenRequest(grant(.secret(Secret("p:w"), inBody: false)), at: 0)
        #expect(text(request.authorization) == "Basic " + Base64.encode(Array("s6BhdRkqt3:p%3Aw".utf8)))
    }

    @Test func `other grants are named, and a public client says who it is`() throws {
        #expect(
            text(try TokenRequest(grant(.none, .refreshToken(Secret("tGzv3J"))), at: 0).content)
                == "grant_type=refresh_token&refresh_token=tGzv3J&client_id=s6BhdRkqt3")
        #expect(
            text(try TokenRequest(grant(.none, .assertion(TokenGrant.Input(.secret(Secret("e.y.J"))))), at: 0).content)
                == "grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Ajwt-bearer&assertion=e.y.J&client_id=s6BhdRkqt3"
        )
    }

    private final class Signer: AssertionSigner {
        let algorithm = "ES256"
        let fingerprint: UInt128 = 1
        func signature(of bytes: [UInt8]) -> [UInt8]? { [0xFB, 0xFF] }
    }

    @Test(arguments: [nil, "https://id.example.com"])
    func `an assertion says who asks whom, and for how long`(audience: String?) throws {
        let request = try TokenRequest(grant(.key(Signer(), id: "k\"1", audience: audience)), at: 1_000_000)
        let content = try #require(text(request.content))
        let parameter = try #require(content.split(separator: "&").first { $0.hasPrefix("client_assertion=") })
        let parts = parameter.dropFirst("client_assertion=".count).split(separator: ".")
        #expect(parts.count == 3)
        let decoded = parts.prefix(2).map { part in
            let padded = part.replacing("-", with: "+").replacing("_", with: "/")
            return Base64.decode(padded + String(repeating: "=", count: (4 - padded.count % 4) % 4)) ?? []
        }
        #expect(String(decoding: decoded[0], as: UTF8.self) == #"{"alg":"ES256","typ":"JWT","kid":"k\"1"}"#)
        let claims = try #require(JSONMembers(decoded[1]))
        for name in ["iss", "sub"] { #expect(claims.text(name) == Array("s6BhdRkqt3".utf8)) }
        #expect(claims.text("aud") == Array((audience ?? "https://id.example.com/token").utf8))
        #expect(claims["exp"] == .number(1060))
        #expect(claims.text("jti")?.count == 32)
        #expect(parts[2] == "-_8")
        #expect(
            content.contains("client_assertion_type=urn%3Aietf%3Aparams%3Aoauth%3Aclient-assertion-type%3Ajwt-bearer"))
    }

    @Test(arguments: [
        ("https://id.example.com/token", "id.example.com", 443, "/token", "id.example.com"),
        ("HTTPS://ID.example.com:8443?x=1", "id.example.com", 8443, "/?x=1", "id.example.com:8443"),
        ("http://[::1]:80/t", "::1", 80, "/t", "[::1]"), ("http://h", "h", 80, "/", "h"),
    ])
    func `an endpoint is taken apart`(url: String, host: String, port: UInt16, target: String, authority: String) throws
    {
        let endpoint = try #require(HTTPEndpoint(url))
        #expect((endpoint.host, endpoint.port, endpoint.target) == (host, port, target))
        #expect(endpoint.authority == authority)
    }

    @Test(arguments: [
        "ftp://h/", "https://", "https://u@h/", "https://h/#f", "https://h:x/", "https://h:99999/", "https://[::1/",
        "https://h /",
    ])
    func `a text that is no endpoint gives none`(url: String) { #expect(HTTPEndpoint(url) == nil) }
}
