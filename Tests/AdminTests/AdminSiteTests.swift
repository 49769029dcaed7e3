import Bytes
import Crypto
import HTTP
import IO
import Testing

@testable import Admin

@Suite struct AdminSiteTests {
    @Test(arguments: [
        ("/", 200, "attache 1.2.3\n"), ("/healthz", 200, "ok\n"), ("/readyz", 200, "ready\n"),
        ("/metrics", 200, "attache_requests_total 7\n"), ("/healthz/", 404, "there is no such page"),
        ("/Healthz", 404, "there is no such page"), ("", 404, "there is no such page"),
        ("/practice", 404, "there is no such page"),
        ("/practice/basics", 404, "there is no such page"), ("/practice/basic", 401, "Basic credentials"),
        ("/practice/basic/below", 401, "Basic credentials"), ("/practice/digest/", 401, "Digest (MD5) credentials"),
        ("/practice/digest-sha256", 401, "Digest (SHA-256) credentials"),
    ])
    func `each path has its answer`(path: String, status: UInt16, text: String) throws {
        let response = try site().answer(to: request(path), at: loopback, now: .zero + 1)
        #expect(response.status.rawValue == status)
        #expect(response.body.contains(text))
        #expect(response.body.hasSuffix("\n"))
    }

    @Test(arguments: [
        (1_791_590_950, "2026-10-10T00:09:10Z"), (1_767_323_045, "2026-01-02T03:04:05Z"),
        (1_798_761_599, "2026-12-31T23:59:59Z"),
    ])
    func `a time has two digits in each of its parts`(seconds: Int, text: String) {
        #expect(AdminTime.text(WallTime(seconds: seconds) + 999) == text)
    }

    @Test(arguments: [
        ("/", 403), ("/healthz", 403), ("/readyz", 403), ("/metrics", 403), ("/nothing", 403), ("/practice/basic", 401),
        ("/practice/digest/below", 401), ("/practice/../metrics", 403),
    ])
    func `of what came through the proxy only practice is answered`(path: String, status: UInt16) throws {
        let response = try site().answer(to: request(path, isForwarded: true), at: loopback, now: .zero + 1)
        #expect(response.status.rawValue == status)
    }

    @Test func `a request came through the proxy if its Via says so, in any of its lines`() throws {
        let via = try #require(Via(pseudonym: "attache-x"))
        for (line, isForwarded) in [
            ("Via: 1.1 attache-x", true), ("Via: 1.1 other\r\nVia: 1.0 squid, 1.1 Attache-X (c)", true),
            ("Via: 1.1 attache-y", false), ("X: attache-x", false),
        ] {
            let bytes = Array("GET /metrics HTTP/1.1\r\nHost: 127.0.0.1:3127\r\n\(line)\r\n\r\n".utf8)
            let head = RequestHead(limits: .request)
            _ = try head.parse(bytes.span)
            #expect(AdminRequest(head, bytes.span, via: via).isForwarded == isForwarded, "\(line)")
        }
    }

    @Test func `the metrics say which format they are in`() throws {
        let response = try site().answer(to: request("/metrics"), at: loopback, now: .zero + 1)
        #expect(response.contentType.hasPrefix("text/plain; version=0.0.4"))
        #expect(response.value("Vary") == "Accept")
    }

    @Test func `a reader that asks for OpenMetrics has it`() throws {
        let bytes = Array(
            "GET /metrics HTTP/1.1\r\nHost: localhost\r\nAccept: text/plain;q=0.5\r\naccept: application/openmetrics-text\r\n\r\n"
                .utf8)
        let head = RequestHead(limits: .request)
        _ = try head.parse(bytes.span)
        let response = try site().answer(to: AdminRequest(head, bytes.span, via: nil), at: loopback, now: .zero + 1)
        #expect(response.contentType == "application/openmetrics-text; version=1.0.0; charset=utf-8")
        #expect(response.body == "attache_requests_total 7\n# EOF\n")
    }

