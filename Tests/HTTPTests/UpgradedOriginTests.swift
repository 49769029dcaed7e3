import Bytes
import HTTP
import Testing

@Suite struct UpgradedOriginTests {
    private static func upgrade(_ host: String = "h", from client: UInt16 = 80, to origin: UInt16 = 443)
        -> UpgradedOrigin
    {
        UpgradedOrigin(host: Array(host.utf8), clientPort: client, originPort: origin)
    }

    private static func sent(_ text: String, through upgrade: UpgradedOrigin) throws -> String {
        let bytes = crlf(text)
        let head = RequestHead()
        #expect(head.outcome(bytes) == .complete(length: bytes.count))
        let buffer = ByteBuffer(capacity: 64)
        head.write(bytes.span, as: RequestRewrite(), through: upgrade, via: .test, into: buffer).end()
        #expect(RequestHead().outcome(buffer.readable.array) == .complete(length: buffer.count), "it is a good request")
        return buffer.readable.text.replacing("\r\n", with: "\n").replacing("Via: 1.1 attache\n", with: "")
    }

    /// Returns the lines of a response after the rewrite.
    private static func restored(_ lines: String, through upgrade: UpgradedOrigin) -> String {
        let start = "HTTP/1.1 200 OK\n"
        let bytes = crlf(start + lines + "\n\n")
        let head = ResponseHead()
        #expect(head.outcome(bytes) == .complete(length: bytes.count))
        let buffer = ByteBuffer(capacity: 64)
        head.write(bytes.span, as: ResponseRewrite(), through: upgrade, via: .test, into: buffer).end()
        #expect(ResponseHead().outcome(buffer.readable.array) == .complete(length: buffer.count), "it is good")
        let text = buffer.readable.text.replacing("\r\n", with: "\n").replacing("Via: 1.1 attache\n", with: "")
        #expect(text.hasPrefix(start) && text.hasSuffix("\n\n"))
        return String(text.dropFirst(start.utf8.count).dropLast(2))
    }

    @Test(
        arguments: [
            // Client port, origin port, host, request, what the origin reads.
            (80, 443, "h", "GET http://h/ HTTP/1.1\nX: 1\nHost: h\n\n", "GET / HTTP/1.1\nX: 1\nHost: h\n\n"),
            (80, 443, "h", "GET http://H:80/ HTTP/1.1\nHost: H:80\nX: 1\n\n", "GET / HTTP/1.1\nHost: H\nX: 1\n\n"),
            (80, 443, "h", "GET http://h:80/ HTTP/1.1\nHost: h\n\n", "GET / HTTP/1.1\nHost: h\n\n"),
            (80, 443, "h", "GET http://h/ HTTP/1.0\n\n", "GET / HTTP/1.1\nHost: h\nVia: 1.0 attache\n\n"),
            (80, 8443, "h", "GET http://h/ HTTP/1.1\nHost: h\n\n", "GET / HTTP/1.1\nHost: h:8443\n\n"),
            (8080, 8080, "h", "GET http://h:8080/ HTTP/1.1\nHost: h:8080\n\n", "GET / HTTP/1.1\nHost: h:8080\n\n"),
            (8080, 443, "h", "GET http://h:8080/ HTTP/1.1\nHost: h:8080\n\n", "GET / HTTP/1.1\nHost: h\n\n"),
            (80, 8443, "::1", "GET http://[::1]/ HTTP/1.1\nHost: [::1]\n\n", "GET / HTTP/1.1\nHost: [::1]:8443\n\n"),
            (
                80, 8443, "h",
                "GET http://h/ HTTP/1.1\nHost: h\nReferer: http://h/a?http://h/\nOrigin: http://H:80\nCookie: a=http://h/\n"
                    + "X: http://h/\n\n",
                "GET / HTTP/1.1\nHost: h:8443\nReferer: https://h:8443/a?http://h/\nOrigin: https://h:8443\n"
                    + "Cookie: a=http://h/\nX: http://h/\n\n"
            ),
            (
                80, 443, "h",
                "MOVE http://h/a HTTP/1.1\nHost: h\nDestination: http://h/b\nIf: <http://h/a> (<opaquelocktoken:1>)\n"
                    + "Connection: Origin\nOrigin: http://h\nTE: trailers\n\n",
                "MOVE /a HTTP/1.1\nHost: h\nDestination: https://h/b\nIf: <https://h/a> (<opaquelocktoken:1>)\n\n"
            ),
            (
                80, 443, "h", "GET http://h/ HTTP/1.1\nHost: h\nReferer: http://other/http://h/\nOrigin: null\n\n",
                "GET / HTTP/1.1\nHost: h\nReferer: http://other/http://h/\nOrigin: null\n\n"
            ),
        ] as [(UInt16, UInt16, String, String, String)])
    func `the origin is called by its own name`(
        client: UInt16, origin: UInt16, host: String, received: String, sent: String
    ) throws {
        #expect(try Self.sent(received, through: Self.upgrade(host, from: client, to: origin)) == sent)
    }

