import Crypto
import Model
import Testing

@testable import Authentication

/// The metadata of servers that want tokens (RFC 9728).
@Suite struct ResourceMetadataTests {
    private static let origin = Origin(host: "mcp.example.com", port: 443, protocol: .https)
    private static let wellKnown = "https://mcp.example.com/.well-known/oauth-protected-resource"

    private func read(_ text: String, status: Int = 200, target: String = "/mcp?a=b") throws -> ResourceMetadata {
        try ResourceMetadata(
            status: status, content: Array(text.utf8), on: Self.origin, for: Array(target.utf8))
    }

    private func places(_ announced: String?, target: String = "/mcp?a=b", on origin: Origin = origin) -> [String] {
        ResourceMetadata.places(on: origin, announced: announced, for: Array(target.utf8)).places.map { "\($0)" }
    }

    @Test func `a place on the server's own origin is read`() {
        for url in [
            "https://mcp.example.com/meta", "https://mcp.example.com:443/meta", "https://MCP.example.com/meta",
            "HTTPS://mcp.example.com/meta", "https://mcp.example.com/meta?tenant=1",
        ] {
            #expect(places(url).count == 1 && places(url)[0].hasPrefix("https://mcp.example.com/meta"), "\(url)")
        }
    }

    /// Invariant: the server cannot have the proxy read anything on another origin.
    @Test(arguments: [
        "http://mcp.example.com/meta", "https://mcp.example.com:8443/meta", "https://evil.example/meta",
        "https://mcp.example.com.evil.example/meta", "https://evil.example/?mcp.example.com",
        "https://mcp.example.com@evil.example/meta", "https://u:p@mcp.example.com/meta",
        "https://mcp.example.com/meta#x", "https://evil.example#@mcp.example.com/", "//mcp.example.com/meta",
        "/meta", "meta", "", "https://", "https:///meta", "https://127.0.0.1/meta", "https://[::1]/meta",
        "https://localhost/meta", "http://169.254.169.254/latest/meta-data", "file:///etc/passwd",
        "ftp://mcp.example.com/meta", "javascript:alert(1)", "https://mcp.example.com:0443x/meta",
        "https://mcp.example.com:99999/meta", "https://mcp.example.com/a b", "https://mcp.example.com/\u{0}",
        "https://mcp.example.com\r\nHost: evil.example/", "https://mcp.example.com\\@evil.example/",
        "https://xn--mcp.example.com/meta", "https://mcp.example.com%2eevil.example/meta",
    ])
    func `a place on another origin counts as absent`(url: String) {
        #expect(places(url) == [Self.wellKnown + "/mcp", Self.wellKnown])
    }

    @Test func `the usual places follow the path`() {
        #expect(places(nil, target: "/a/b?c") == [Self.wellKnown + "/a/b", Self.wellKnown])
        #expect(places(nil, target: "/") == [Self.wellKnown])
        let local = Origin(host: "::1", port: 8080, protocol: .http)
        #expect(places(nil, target: "/", on: local) == ["http://[::1]:8080/.well-known/oauth-protected-resource"])
    }

    @Test(arguments: [
        ("https://mcp.example.com/mcp", "/mcp"), ("https://mcp.example.com/mcp", "/mcp?a=b"),
        ("https://mcp.example.com/mcp", "/mcp/sub"), ("https://mcp.example.com/", "/mcp"),
        ("https://mcp.example.com", "/mcp"), ("https://mcp.example.com:443/mcp/", "/mcp/x"),
    ])
    func `a resource that covers the request is used as it is written`(resource: String, target: String) throws {
        #expect(try read("{\"resource\":\"\(resource)\"}", target: target).resource == resource)
    }

    @Test(arguments: [
        "{}", #"{"resource":7}"#, #"{"resource":""}"#, #"{"resource":["https://mcp.example.com/mcp"]}"#,
        #"{"resource":"https://evil.example/mcp"}"#, #"{"resource":"http://mcp.example.com/mcp"}"#,
        #"{"resource":"https://mcp.example.com:8443/mcp"}"#, #"{"resource":"https://mcp.example.com/other"}"#,
        #"{"resource":"https://mcp.example.com/mc"}"#, #"{"resource":"https://mcp.example.com/mcp/sub"}"#,
        #"{"resource":"https://mcp.example.com/mcp#x"}"#, #"{"resource":"https://u@mcp.example.com/mcp"}"#,
        #"{"resource":"https://mcp.example.com/mcp?a=b"}"#, #"{"resource":"/mcp"}"#, #"{"resource":"urn:mcp"}"#,
    ])
    func `metadata for another resource is not used`(text: String) {
        #expect { try read(text) } throws: { "\($0)".contains("is for another resource") }
    }

    @Test(arguments: [("", 200), ("<html>", 200), ("[]", 200), ("{\"a\":", 200), ("{}", 302), ("{}", 500), ("{}", 401)])
    func `what is no metadata is not used`(text: String, status: Int) {
        #expect(throws: TokenError.self) { try read(text, status: status) }
    }