    @Test(
        arguments: [
            ([], 401, "Bearer realm=\"Attache metrics\""), (["Bearer open sesame"], 200, nil),
            (["bearer   open sesame"], 200, nil),
            (["Bearer wrong"], 401, "Bearer realm=\"Attache metrics\", error=\"invalid_token\""),
            (["Bearer open sesame!"], 401, "Bearer realm=\"Attache metrics\", error=\"invalid_token\""),
            (["Bearer "], 401, "Bearer realm=\"Attache metrics\", error=\"invalid_token\""),
            (["Basic b3BlbiBzZXNhbWU="], 401, "Bearer realm=\"Attache metrics\", error=\"invalid_token\""),
            (
                ["Bearer open sesame", "Bearer open sesame"], 401,
                "Bearer realm=\"Attache metrics\", error=\"invalid_token\""
            ),
        ] as [([String], UInt16, String?)])
    func `the metrics need the token, if there is one`(authorization: [String], status: UInt16, challenge: String?)
        throws
    {
        var sources = sources()
        sources.metricsToken = { Secret("open sesame") }
        let site = AdminSite(sources: sources, practice: nil)
        let response = site.answer(to: request("/metrics", authorization: authorization), at: loopback, now: .zero + 1)
        #expect(response.status.rawValue == status)
        #expect(response.value("WWW-Authenticate") == challenge)
        #expect(response.body.contains("attache_requests_total") == (status == 200))
        #expect(site.answer(to: request("/healthz"), at: loopback, now: .zero + 1).status == .ok)
    }

    @Test func `a proxy that is not ready says why, and is still healthy`() throws {
        let site = try site(.notReady(reason: "the proxy is draining"))
        let response = site.answer(to: request("/readyz"), at: loopback, now: .zero + 1)
        #expect(response.status == .serviceUnavailable)
        #expect(response.body == "the proxy is draining\n")
        #expect(site.answer(to: request("/healthz"), at: loopback, now: .zero + 1).status == .ok)
    }

    @Test func `a proxy that goes on without its store stays ready, and says so`() throws {
        let site = try site(.degraded(reason: "the credential store cannot be reached"))
        let response = site.answer(to: request("/readyz"), at: loopback, now: .zero + 1)
        #expect(response.status == .ok)
        #expect(response.body == "ready, but the credential store cannot be reached\n")
    }

    @Test(arguments: [HTTP.Method.post, .put, .delete, .connect, .options, .trace, .patch, .extension])
    func `other methods are told which are allowed`(method: HTTP.Method) throws {
        let response = try site().answer(to: request("/healthz", method: method), at: loopback, now: .zero + 1)
        #expect(response.status == .methodNotAllowed)
        #expect(response.value("Allow") == "GET, HEAD")
    }

    @Test(arguments: [
        ("127.0.0.1", UInt16(3127), true, UInt16(200)), ("localhost", 3127, true, 200),
        ("127.0.0.1", 80, true, 421), ("127.0.0.1", 3127, false, 421), ("127.0.0.2", 3127, true, 421),
        ("example.com", 3127, true, 421),
    ])
    func `an absolute target is answered only if it names this listener`(
        host: String, port: UInt16, isHTTP: Bool, status: UInt16
    ) throws {
        let request = request("/healthz", authority: .init(isHTTP: isHTTP, host: host, port: port))
        #expect(try site().answer(to: request, at: loopback, now: .zero + 1).status.rawValue == status)
        #expect(try site().answer(to: request, at: nil, now: .zero).status == .misdirectedRequest)
    }