    @Test(arguments: [
        "https://h/a?b#c": "http://h/a?b#c",
        "https://h": "http://h",
        "HTTPS://H:443/": "http://h/",
        "https://h:/": "http://h/",
        "https://h?q": "http://h?q",
        "https://h#f": "http://h#f",
        // Other schemes, hosts, ports and users, and URLs inside of a URL, are not rewritten.
        "http://h/": "http://h/",
        "https://h:444/": "https://h:444/",
        "https://h:4430/": "https://h:4430/",
        "https://h:65979/": "https://h:65979/",
        "https://h:00443/": "http://h/",
        "https://hh/": "https://hh/",
        "https://h.example/": "https://h.example/",
        "https://h@evil/": "https://h@evil/",
        "https://h:443@evil/": "https://h:443@evil/",
        "https://u@h/": "https://u@h/",
        "https://h%2Eevil/": "https://h%2Eevil/",
        "https://other/?u=https://h/": "https://other/?u=https://h/",
        "//h/a": "//h/a",
        "/a": "/a",
        "https://": "https://",
        "": "",
    ])
    func `a URL of the origin comes back as the client's`(sent: String, received: String) {
        for name in ["Location", "content-location"] {
            #expect(
                Self.restored("A: 1\n\(name): \(sent)\nB: 2", through: Self.upgrade())
                    == "A: 1\n\(name): \(received)\nB: 2")
        }
        #expect(Self.restored("X-Location: \(sent)", through: Self.upgrade()) == "X-Location: \(sent)")
    }

    @Test(
        arguments: [
            ("h", 8080, 8443, "https://h:8443/a", "http://h:8080/a"),
            ("h", 8080, 8443, "https://h/a", "https://h/a"),
            ("h", 443, 443, "https://h/a", "http://h:443/a"),
            ("::1", 80, 443, "https://[::1]/a", "http://[::1]/a"),
            ("::1", 8080, 8443, "https://[::1]:8443", "http://[::1]:8080"),
            ("::1", 80, 443, "https://::1/a", "https://::1/a"),
            ("::1", 80, 443, "https://[0:0::1]/a", "http://[::1]/a"), ("h", 80, 443, "https://H./a", "http://h/a"),
            ("10.0.0.7", 80, 443, "https://[::ffff:10.0.0.7]:443/a", "http://10.0.0.7/a"),
            ("::1", 80, 443, "https://[::2]/a", "https://[::2]/a"), ("h", 80, 443, "https://[h]/a", "https://[h]/a"),
            ("::1", 80, 443, "https://[::1", "https://[::1"), ("h", 80, 443, "https://h../a", "https://h../a"),
            ("h", 80, 443, "https://", "https://"), ("h", 80, 443, "https://h.@i/", "https://h.@i/"),
        ] as [(String, UInt16, UInt16, String, String)])
    func `ports and brackets are those of either side`(
        host: String, client: UInt16, origin: UInt16, sent: String, received: String
    ) {
        let upgrade = Self.upgrade(host, from: client, to: origin)
        #expect(Self.restored("Location: \(sent)", through: upgrade) == "Location: \(received)")
    }

    @Test(arguments: [
        "Refresh: 0;url=https://h/a": "Refresh: 0;url=http://h/a",
        "Refresh: 5; URL = 'https://h/a'": "Refresh: 5; URL = 'http://h/a'",
        "Refresh: 5, \"https://h\"": "Refresh: 5, \"http://h\"",
        "Refresh: 5; https://h/url=https://h/": "Refresh: 5; http://h/url=https://h/",
        "Refresh: 5": "Refresh: 5",
        "Refresh: 5;": "Refresh: 5;",
        "Refresh: 5;url": "Refresh: 5;url",
        "Refresh: 5;url=": "Refresh: 5;url=",
        "Refresh: 5;url=https://other/https://h/": "Refresh: 5;url=https://other/https://h/",
        "Link: <https://h/?page=2>; rel=next, <https://other/>; rel=\"a <https://h>\"":
            "Link: <http://h/?page=2>; rel=next, <https://other/>; rel=\"a <http://h>\"",
        "Link: <": "Link: <",
        "Link: <https://h": "Link: <http://h",
        "Set-Cookie: a=1; Secure; Path=/": "Set-Cookie: a=1; Path=/",
        "Set-Cookie: a=1;secure": "Set-Cookie: a=1",
        "Set-Cookie: a=1; SECURE ; HttpOnly": "Set-Cookie: a=1; HttpOnly",
        "Set-Cookie: a=1; Secure=yes": "Set-Cookie: a=1",
        "Set-Cookie: Secure; Path=/": "Set-Cookie: Secure; Path=/",
        "Set-Cookie: Secure=1; Insecure; Secured": "Set-Cookie: Secure=1; Insecure; Secured",
        "Set-Cookie: __Host-a=1; Path=/; Secure": "Set-Cookie: __Host-a=1; Path=/",
        "Set-Cookie: a=1; Secure; Domain=example.com": "Set-Cookie: a=1; Secure; Domain=example.com",
        "Set-Cookie: a=1; domain = .h; secure": "Set-Cookie: a=1; domain = .h; secure",
        "Set-Cookie: domain=1; Secure": "Set-Cookie: domain=1",
        "Set-Cookie: ;Secure;": "Set-Cookie: ;Secure;",
        "Set-Cookie:": "Set-Cookie:",
        "A: 1\nStrict-Transport-Security: max-age=1\nAlt-Svc: h2=\":443\"\nB: 2": "A: 1\nB: 2",
        "Set-Cookie: a=1; Secure\nSet-Cookie: a=2\nSet-Cookie: b=3; secure":
            "Set-Cookie: a=1\nSet-Cookie: a=2\nSet-Cookie: b=3",
        "Connection: location\nLocation: https://h/": "",
        "Content-Length: 0\nX: https://h/": "Content-Length: 0\nX: https://h/",
    ])
    func `fields that would lead the client away from http are changed where they stand`(sent: String, received: String)
    {
        #expect(Self.restored(sent, through: Self.upgrade()) == received)
    }
}
