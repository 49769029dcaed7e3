import Bytes
import HTTP
import TestSupport
import Testing

@testable import HTTP2

/// The text of requests becomes frames to a server.
struct SentRequestTests {
    private static func post(_ fields: String, _ body: String = "") -> String {
        "POST / HTTP/1.1\r\nHost: a.test\r\n\(fields)\r\n\(body)"
    }

    private static let pseudo = [":method: POST", ":scheme: https", ":authority: a.test", ":path: /"]

    @Test func `a request is HEADERS, without what belongs to a connection`() throws {
        let server = try TestServer()
        _ = server.request(
            "GET /a?b HTTP/1.1\r\nHost: a.test:8443\r\nUser-Agent: U\r\nConnection: keep-alive, X-Hop, TE\r\n"
                + "Keep-Alive: timeout=5\r\nProxy-Connection: keep-alive\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABk\r\n"
                + "X-Hop: 1\r\nTE: trailers\r\nX-Mixed: V w\r\n\r\n")
        #expect(
            server.frames(of: 1).first?.fields == [
                ":method: GET", ":scheme: https", ":authority: a.test:8443", ":path: /a?b", "user-agent: U",
                "te: trailers", "x-mixed: V w",
            ])
        #expect(server.frames(of: 1).map(\.endsStream) == [true])
    }

    @Test(arguments: ["gzip", "trailers, deflate", ""])
    func `TE is sent only if it is the word trailers`(value: String) throws {
        let server = try TestServer()
        _ = server.request("GET / HTTP/1.1\r\nHost: a.test\r\nTE: \(value)\r\nX: y\r\n\r\n")
        #expect(server.frames(of: 1).first?.fields.last == "x: y")
        #expect(server.frames(of: 1).first?.fields.contains { $0.hasPrefix("te:") } == false)
    }

    @Test(arguments: [
        ("OPTIONS * HTTP/1.1\r\nHost: a.test\r\n\r\n", "*"),
        ("GET http://a.test HTTP/1.1\r\nHost: a.test\r\n\r\n", "/"),
        ("GET http://a.test?q HTTP/1.1\r\nHost: a.test\r\n\r\n", "/?q"),
    ])
    func `the path is in origin form`(text: String, path: String) throws {
        let server = try TestServer()
        _ = server.request(text, scheme: .http)
        let fields = server.frames(of: 1).first?.fields
        #expect(fields?.dropFirst() == [":scheme: http", ":authority: a.test", ":path: \(path)"])
    }

    /// A parent by TLS is asked for servers without it (section 8.3.1).
    @Test(arguments: [("http", "http"), ("HTTP", "http"), ("https", "https")])
    func `an absolute URL has its own scheme and authority`(scheme: String, sent: String) throws {
        let server = try TestServer()
        _ = server.request("GET \(scheme)://b.test:81/p HTTP/1.1\r\nHost: a.test\r\n\r\n", scheme: .https)
        let fields = server.frames(of: 1).first?.fields
        #expect(fields == [":method: GET", ":scheme: \(sent)", ":authority: b.test:81", ":path: /p"])
    }

    @Test func `a chunked body is DATA, and its trailers HEADERS`() throws {
        let server = try TestServer()
        let stream = server.client.open(scheme: .https)
        let text = Self.post("Transfer-Encoding: chunked\r\n", "5;x=y\r\nhello\r\n1\r\n!\r\n0\r\nX-Sum: 6\r\n\r\n")
        for byte in text.utf8 {
            stream.writeAll(String(decoding: [byte], as: UTF8.self))
            server.take()
        }
        #expect(server.content(of: 1) == "hello!")
        #expect(server.frames(of: 1).filter { $0.type == 1 }.map(\.fields) == [Self.pseudo, ["x-sum: 6"]])
        #expect(server.frames(of: 1).last?.endsStream == true)
        #expect(server.frames(of: 1).dropLast().allSatisfy { !$0.endsStream })
    }

    @Test func `a body with a length is DATA, and the length stays`() throws {
        let server = try TestServer()
        let stream = server.request(Self.post("Content-Length: 5\r\n", "he"))
        #expect(server.frames(of: 1).last?.endsStream == false)
        stream.writeAll("llo")
        server.take()
        #expect(server.frames(of: 1).first?.fields == Self.pseudo + ["content-length: 5"])
        #expect(server.content(of: 1) == "hello")
        #expect(server.frames(of: 1).last?.endsStream == true)
    }

    @Test(arguments: ["Content-Length: 0\r\n", ""])
    func `a request without a body ends with its head`(field: String) throws {
        let server = try TestServer()
        _ = server.request(Self.post(field))
        #expect(server.frames(of: 1).map(\.type) == [1])
        #expect(server.frames(of: 1).last?.endsStream == true)
    }

    @Test func `an expectation passes, and the body waits for the writer`() throws {
        let server = try TestServer()
        let stream = server.request(Self.post("Expect: 100-continue\r\nContent-Length: 2\r\n"))
        #expect(server.frames(of: 1).first?.fields.contains("expect: 100-continue") == true)
        #expect(server.frames(of: 1).map(\.endsStream) == [false])
        server.headers(1, [(":status", "100")], ends: false)
        #expect(stream.readAll() == "HTTP/1.1 100 Continue\r\n\r\n")
        stream.writeAll("ok")
        server.take()
        #expect(server.content(of: 1) == "ok")
    }

    @Test func `no table of the connection keeps a credential`() throws {
        let server = try TestServer()
        let stream = server.client.open(scheme: .https)
        stream.secretNames = ["x-api-key"]
        stream.writeAll(
            "GET / HTTP/1.1\r\nHost: a.test\r\nAuthorization: Basic eHl6Onh5eg==\r\nCookie: a=b; c=d\r\n"
                + "Proxy-Authorization: Bearer t\r\nX-API-Key: k\r\nX-Other: o\r\n\r\n")
        server.take()
        #expect(
            server.frames(of: 1).first?.neverIndexed == ["authorization", "cookie", "proxy-authorization", "x-api-key"])
        #expect(server.frames(of: 1).first?.fields.last == "x-other: o")
    }

    @Test func `nothing is sent before the head is whole`() throws {
        let server = try TestServer()
        let stream = server.request("GET / HTTP/1.1\r\nHost: a.test\r\n")
        #expect(server.frames(of: 1).isEmpty)
        #expect(server.client.running == 1)
        stream.writeAll("\r\n")
        server.take()
        #expect(server.frames(of: 1).map(\.type) == [1])
        #expect(server.client.running == 1)
    }

    @Test(arguments: [
        "nonsense\r\n\r\n", "GET / HTTP/1.0\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: a.test\r\nX: a\u{1}b\r\n\r\n",
    ])
    func `a head that is no request is a fault of ours, and never sent`(text: String) throws {
        let server = try TestServer()
        let stream = server.client.open(scheme: .https)
        #expect(stream.writeAll(text) == .lost)
        server.take()
        #expect(stream.failure == .faultyRequest)
        #expect(server.frames(of: 1).isEmpty)
        #expect(server.client.takeChanged().contains { $0 === stream })
        stream.release(asFault: true)
        #expect(server.client.running == 0)
    }

    @Test(arguments: [
        post("Content-Length: 1\r\n", "xy"), post("Transfer-Encoding: chunked\r\n", "z\r\n"),
        post("Transfer-Encoding: chunked\r\n", "0\r\nContent-Length: 5\r\n\r\n"),
        TestServer.get + "GET /second HTTP/1.1\r\n",
    ])
    func `a body that is not what its head says resets the stream`(text: String) throws {
        let server = try TestServer()
        let stream = server.client.open(scheme: .https)
        #expect(stream.writeAll(text) == .lost)
        server.take()
        #expect(stream.failure == .faultyRequest)
        #expect(server.content(of: 1).isEmpty)
        #expect(server.frames(of: 1).allSatisfy { !$0.endsStream })
    }

    @Test func `a large head is sent whole`() throws {
        let server = try TestServer()
        let ticket = String(repeating: "t", count: 100_000)
        _ = server.request("GET / HTTP/1.1\r\nHost: a.test\r\nAuthorization: Negotiate \(ticket)\r\n\r\n")
        #expect(server.frames(of: 1).map(\.type).allSatisfy { $0 == 1 || $0 == 9 })
        #expect(server.frames(of: 1).reduce(0) { $0 + $1.payload.count } > 50_000)
        #expect(server.client.takeChanged().isEmpty)
    }

    @Test func `no more than 32 KiB of content wait, and the writer goes on at half`() throws {
        let server = try TestServer()
        let stream = server.request(Self.post("Content-Length: 200000\r\n"))
        let piece = ByteBuffer(capacity: 300_000)
        piece.append([UInt8](repeating: 0x61, count: 200_000))
        var written = 0
        while case .moved(let count) = stream.write(from: piece, limit: .max) {
            written += count
            server.take()
        }
        // The window of the server takes 65,535 bytes.
        #expect(written == 65_535 + 32 * 1024)
        #expect(!stream.isWritable)
        _ = server.client.takeChanged()
        server.grant(0, 200_000)
        server.grant(1, 10_000)
        #expect(!stream.isWritable)
        server.grant(1, 10_000)
        #expect(stream.isWritable)
        #expect(server.client.takeChanged().contains { $0 === stream })
    }

    @Test func `a stream whose window is closed does not stop the others`() throws {
        let server = try TestServer()
        server.grant(0, 1_000_000)
        let slow = server.request(Self.post("Content-Length: 200000\r\n"))
        let piece = ByteBuffer(capacity: 300_000)
        piece.append([UInt8](repeating: 0x61, count: 200_000))
        while case .moved = slow.write(from: piece, limit: .max) { server.take() }
        let other = server.request(Self.post("Content-Length: 5\r\n", "hello"))
        #expect(server.content(of: 3) == "hello")
        #expect(!other.isLost)
    }
}