    /// A page at a name that resolves to a loopback address has its scripts read what is there.
    @Test(
        arguments: [
            ("127.0.0.1", "localhost", true), ("127.0.0.1", "127.0.0.1", true), ("127.0.0.1", "::1", true),
            ("127.0.0.1", nil, true), ("127.0.0.1", "rebound.example.com", false), ("127.8.8.8", "a", false),
            ("::1", "a", false), ("::ffff:127.0.0.1", "a", false), ("10.0.0.7", "attache.monitoring.svc", true),
            ("fd00::1", "a", true),
        ] as [(String, String?, Bool)])
    func `at a loopback address only names that nobody can point there are answered`(
        local: String, host: String?, isAnswered: Bool
    ) throws {
        let address = SocketAddress(try #require(IPAddress(local)), port: 3127)
        let response = try site().answer(to: request("/metrics", host: host), at: address, now: .zero)
        #expect(response.status == (isAnswered ? .ok : .misdirectedRequest))
    }

    @Test(arguments: [
        ("practice:practice makes perfect", UInt16(200)), ("practice:wrong", 401),
        ("somebody:practice makes perfect", 401),
        ("practice", 401), ("", 401), ("practice:practice makes perfect ", 401),
    ])
    func `Basic is verified`(credentials: String, status: UInt16) throws {
        let value = "Basic \(Base64.encode(Array(credentials.utf8)))"
        let response = try site().answer(
            to: request("/practice/basic", authorization: [value]), at: loopback, now: .zero + 1)
        #expect(response.status.rawValue == status)
        #expect((response.value("WWW-Authenticate") == nil) == (status == 200))
    }

    @Test(
        arguments: [
            ([""], 400), (["Basic"], 401), (["Basic =="], 400), (["Basic a, Basic b"], 400),
            (["Basic cHJhY3RpY2U6cHJhY3RpY2UgbWFrZXMgcGVyZmVjdA==", "Basic a"], 400), (["Bearer abc"], 401),
            (["basic cHJhY3RpY2U6cHJhY3RpY2UgbWFrZXMgcGVyZmVjdA=="], 200), (["Digest username=\"x"], 401),
        ] as [([String], UInt16)])
    func `an Authorization that could be read in two ways is refused`(values: [String], status: UInt16) throws {
        let response = try site().answer(
            to: request("/practice/basic", authorization: values), at: loopback, now: .zero + 1)
        #expect(response.status.rawValue == status)
    }

    @Test func `a nonce that has become too old is replaced, and the new one is good`() throws {
        let site = try site(nonceLifetime: 10)
        let path = "/practice/digest"
        let first = site.answer(to: request(path), at: loopback, now: .zero + 1)
        let client = try DigestClient(try #require(first.value("WWW-Authenticate")))
        let late = field(try client.credentials(uri: path))
        let second = site.answer(to: request(path, authorization: [late]), at: loopback, now: .zero + 12)
        #expect(second.status == .unauthorized)
        let challenge = try #require(second.value("WWW-Authenticate"))
        #expect(challenge.hasSuffix(", stale=true"))
        let fresh = field(try DigestClient(challenge).credentials(uri: path))
        let third = site.answer(to: request(path, authorization: [fresh]), at: loopback, now: .zero + 12)
        #expect(third.status == .ok)
        #expect(third.body == "welcome, practice: Digest (MD5) let you in\n")
        #expect(try #require(third.value("Authentication-Info")).hasPrefix("rspauth="))
    }

    @Test func `a HEAD answer has the length of the body it leaves out`() {
        let buffer = ByteBuffer(capacity: 256)
        AdminResponse.text(.ok, "ok").write(
            into: buffer, withBody: false, date: WallTime(seconds: 784_111_777), closing: true)
        let text = buffer.readable.text
        // The example of RFC 9110 section 5.6.7.
        #expect(text.hasPrefix("HTTP/1.1 200 OK\r\nDate: Sun, 06 Nov 1994 08:49:37 GMT\r\n"))
        #expect(text.contains("\r\nContent-Length: 3\r\n"))
        #expect(text.contains("\r\nConnection: close\r\n"))
        #expect(text.hasSuffix("\r\n\r\n"))
    }
}
