import Bytes
import HTTP
import Testing

@Suite struct RewriteTests {
    private func rewritten(_ text: String, _ change: (inout RequestRewrite) -> Void = { _ in }) throws -> String {
        let bytes = crlf(text)
        let head = RequestHead()
        #expect(head.outcome(bytes) == .complete(length: bytes.count))
        var rewrite = RequestRewrite()
        change(&rewrite)
        let buffer = ByteBuffer(capacity: 64)
        head.write(bytes.span, as: rewrite, via: .test, into: buffer).end()
        #expect(RequestHead().outcome(buffer.readable.array) == .complete(length: buffer.count), "it is a good request")
        return buffer.readable.text.replacing("\r\n", with: "\n")
    }

    private func rewritten(
        response text: String, answering method: HTTP.Method = .get,
        _ change: (inout ResponseRewrite) -> Void = { _ in }
    ) throws -> String {
        let bytes = crlf(text)
        let head = ResponseHead()
        #expect(head.outcome(bytes, answering: method) == .complete(length: bytes.count))
        var rewrite = ResponseRewrite()
        change(&rewrite)
        let buffer = ByteBuffer(capacity: 64)
        head.write(bytes.span, as: rewrite, via: .test, into: buffer).end()
        #expect(
            ResponseHead().outcome(buffer.readable.array, answering: method) == .complete(length: buffer.count),
            "it is a good response")
        return buffer.readable.text.replacing("\r\n", with: "\n")
    }

    @Test(arguments: [
        // Absolute-form becomes origin-form; a Host that says the same stays where it is.
        (
            "GET http://h:8080/a?b HTTP/1.1\nAccept: */*\nHost: h:8080\nX: 1\n\n",
            "GET /a?b HTTP/1.1\nAccept: */*\nHost: h:8080\nX: 1\nVia: 1.1 attache\n\n"
        ),
        // A Host that is spelled otherwise is made from the target, and comes first.
        (
            "GET http://u:p@H:80 HTTP/1.1\nX: 1\nHost: h\n\n",
            "GET / HTTP/1.1\nHost: H:80\nX: 1\nVia: 1.1 attache\n\n"
        ),
        // The same holds for a field that names a different host, which is not asked.
        ("GET http://h/ HTTP/1.1\nHost: i:81\nX: 1\n\n", "GET / HTTP/1.1\nHost: h\nX: 1\nVia: 1.1 attache\n\n"),
        ("GET http://h:8080/ HTTP/1.1\nHost: h\n\n", "GET / HTTP/1.1\nHost: h:8080\nVia: 1.1 attache\n\n"),
        ("GET http://h?q HTTP/1.1\nHost: h\n\n", "GET /?q HTTP/1.1\nHost: h\nVia: 1.1 attache\n\n"),
        ("GET http://h/ HTTP/1.0\n\n", "GET / HTTP/1.1\nHost: h\nVia: 1.0 attache\n\n"),
        ("GET /a HTTP/1.2\nHost: h\n\n", "GET /a HTTP/1.1\nHost: h\nVia: 1.1 attache\n\n"),
        // Hop-by-hop fields go, by list and by Connection option.
        (
            "GET http://h/ HTTP/1.1\nHost: h\nConnection: Keep-Alive, TE, x-hop\nTE: trailers\nX-Hop: 1\nX: 1\n"
                + "Keep-Alive: 300\nx-hop: 2\nProxy-Connection: keep-alive\nProxy-Authorization: Basic x\nY: 2\n"
                + "Upgrade: h2c\n\n",
            "GET / HTTP/1.1\nHost: h\nX: 1\nY: 2\nVia: 1.1 attache\n\n"
        ),
        // Fields that are not named stay, even similar ones; Trailer is kept for the chunks that are relayed.
        (
            "POST http://h/ HTTP/1.1\nHost: h\nTransfer-Encoding: \t CHUNKED \nConnection: transfer-encoding\n"
                + "Trailer: X\nVia: 1.0 fred\nAuthorization: Basic x\nExpect: 100-continue\n\n",
            "POST / HTTP/1.1\nHost: h\nTrailer: X\nVia: 1.0 fred\n"
                + "Authorization: Basic x\nExpect: 100-continue\nVia: 1.1 attache\nTransfer-Encoding: chunked\n\n"
        ),
        // An expectation of HTTP/1.0 is not made one of HTTP/1.1.
        (
            "POST http://h/ HTTP/1.0\nExpect: 100-continue\nContent-Length: 1\n\n",
            "POST / HTTP/1.1\nHost: h\nContent-Length: 1\nVia: 1.0 attache\n\n"
        ),
        // Some programs take leading zeros for an octal number.
        (
            "POST http://h/ HTTP/1.1\nHost: h\nContent-Length: 0010\nX: 1\n\n",
            "POST / HTTP/1.1\nHost: h\nX: 1\nVia: 1.1 attache\nContent-Length: 10\n\n"
        ),
        // Max-Forwards counts down for OPTIONS and TRACE alone.
        (
            "OPTIONS http://h HTTP/1.1\nHost: h\nMax-Forwards: 3\nX: 1\n\n",
            "OPTIONS * HTTP/1.1\nHost: h\nX: 1\nVia: 1.1 attache\nMax-Forwards: 2\n\n"
        ),
        (
            "GET http://h/ HTTP/1.1\nHost: h\nMax-Forwards: 3\n\n",
            "GET / HTTP/1.1\nHost: h\nMax-Forwards: 3\nVia: 1.1 attache\n\n"
        ),
        ("CONNECT h:443 HTTP/1.1\nHost: h\n\n", "CONNECT h:443 HTTP/1.1\nHost: h:443\nVia: 1.1 attache\n\n"),
        ("CONNECT h:443 HTTP/1.1\nHost: proxy:1\n\n", "CONNECT h:443 HTTP/1.1\nHost: h:443\nVia: 1.1 attache\n\n"),
    ])
    func `a request goes on as an intermediary sends it`(received: String, sent: String) throws {
        #expect(try rewritten(received) == sent)
    }

    @Test func `a port that Host leaves out is written, for the origin and for a parent`() throws {
        let bytes = crlf("GET /p HTTP/1.1\nX: 1\nHost: h\n\n")
        for (form, expected) in [
            (RequestRewrite.Form.origin, "GET /p HTTP/1.1\nHost: h:8443\nX: 1\nVia: 1.1 attache\n\n"),
            (.absolute(.http), "GET http://h:8443/p HTTP/1.1\nHost: h:8443\nX: 1\nVia: 1.1 attache\n\n"),
        ] {
            let head = RequestHead()
            #expect(head.outcome(bytes) == .complete(length: bytes.count))
            head.assume(port: 8443)
            var rewrite = RequestRewrite()
            rewrite.form = form
            let buffer = ByteBuffer(capacity: 64)
            head.write(bytes.span, as: rewrite, via: .test, into: buffer).end()
            #expect(buffer.readable.text.replacing("\r\n", with: "\n") == expected)
        }
    }

    @Test func `a rewrite changes what it says`() throws {
        let post =
            "POST http://h/p HTTP/1.1\nHost: h\nContent-Length: 5\nAuthorization: Basic x\nExpect: 100-continue\n\n"
        #expect(
            try rewritten(post) {
                $0.body = .empty
                $0.expectation = .dropped
                $0.dropping = [FieldSet(.authorization)]
                $0.connection = .close
            } == "POST /p HTTP/1.1\nHost: h\nVia: 1.1 attache\nContent-Length: 0\nConnection: close\n\n")
        #expect(
            try rewritten(post) {
                $0.body = .chunked
                $0.expectation = .added
                $0.form = .absolute(.http)
            } == "POST http://h/p HTTP/1.1\nHost: h\nAuthorization: Basic x\nVia: 1.1 attache\n"
                + "Transfer-Encoding: chunked\nExpect: 100-continue\n\n")
        #expect(
            try rewritten("GET /p HTTP/1.1\nHost: h:1\n\n") { $0.form = .absolute(.https) }
                == "GET https://h:1/p HTTP/1.1\nHost: h:1\nVia: 1.1 attache\n\n")
        #expect(
            try rewritten("OPTIONS * HTTP/1.1\nHost: h\n\n") { $0.form = .absolute(.http) }
                == "OPTIONS http://h HTTP/1.1\nHost: h\nVia: 1.1 attache\n\n")
        #expect(
            try rewritten("GET http://h/ HTTP/1.1\nHost: h\nConnection: upgrade, x\nX: 1\nUpgrade: websocket\n\n") {
                $0.connection = .upgrade
            } == "GET / HTTP/1.1\nHost: h\nUpgrade: websocket\nVia: 1.1 attache\nConnection: Upgrade\n\n")
    }

    @Test func `the caller adds its own fields before the end`() throws {
        let bytes = crlf("GET http://h/ HTTP/1.1\nHost: h\n\n")
        let head = RequestHead()
        #expect(head.outcome(bytes) == .complete(length: bytes.count))
        let buffer = ByteBuffer(capacity: 64)
        let writer = head.write(bytes.span, as: RequestRewrite(), via: .test, into: buffer)
        writer.field("Authorization", "Digest a=\"b\"\r\nX: injected" as String)
        writer.field("X-Count", decimal: 7)
        writer.end()
        let sent =
            "GET / HTTP/1.1\r\nHost: h\r\nVia: 1.1 attache\r\nAuthorization: Digest a=\"b\"  X: injected\r\nX-Count: 7\r\n\r\n"
        #expect(buffer.readable.text == sent)
    }

    @Test(arguments: [
        (
            "HTTP/1.1 200 OK\nServer: x\nContent-Length: 3\nConnection: keep-alive, x-hop\nX-Hop: 1\nDate: d\n\n",
            "HTTP/1.1 200 OK\nServer: x\nContent-Length: 3\nDate: d\nVia: 1.1 attache\n\n"
        ),
        ("HTTP/1.0 200 OK\nServer: x\n\n", "HTTP/1.1 200 OK\nServer: x\nVia: 1.0 attache\n\n"),
        ("HTTP/1.1 200\n\n", "HTTP/1.1 200 \nVia: 1.1 attache\n\n"),
        ("HTTP/1.1 404 Not There\n\n", "HTTP/1.1 404 Not There\nVia: 1.1 attache\n\n"),
        ("HTTP/1.1 204 \nContent-Length: 3\nX: 1\n\n", "HTTP/1.1 204 \nX: 1\nVia: 1.1 attache\n\n"),
        (
            "HTTP/1.1 304 N\nContent-Length: 3\nX: 1\n\n",
            "HTTP/1.1 304 N\nContent-Length: 3\nX: 1\nVia: 1.1 attache\n\n"
        ),
        (
            "HTTP/1.1 200 OK\nContent-Length: 3\nX: 1\nContent-Length: 3\n\n",
            "HTTP/1.1 200 OK\nX: 1\nContent-Length: 3\nVia: 1.1 attache\n\n"
        ),
        (
            "HTTP/1.1 200 OK\nContent-Length: 3, 3 ,3\nX: 1\n\n",
            "HTTP/1.1 200 OK\nX: 1\nContent-Length: 3\nVia: 1.1 attache\n\n"
        ),
        (
            "HTTP/1.1 200 OK\nContent-Length: 010\nX: 1\n\n",
            "HTTP/1.1 200 OK\nX: 1\nContent-Length: 10\nVia: 1.1 attache\n\n"
        ),
        (
            "HTTP/1.1 200 OK\nTransfer-Encoding: Chunked\nX: 1\n\n",
            "HTTP/1.1 200 OK\nX: 1\nTransfer-Encoding: chunked\nVia: 1.1 attache\n\n"
        ),
        (
            "HTTP/1.1 200 OK\nTransfer-Encoding:\nX: 1\nTransfer-Encoding: ,chunked, ,\n\n",
            "HTTP/1.1 200 OK\nX: 1\nTransfer-Encoding: chunked\nVia: 1.1 attache\n\n"
        ),
        (
            "HTTP/1.1 200 OK\nTransfer-Encoding: identity\nX: 1\n\n",
            "HTTP/1.1 200 OK\nX: 1\nVia: 1.1 attache\n\n"
        ),
        (
            "HTTP/1.1 200 OK\nTransfer-Encoding: identity\nContent-Length: 3\nX: 1\n\n",
            "HTTP/1.1 200 OK\nContent-Length: 3\nX: 1\nVia: 1.1 attache\n\n"
        ),
        (
            "HTTP/1.1 304 N\nTransfer-Encoding: chunked,\nX: 1\n\n",
            "HTTP/1.1 304 N\nX: 1\nTransfer-Encoding: chunked\nVia: 1.1 attache\n\n"
        ),
        (
            "HTTP/1.1 407 P\nProxy-Authenticate: Basic\nProxy-Authentication-Info: x\nUpgrade: h2\nContent-Length: 0\n"
                + "Connection: content-length, upgrade\n\n",
            "HTTP/1.1 407 P\nContent-Length: 0\nVia: 1.1 attache\n\n"
        ),
    ])
    func `a response comes back as an intermediary sends it`(received: String, sent: String) throws {
        #expect(try rewritten(response: received) == sent)
    }

    @Test func `a response's framing is what the rewrite says`() throws {
        let chunked = "HTTP/1.1 200 OK\nTransfer-Encoding: chunked\nContent-Encoding: gzip\nX: 1\n\n"
        #expect(
            try rewritten(response: chunked) {
                $0.body = .untilClose
                $0.connection = .close
            } == "HTTP/1.1 200 OK\nContent-Encoding: gzip\nX: 1\nVia: 1.1 attache\nConnection: close\n\n")
        #expect(
            try rewritten(response: "HTTP/1.1 200 OK\nContent-Length: 9\nContent-Encoding: gzip\nX: 1\n\n") {
                $0.body = .chunked
                $0.dropping = [FieldSet(.contentEncoding)]
            } == "HTTP/1.1 200 OK\nX: 1\nVia: 1.1 attache\nTransfer-Encoding: chunked\n\n")
        #expect(
            try rewritten(response: "HTTP/1.1 200 OK\nX: 1\n\n") {
                $0.body = .length(7)
                $0.connection = .keepAlive
            } == "HTTP/1.1 200 OK\nX: 1\nVia: 1.1 attache\nContent-Length: 7\nConnection: keep-alive\n\n")
        #expect(
            try rewritten(response: "HTTP/1.1 103 E\nLink: x\n\n") { $0.body = .chunked }
                == "HTTP/1.1 103 E\nLink: x\nVia: 1.1 attache\n\n")
        #expect(
            try rewritten(response: "HTTP/1.1 101 S\nUpgrade: websocket\nConnection: Upgrade\n\n") {
                $0.connection = .upgrade
            } == "HTTP/1.1 101 S\nUpgrade: websocket\nVia: 1.1 attache\nConnection: Upgrade\n\n")
    }

    @Test func `a response of our own is a status line and what the caller adds`() {
        let buffer = ByteBuffer(capacity: 64)
        let writer = HeadWriter(status: .proxyAuthenticationRequired, into: buffer)
        writer.field("Content-Length", decimal: 0)
        writer.end()
        #expect(buffer.readable.text == "HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n")
        #expect(ResponseHead().outcome(buffer.readable.array) == .complete(length: buffer.count))
    }
}
