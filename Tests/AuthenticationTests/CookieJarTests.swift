import Bytes
import Model
import Testing

@testable import Authentication

@Suite struct CookieJarTests {
    private static let now: WallTime = 1_800_000_000_000

    private func cookies(
        _ fields: [String], setAt: String = "/app/login", for target: String = "/app/x",
        on origin: Origin = Origin(host: "www.example.com", port: 443, protocol: .https), later: Milliseconds = 0
    ) -> String {
        var jar = CookieJar(origin: origin)
        for field in fields { jar.take(field.utf8Span.span, at: setAt.utf8Span.span, now: Self.now) }
        let value = ByteBuffer(capacity: 64)
        jar.append(for: target.utf8Span.span, at: Self.now + later, to: value)
        return value.readable.text
    }

    @Test(arguments: [
        (["a=1", "b=2; HttpOnly; SameSite=Lax"], "a=1; b=2"), (["a = 1 ; Path=/"], "a=1"), (["a="], "a="),
        (["a=1", "a=2"], "a=2"), (["a=b=c"], "a=b=c"), (["a=\"q\""], "a=\"q\""), (["novalue", "=x", ""], ""),
        (["a=1", "a=; Max-Age=0"], ""), (["a=1; Max-Age=-1"], ""), (["a=1; max-age=nonsense"], "a=1"),
        (["a=1", "a=; Expires=Thu, 01 Jan 1970 00:00:00 GMT"], ""), (["a=1; Expires=nonsense"], "a=1"),
        (["a=1; Expires=Thu, 01 Jan 1970 00:00:00 GMT; Max-Age=60"], "a=1"), (["a=\u{1}"], ""),
        // Paths: the longest first, the request's directory unless said otherwise.
        (["a=1; Path=/", "b=2"], "b=2; a=1"), (["a=1; Path=/ap"], ""), (["a=1; Path=/app/"], "a=1"),
        (["a=1; Path=/app/x"], "a=1"), (["a=1; Path=other"], "a=1"), (["a=1; Path=/", "a=2; Path=/app"], "a=2; a=1"),
        // Domains only have to fit.
        (["a=1; Domain=example.com"], "a=1"), (["a=1; Domain=.Example.COM"], "a=1"), (["a=1; Domain="], "a=1"),
        (["a=1; Domain=other.com"], ""), (["a=1; Domain=ample.com"], ""), (["a=1; Domain=x.www.example.com"], ""),
        // Prefixes.
        (["__Secure-a=1"], ""), (["__Secure-a=1; Secure"], "__Secure-a=1"),
        (["__HOST-a=1; Secure; Path=/"], "__HOST-a=1"),
        (["__Host-a=1; Secure"], ""), (["__Host-a=1; Secure; Path=/; Domain=www.example.com"], ""),
    ])
    func `a jar keeps what a browser would`(fields: [String], expected: String) {
        #expect(cookies(fields) == expected)
    }

    @Test(arguments: [
        ("/", "/x", true), ("/x", "/x?q=/y", true), ("/x", "/xy", false), ("/x", "/x/y", true), ("/x/", "/x", false),
        ("/X", "/x", false),
    ])
    func `a cookie goes to its path and below`(path: String, target: String, goes: Bool) {
        #expect(cookies(["a=1; Path=\(path)"], for: target) == (goes ? "a=1" : ""))
    }

    @Test func `a secure cookie neither comes nor goes in clear`() {
        let origin = Origin(host: "www.example.com", port: 80, protocol: .http)
        #expect(cookies(["a=1; Secure", "b=2"], on: origin) == "b=2")
    }

    @Test func `a cookie for all owners below a public suffix is not kept`() {
        let origin = Origin(host: "ci.github.io", port: 443, protocol: .https)
        #expect(cookies(["a=1; Domain=github.io", "b=1; Domain=io", "c=1; Domain=ci.github.io"], on: origin) == "c=1")
        let inner = Origin(host: "ci.corp", port: 443, protocol: .https)
        #expect(cookies(["a=1; Domain=corp"], on: inner) == "a=1", "no list has this domain")
    }

    @Test func `an address has no domain above it`() {
        let origin = Origin(host: "10.0.0.7", port: 443, protocol: .https)
        #expect(cookies(["a=1; Domain=0.0.7", "b=2; Domain=10.0.0.7"], on: origin) == "b=2")
    }

    @Test func `a cookie ends when it was said to`() {
        #expect(cookies(["a=1; Max-Age=60"], later: 59_999) == "a=1")
        #expect(cookies(["a=1; Max-Age=60"], later: 60_000) == "")
    }