    @Test(arguments: [
        (#"["https://id.example.com"]"#, "https://id.example.com", true),
        (#"["https://other.example","https://id.example.com"]"#, "https://id.example.com", true),
        (#"["https://id.example.com/"]"#, "https://id.example.com", true),
        (#"["https://id.example.com"]"#, "https://id.example.com/", true),
        (#"["https://id.example.com/a"]"#, "https://id.example.com/a", true),
        (#"["https://id.example.com/a/"]"#, "https://id.example.com/a", false),
        (#"["https://id.example.com//"]"#, "https://id.example.com", false),
        (#"["https://ID.example.com"]"#, "https://id.example.com", false),
        (#"["https://id.example.com:443"]"#, "https://id.example.com", false),
        (#"["http://id.example.com"]"#, "https://id.example.com", false),
        (#"["https://id.example.com.evil.example"]"#, "https://id.example.com", false),
        (#"["https://id.example.com@evil.example"]"#, "https://id.example.com", false),
        (#"["https://id.example.com/realms/a"]"#, "https://id.example.com/realms/b", false),
        (#""https://id.example.com""#, "https://id.example.com", false),
        ("[]", "https://id.example.com", false), ("{}", "https://id.example.com", false),
        (#"[7,null]"#, "https://id.example.com", false),
    ])
    func `the issuer of the rule file must be among the server's`(
        list: String, issuer: String, isListed: Bool
    ) throws {
        let metadata = try read(
            "{\"resource\":\"https://mcp.example.com/mcp\",\"authorization_servers\":\(list)}")
        let named = try #require(TokenIssuer(issuer))
        if isListed { return try metadata.check(named, on: Self.origin) }
        #expect {
            try metadata.check(named, on: Self.origin)
        } throws: {
            "\($0)".hasPrefix("mcp.example.com ") && "\($0)".hasSuffix("the rule file names \(issuer)")
        }
    }

    /// The scopes of the challenge, of the metadata, and of the rule file; those that are asked for, or nil for none.
    @Test(
        arguments: [
            ("a b", "c", ["a", "b", "c"], ["a", "b"]), (nil, "c", ["a", "c"], ["c"]),
            (nil, "", ["b", "a"], ["b", "a"]),
            ("a x", "", ["a"], ["a"]), ("x", "a", ["a"], nil), (nil, "x", ["a"], nil), ("a", "", [], nil),
            ("x y", "", ["*"], ["x", "y"]), (nil, "", ["*"], []), (nil, "", [], []), ("", "a", ["a"], ["a"]),
            ("a  a b", "", ["a", "b"], ["a", "b"]), ("a\" \\b", "", ["*"], []),
        ] as [(String?, String, [String], [String]?)])
    func `scopes stay within those of the rule file`(
        challenge: String?, supported: String, ceiling: [String], asked: [String]?
    ) throws {
        let list = supported.isEmpty ? "" : "\"\(supported)\""
        let metadata = try read("{\"resource\":\"https://mcp.example.com/mcp\",\"scopes_supported\":[\(list)]}")
        let scopes = try? ResourceMetadata.scopes(challenge, of: metadata, within: ceiling)
        #expect(scopes == asked)
    }

    @Test func `a server may name 32 scopes of 256 bytes, and 2,048 bytes in all`() throws {
        let many = (0..<100).map { "s\($0)" }.joined(separator: " ")
        #expect(try ResourceMetadata.scopes(many, of: nil, within: ["*"]).count == 32)
        let long = String(repeating: "x", count: 257)
        #expect(try ResourceMetadata.scopes("\(long) a", of: nil, within: ["*"]) == ["a"])
        let large = (0..<9).map { "\($0)" + String(repeating: "x", count: 255) }
        #expect(try ResourceMetadata.scopes(large.joined(separator: " "), of: nil, within: ["*"]) == Array(large[..<8]))
        // Nor do they add up to more from response to response.
        #expect(ResourceMetadata.scopesTogether(Array(large[..<4]), Array(large[4..<8])) == Array(large[..<8]))
        #expect(ResourceMetadata.scopesTogether(Array(large[..<8]), ["a"]) == nil)
        #expect(ResourceMetadata.scopesTogether((0..<32).map { "s\($0)" }, ["a"]) == nil)
    }

    @Test func `an announcement is kept for its path and what is below it`() throws {
        let store = AnnouncedTokens()
        let version = CredentialVersion(name: "mcp", fingerprint: 1)
        let (root, narrow) = (Credential(name: "mcp", token: .init("a")), Credential(name: "mcp", token: .init("b")))
        let find = { (target: String, origin: Origin, version: CredentialVersion) in
            store.exact(for: version, at: origin, target: target.utf8Span.span)
        }
        store.put(narrow, for: version, at: Self.origin, path: Array("/mcp".utf8))
        #expect(find("/mcp", Self.origin, version) === narrow && find("/mcp/a", Self.origin, version) === narrow)
        #expect(find("/mcp?a", Self.origin, version) === narrow)
        #expect(find("/mcpx", Self.origin, version) == nil && find("/", Self.origin, version) == nil)
        let other = Origin(host: "other.example.com", port: 443, protocol: .https)
        #expect(find("/mcp", other, version) == nil)
        #expect(find("/mcp", Self.origin, CredentialVersion(name: "mcp", fingerprint: 2)) == nil)
        store.put(root, for: version, at: Self.origin, path: [])
        #expect(find("/x", Self.origin, version) === root && find("/mcp", Self.origin, version) === narrow)
    }
}
