import Bytes
import HTTP
import TestSupport
import Testing

@testable import HTTP2

/// Tunnels through a parent by CONNECT on streams (RFC 9113 section 8.5).
struct TunnelStreamTests {
    private static let connect =
        "CONNECT a.test:443 HTTP/1.1\r\nHost: a.test:443\r\nProxy-Authorization: Basic dTpw\r\nVia: 1.1 p\r\n\r\n"

    @Test func `a CONNECT has an authority, and neither scheme nor path`() throws {
        let server = try TestServer()
        _ = server.request(Self.connect)
        let frame = try #require(server.frames(of: 1).first)
        #expect(
            frame.fields == [
                ":method: CONNECT", ":authority: a.test:443", "proxy-authorization: Basic dTpw", "via: 1.1 p",
            ])
        #expect(frame.neverIndexed == ["proxy-authorization"])
        #expect(!frame.endsStream)
    }

    @Test func `bytes pass as they are, and each side ends alone`() throws {
        let server = try TestServer()
        let stream = server.request(Self.connect)
        server.headers(1, ends: false)
        #expect(stream.readAll() == "HTTP/1.1 200 OK\r\n\r\n")
        stream.writeAll("GET / HTTP/1.1\r\n\r\n0\r\n\r\n")
        server.take()
        server.data(1, "hello", ends: true)
        #expect(stream.readAll() == "hello")
        #expect(stream.isAtEnd && !stream.isLost)
        #expect(stream.read(into: .init(capacity: 1), limit: 1) == .end)
        stream.writeAll("last")
        stream.endOutput()
        server.take()
        #expect(server.content(of: 1) == "GET / HTTP/1.1\r\n\r\n0\r\n\r\nlast")
        #expect(server.frames(of: 1).last?.endsStream == true)
        stream.release(asFault: false)
        server.take()
        #expect(server.resetCode(of: 1) == nil)
        #expect(server.client.running == 0)
    }

    @Test func `what was written before the end is sent, though the tunnel is closed`() throws {
        let server = try TestServer()
        let stream = server.request(Self.connect)
        server.headers(1, ends: false)
        server.data(1, "", ends: true)
        stream.writeAll("last")
        stream.endOutput()
        stream.release(asFault: false)
        server.take()
        #expect(server.content(of: 1) == "last")
        #expect(server.frames(of: 1).last?.endsStream == true)
        #expect(server.resetCode(of: 1) == nil)
        #expect(server.client.running == 0)
    }

    @Test(arguments: [true, false])
    func `a tunnel that is closed early is reset`(isFault: Bool) throws {
        let server = try TestServer()
        let stream = server.request(Self.connect)
        server.headers(1, ends: false)
        stream.release(asFault: isFault)
        server.take()
        #expect(server.resetCode(of: 1) == 8)
    }

    @Test(arguments: [false, true])
    func `a reset ends both sides`(hasEnded: Bool) throws {
        let server = try TestServer()
        let stream = server.request(Self.connect)
        server.headers(1, ends: false)
        if hasEnded { server.data(1, "", ends: true) }
        server.reset(1, 10)
        #expect(stream.isLost)
        #expect(stream.failure == .reset(10))
        #expect(stream.writeAll("x") == .lost)
    }

    @Test(arguments: [false, true])
    func `a server that takes no more has ended its side in order`(hasEnded: Bool) throws {
        let server = try TestServer()
        let stream = server.request(Self.connect)
        server.headers(1, ends: false)
        server.send(Frame.data(1, "last", ends: hasEnded) + Frame.reset(1, 0))
        #expect(server.client.takeChanged().contains { $0 === stream })
        #expect(stream.readAll() == "HTTP/1.1 200 OK\r\n\r\nlast")
        #expect(stream.isAtEnd && !stream.isLost)
        #expect(stream.writeAll("x") == .lost)
    }

    /// The library refuses content behind a 204.
    @Test(arguments: ["200 OK", "201 Created", "299 "])
    func `any 2xx opens the tunnel`(status: String) throws {
        let server = try TestServer()
        let stream = server.request(Self.connect)
        server.headers(1, [(":status", String(status.prefix(3))), ("content-type", "a/b")], ends: false)
        server.data(1, "raw")
        #expect(stream.readAll() == "HTTP/1.1 \(status)\r\ncontent-type: a/b\r\n\r\nraw")
    }

    @Test func `a refusal has a body, and ends the request in order`() throws {
        let server = try TestServer()
        let stream = server.request(Self.connect)
        server.headers(1, [(":status", "407"), ("proxy-authenticate", "Basic realm=\"x\"")], ends: false)
        server.data(1, "log in", ends: true)
        #expect(
            stream.readAll()
                == "HTTP/1.1 407 Proxy Authentication Required\r\nproxy-authenticate: Basic realm=\"x\"\r\ntransfer-encoding: chunked\r\n\r\n"
                + "6\r\nlog in\r\n0\r\n\r\n")
        #expect(stream.isAtEnd && !stream.isLost)
        #expect(server.frames(of: 1).last?.endsStream == true)
        stream.release(asFault: false)
        server.take()
        #expect(server.resetCode(of: 1) == nil)
    }

    @Test func `more streams than a hundred are used only where the owner says so`() throws {
        for (most, stated, expected) in [(100, 5000, 100), (1000, 5000, 1000), (1000, 250, 250)] {
            let server = try TestServer(settings: [(3, UInt32(stated))]) { $0.streams = most }
            #expect(server.client.limit(at: server.now) == expected)
        }
    }
}