    @Test func `a jar is bounded`() {
        let many = (0..<500).map { "c\($0)=\(String(repeating: "x", count: 100))" }
        #expect(cookies(many).split(separator: "; ").count == 50)
        let large = (0..<10).map { "c\($0)=\(String(repeating: "x", count: 4000))" }
        #expect(cookies(large).split(separator: "; ").count == 4)
        #expect(cookies(["a=\(String(repeating: "x", count: 4097))"]) == "")
        // 16 KiB of names and values, to the byte.
        let full = (0..<4).map { "c\($0)=\(String(repeating: "x", count: 4094))" }
        #expect(cookies(full + ["d="]) == full.joined(separator: "; "))
    }

    @Test(arguments: [
        ("x=1; y=2", "s=ours; x=1; y=2"), ("s=theirs; y=2", "s=ours; y=2"), ("S=1", "s=ours; S=1"),
        (" s = theirs ;;y=2;", "s=ours; y=2"), ("s", "s=ours"), ("t=1", "s=ours; t=1"),
    ])
    func `a client's cookies go along unless one of ours has their name`(client: String, expected: String) {
        var jar = CookieJar(origin: Origin(host: "h", port: 80, protocol: .http))
        for field in ["s=ours; Path=/", "t=ours; Path=/elsewhere"] {
            jar.take(field.utf8Span.span, at: "/".utf8Span.span, now: 0)
        }
        let value = ByteBuffer(capacity: 64)
        jar.append(for: "/x".utf8Span.span, at: 0, to: value)
        jar.append(client: client.utf8Span.span, besidesThoseFor: "/x".utf8Span.span, at: 0, to: value)
        #expect(value.readable.text == expected)
    }

    @Test func `a name that was ours stays ours`() {
        var jar = CookieJar(origin: Origin(host: "h", port: 80, protocol: .http))
        for field in ["s=1", "s=; Max-Age=0"] { jar.take(field.utf8Span.span, at: "/".utf8Span.span, now: 0) }
        #expect(jar.isEmpty)
        #expect(jar.owns(" s = 2; Path=/"))
        #expect(!jar.owns("t=2; s=1"))
        #expect(!jar.owns("s"))
    }

    @Test(arguments: [
        (["s=; Max-Age=0"], "t=2"), (["s=; Max-Age=0; Path=/elsewhere"], "s=1; t=2"),
        (["s=; Max-Age=0", "s=3"], "s=3; t=2"),
        (["s=3; Path=/x", "s=; Max-Age=0; Path=/x"], "t=2"),
    ])
    func `a client's cookie that the origin has ended does not go along`(fields: [String], expected: String) {
        var jar = CookieJar(origin: Origin(host: "h", port: 80, protocol: .http))
        for field in fields { jar.take(field.utf8Span.span, at: "/".utf8Span.span, now: 0) }
        let value = ByteBuffer(capacity: 64)
        jar.append(for: "/x".utf8Span.span, at: 0, to: value)
        jar.append(client: "s=1; t=2".utf8Span.span, besidesThoseFor: "/x".utf8Span.span, at: 0, to: value)
        #expect(value.readable.text == expected)
    }

    @Test(arguments: [
        ("a=1", "a=2; Secure", true), ("a=1", "A=1", false), ("a=1", "a=1; Path=/", false),
        ("a=1", "a=1; Path=/x", true),
        ("a=1; Path=/", "a=; path = /; Max-Age=0", true), ("a=1; Domain=h.test", "a=1; domain=.H.test", true),
        ("a=1; Domain=h.test", "a=1", false), ("a", "a", false),
    ])
    func `a cookie is known by its name, domain and path`(one: String, two: String, isSame: Bool) {
        #expect(CookieJar.isSame(one.utf8Span.span, as: two.utf8Span.span, at: "/x/y".utf8Span.span) == isSame)
        #expect(CookieJar.isSame(two.utf8Span.span, as: one.utf8Span.span, at: "/x/y".utf8Span.span) == isSame)
    }

    @Test func `no description shows a cookie`() {
        var jar = CookieJar(origin: Origin(host: "h", port: 80, protocol: .http))
        jar.take("s=secret".utf8Span.span, at: "/".utf8Span.span, now: 0)
        var text = "\(jar)"
        dump(jar, to: &text)
        #expect(!text.contains("115"))
        #expect(!text.contains("secret"))
    }
}

extension CookieJar {
    fileprivate func owns(_ field: String) -> Bool { owns(field.utf8Span.span) }
}
