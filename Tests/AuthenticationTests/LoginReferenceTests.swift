import Model
import Testing

@testable import Authentication

@Suite struct LoginReferenceTests {
    private let origin = Origin(host: "h.example.com", port: 443, protocol: .https)

    /// The target, or the place in brackets.
    private func resolve(_ reference: String, from base: String = "/a/b?q", on origin: Origin? = nil) -> String? {
        switch LoginReference(reference.utf8, from: Array(base.utf8), on: origin ?? self.origin) {
        case .here(let target)?: String(decoding: target, as: UTF8.self)
        case .elsewhere(let place)?: "[\(place)]"
        case nil: nil
        }
    }

    @Test(arguments: [
        ("/login", "/login"), ("c", "/a/c"), ("./c", "/a/c"), ("../c", "/c"), ("../../c", "/c"), ("?x=1", "/a/b?x=1"),
        ("", "/a/b?q"), ("#top", "/a/b?q"), ("c?x#y", "/a/c?x"), ("/x/../y/./", "/y/"), ("/x/..", "/"), ("/", "/"),
        ("https://h.example.com", "/"), ("https://H.Example.com:443/x", "/x"), ("//h.example.com/x", "/x"),
        ("https://h.example.com./x", "/x"), ("https://h.example.com:/x", "/x"),
        ("https:\\\\h.example.com\\x", "/x"), ("  /x\n/y ", "/x/y"), ("/é b\"", "/%C3%A9%20b\""),
        ("/a%2Fb;c=1", "/a%2Fb;c=1"),
        ("/x?a=http://b/", "/x?a=http://b/"), ("a:b/c", nil),
    ])
    func `a reference on the same server is followed`(reference: String, expected: String?) {
        #expect(resolve(reference) == expected)
    }

    @Test(arguments: [
        ("http://h.example.com/x", "[http://h.example.com]"),
        ("https://h.example.com:8443/", "[https://h.example.com:8443]"),
        ("//other.example.com/x", "[https://other.example.com]"),
        ("/\\other.example.com", "[https://other.example.com]"),
        ("https://user:secret@h.example.com/", "[https://h.example.com]"),
        ("https://h.example.com.evil.com/", "[https://h.example.com.evil.com]"), ("///x", "[https://]"),
        ("https://a b\"\u{7F}.test/", "[https://a?b??.test]"),
        ("javascript:alert(1)", nil), ("mailto:a@b", nil), ("https:/x", nil),
    ])
    func `another scheme, host or port is another space`(reference: String, expected: String?) {
        #expect(resolve(reference) == expected)
    }

    @Test(arguments: [
        ("http://[::1]:8080/x", "/x"), ("//[0:0::1]:8080/x", "/x"), ("//[::1]/x", "[http://[::1]]"),
        ("//::1:8080/x", "[http://::1:8080]"), ("//[::2]:8080/x", "[http://[::2]:8080]"),
        ("//[::1]:08080/", "/"), ("//[::1]:8080x/", "[http://[::1]:8080x]"),
        ("//[::1/x", "[http://[::1]"), ("//[::1]8080/x", "[http://[::1]8080]"), ("//[/x", "[http://[]"),
        ("//:8080/x", "[http://:8080]"), ("//[::1]:99999999999999999999/", "[http://[::1]:99999999999999999999]"),
    ])
    func `a reference names an IPv6 server in any spelling, in brackets`(reference: String, expected: String) {
        let origin = Origin(host: "[0::1]", port: 8080, protocol: .http)
        #expect(resolve(reference, on: origin) == expected)
    }

    @Test func `a reference has a limit`() {
        #expect(resolve("/" + String(repeating: "x", count: 9_000)) == nil)
        #expect(resolve("/" + String(repeating: "é", count: 2_000)) == nil)
    }
}
