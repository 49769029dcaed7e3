import CNghttp2
import HTTP
import TestSupport
import Testing

@testable import HTTP2

/// The ends of a stream to a server and of its connection, as the owner sees them.
struct StreamEndTests {
    private static let second: UInt64 = 1_000_000_000

    @Test func `GOAWAY lets the streams up to its number go on, and the others were not processed`() throws {
        let server = try TestServer()
        let streams = (0..<3).map { _ in server.request(TestServer.post) }
        server.goAway(1)
        #expect(streams.map(\.failure) == [nil, .unprocessed, .unprocessed])
        #expect(server.client.takeChanged().count == 2)
        #expect(server.client.isRetired)
        #expect(!server.client.isOver)
        server.headers(1, [(":status", "200")])
        #expect(streams[0].readAll() == "HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n")
        let late = server.client.open(scheme: .https)
        #expect(late.writeAll(TestServer.get) == .lost)
        #expect(late.failure == .unprocessed)
    }

    @Test func `GOAWAY that announces another one retires the connection, and fails no stream`() throws {
        let server = try TestServer()
        let stream = server.request()
        server.goAway(0x7FFF_FFFF)
        #expect(server.client.isRetired)
        #expect(stream.failure == nil)
        server.goAway(1)
        server.headers(1)
        #expect(stream.failure == nil)
        #expect(server.client.isOver)
    }

    @Test func `a request that was not sent before GOAWAY was not processed`() throws {
        let server = try TestServer()
        let stream = server.client.open(scheme: .https)
        stream.writeAll(TestServer.post)
        server.goAway(0x7FFF_FFFF)
        #expect(stream.failure == .unprocessed)
        #expect(server.frames(of: 1).isEmpty)
    }

    @Test func `a refused stream was not processed, and the limit falls for a second`() throws {
        let server = try TestServer()
        let streams = (0..<3).map { _ in server.request() }
        server.reset(5, 7)
        #expect(streams[2].failure == .unprocessed)
        #expect(!server.client.isRetired)
        #expect(server.client.limit(at: server.now) == 2)
        #expect(server.client.limit(at: server.now + Self.second - 1) == 2)
        #expect(server.client.limit(at: server.now + Self.second) == 100)
    }

    @Test func `a stream that is refused behind its head is reset`() throws {
        let server = try TestServer()
        let stream = server.request()
        server.headers(1, ends: false)
        server.reset(1, 7)
        #expect(stream.failure == .reset(7))
    }

    @Test func `a server may ask for HTTP 1.1, for a stream or for all`() throws {
        let server = try TestServer()
        let streams = (0..<2).map { _ in server.request() }
        server.reset(1, 13)
        #expect(streams[0].failure == .requiresHTTP11)
        #expect(!server.client.requiresHTTP11)
        server.goAway(0, 13)
        #expect(streams[1].failure == .requiresHTTP11)
        #expect(server.client.requiresHTTP11)
    }

    @Test(arguments: [false, true])
    func `another code is the failure, before the head and behind it`(hasHead: Bool) throws {
        for code: UInt32 in [0, 1, 2, 8, 11, 99] {
            let server = try TestServer()
            let stream = server.request()
            if hasHead { server.headers(1, ends: false) }
            server.reset(1, code)
            #expect(stream.failure == .reset(code))
            #expect(stream.isReadable)
            #expect(stream.isAtEnd)
            #expect(stream.readMovement() == .lost)
            #expect(server.client.takeChanged().contains { $0 === stream })
        }
    }

    @Test func `a stream that the library resets is not one that the server has reset`() throws {
        let server = try TestServer()
        let stream = server.request()
        server.headers(1, [(":status", "200"), ("content-length", "5")], ends: false)
        server.data(1, "123", ends: true)
        #expect(stream.failure == .violated(1))
        #expect(server.resetCode(of: 1) == 1)
    }

    @Test(arguments: [
        (0, 2, 2), (1, 2, 2), (2, 2, 2), (5, 2, 2), (7, 2, 2), (8, 8, 8), (11, 2, 11), (12, 2, 12), (13, 2, 2),
        (99, 2, 2),
    ])
    func `a client gets an error of the same class`(code: UInt32, plain: UInt32, call: UInt32) throws {
        #expect(StreamError(passing: code, toCall: false).rawValue == plain)
        #expect(StreamError(passing: code, toCall: true).rawValue == call)
        // The first error counts, also if the stream is closed as a fault behind it.
        let client = try TestClient()
        client.headers(1)
        let stream = try #require(client.server.takeChanged().first)
        stream.refuse(with: StreamError(passing: code, toCall: true))
        stream.release(asFault: true)
        client.take()
        #expect(client.frames(of: 1).map(\.code) == [call])
    }

    @Test func `a whole response before the whole request is read, and the rest of the request dropped`() throws {
        let server = try TestServer()
        let stream = server.request(TestServer.post + "1\r\nx\r\n")
        server.headers(1, [(":status", "413"), ("content-length", "2")], ends: false)
        server.data(1, "no", ends: true)
        #expect(stream.writeAll("1\r\ny\r\n") == .moved(6))
        server.reset(1, 0)
        #expect(stream.writeAll("1\r\nz\r\n") == .lost)
        #expect(stream.isWritable)
        #expect(stream.failure == nil)
        #expect(stream.readAll() == "HTTP/1.1 413 Content Too Large\r\ncontent-length: 2\r\n\r\nno")
        #expect(stream.readMovement() == .end)
    }

    @Test func `a writer that waits is woken by the end of its stream`() throws {
        let server = try TestServer()
        let stream = server.request("POST / HTTP/1.1\r\nHost: a.test\r\nContent-Length: 200000\r\n\r\n")
        let piece = String(repeating: "x", count: 10_000)
        while case .moved = stream.writeAll(piece) { server.take() }
        #expect(!stream.isWritable)
        server.headers(1)
        server.reset(1, 0)
        #expect(stream.isWritable)
        #expect(stream.failure == nil)
    }

    // MARK: - Loss

    @Test func `a request is processed or not by whether its HEADERS have left`() throws {
        let server = try TestServer()
        let sent = server.request()
        let whole = server.request()
        server.headers(3, [(":status", "200"), ("content-length", "2")], ends: false)
        server.data(3, "ok", ends: true)
        let written = server.client.open(scheme: .https)
        written.writeAll(TestServer.get)
        let opened = server.client.open(scheme: .https)
        server.client.lose()
        #expect(sent.failure == .lost)
        #expect(whole.failure == nil)
        #expect(written.failure == .unprocessed)
        #expect(opened.failure == .unprocessed)
        #expect(whole.readAll().hasSuffix("\r\n\r\nok"))
        #expect(server.client.takeChanged().count == 4)
        #expect(server.client.running == 0)
        #expect(server.client.isRetired)
    }

    @Test func `a request behind the server's limit waits, and was not processed if the connection is lost`() throws {
        let server = try TestServer(settings: [(3, 1)])
        #expect(server.client.limit(at: server.now) == 1)
        _ = server.request()
        let second = server.request()
        let third = server.request()
        #expect(server.frames(of: 3).isEmpty)
        second.release(asFault: false)
        #expect(server.client.running == 2)
        server.headers(1)
        #expect(server.frames(of: 3).isEmpty)
        #expect(server.frames(of: 5).map(\.type) == [1])
        let fourth = server.request()
        server.client.lose()
        #expect(third.failure == .lost)
        #expect(fourth.failure == .unprocessed)
    }

    @Test func `a server that does not end a whole response keeps no request from its connection`() throws {
        let server = try TestServer(settings: [(3, 2)])
        func serve(_ number: UInt32) {
            let stream = server.request()
            server.headers(number, [(":status", "200"), ("content-length", "2")], ends: false)
            server.data(number, "ok")
            #expect(stream.readAll().hasSuffix("ok"))
            stream.release(asFault: false)
            server.take()
        }
        serve(1)
        serve(3)
        #expect(server.client.running == 2)
        #expect(server.client.busy == 0)
        #expect(server.resetCode(of: 1) == nil)
        serve(5)
        #expect(server.resetCode(of: 1) == 0)
        #expect(server.resetCode(of: 3) == nil)
        // The server may still end it.
        server.data(5, "", ends: true)
        #expect(server.client.running == 1)
        server.client.endLeftovers(olderThan: 1, at: server.now)
        server.take()
        #expect(server.resetCode(of: 3) == nil)
        server.client.endLeftovers(olderThan: 1, at: server.now + 1)
        server.take()
        #expect(server.resetCode(of: 3) == 0)
        #expect(server.client.running == 0)
        #expect(!server.client.hasLeftovers)
    }

    @Test func `requests that wait for the server's limit come before the ends of others`() throws {
        let server = try TestServer(settings: [(3, 1)])
        let streams = (0..<2).map { _ in server.request() }
        server.headers(1, [(":status", "200"), ("content-length", "0")], ends: false)
        streams[0].release(asFault: false)
        server.take()
        #expect(server.resetCode(of: 1) == 0)
        #expect(server.frames(of: 3).map(\.type) == [1])
    }

    // MARK: - Content behind the response

    private static let upload = "POST / HTTP/1.1\r\nHost: a.test\r\nContent-Length: 20\r\n\r\n" + "01234567890123456789"

    @Test(arguments: [true, false])
    func `content is sent to its end when the exchange is over`(endsStream: Bool) throws {
        let budget = WindowBudget(limit: 10)
        let server = try TestServer(settings: [(4, 10)], windows: budget)
        let stream = server.request(Self.upload)
        #expect(server.content(of: 1) == "0123456789")
        server.headers(1, [(":status", "200"), ("content-length", "0")], ends: endsStream)
        stream.release(asFault: false)
        server.take()
        #expect(server.client.busy == 1)
        #expect(budget.take(upTo: 1) == 0)
        server.grant(1, 10)
        #expect(server.content(of: 1) == "01234567890123456789")
        #expect(server.frames(of: 1).last?.endsStream == true)
        if !endsStream { server.data(1, "", ends: true) }
        #expect(server.resetCode(of: 1) == nil)
        #expect(server.client.running == 0)
        #expect(!server.client.hasLeftovers)
        #expect(budget.take(upTo: 11) == 10)
    }

    @Test func `content that waits gives its place to a request that needs it`() throws {
        let server = try TestServer(settings: [(3, 1), (4, 10)])
        let stream = server.request(Self.upload)
        server.headers(1)
        stream.release(asFault: false)
        server.take()
        #expect(server.client.busy == 1)
        #expect(server.client.endLeftover())
        #expect(!server.client.endLeftover())
        #expect(server.client.busy == 0)
        _ = server.request()
        #expect(server.resetCode(of: 1) == 0)
        #expect(server.content(of: 1) == "0123456789")
        let last = server.frames.suffix(2).map { ($0.type, $0.stream) }
        #expect(last.map(\.0) == [3, 1] && last.map(\.1) == [1, 3])
    }

    @Test func `content for which the loop has no room is dropped with the exchange`() throws {
        let budget = WindowBudget(limit: 9)
        let server = try TestServer(settings: [(4, 10)], windows: budget)
        let stream = server.request(Self.upload)
        server.headers(1)
        stream.release(asFault: false)
        server.take()
        #expect(server.resetCode(of: 1) == 0)
        #expect(budget.take(upTo: 10) == 9)
    }

    @Test func `content that the server does not take is dropped after a time`() throws {
        let server = try TestServer(settings: [(4, 10)])
        let stream = server.request(Self.upload)
        server.headers(1)
        stream.release(asFault: false)
        server.client.endLeftovers(olderThan: 5, at: server.now + 5)
        server.take()
        #expect(server.resetCode(of: 1) == 0)
        #expect(server.client.running == 0)
    }

    @Test(arguments: [0, 8] as [UInt32])
    func `a client that stops its request behind the response has left`(code: UInt32) throws {
        let client = try TestClient()
        client.headers(1, [(":method", "POST")] + TestClient.get.dropFirst(), ends: false)
        let stream = try #require(client.server.takeChanged().first)
        stream.writeAll("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
        client.take()
        #expect(client.frames(of: 1).last?.endsStream == true)
        client.reset(1, code)
        #expect(stream.isLost)
    }

    // MARK: - Release

    @Test func `a stream that is whole is closed without a word`() throws {
        let server = try TestServer()
        let stream = server.request()
        server.headers(1)
        stream.release(asFault: false)
        server.take()
        #expect(server.resetCode(of: 1) == nil)
    }

    @Test func `a stream that is not whole is reset, by what is missing`() throws {
        let server = try TestServer()
        let request = server.request(TestServer.post)
        server.headers(1)
        request.release(asFault: false)
        let response = server.request()
        response.release(asFault: false)
        let faulty = server.request(TestServer.post)
        server.headers(5)
        faulty.release(asFault: true)
        server.take()
        #expect(server.resetCode(of: 1) == 0)
        #expect(server.resetCode(of: 3) == 8)
        #expect(server.resetCode(of: 5) == 8)
        #expect(server.client.running == 0)
    }

    @Test func `a stream that is closed before its HEADERS leave is never seen`() throws {
        let server = try TestServer()
        let opened = server.client.open(scheme: .https)
        let written = server.client.open(scheme: .https)
        written.writeAll(TestServer.post + "1\r\nx\r\n")
        opened.release(asFault: false)
        written.release(asFault: false)
        #expect(server.client.running == 0)
        server.take()
        #expect(server.frames.allSatisfy { $0.stream == 0 })
        _ = server.request()
        #expect(server.frames.contains { $0.stream == 3 && $0.type == 1 })
    }

    // MARK: - The connection

    @Test func `100 streams at once, unless the server wants less`() throws {
        let client = try ClientConnection()
        #expect(client.limit(at: 1) == 100)
        #expect(try TestServer().client.limit(at: 1) == 100)
        #expect(try TestServer(settings: [(3, 1000)]).client.limit(at: 1) == 100)
        #expect(try TestServer(settings: [(3, 10)]).client.limit(at: 1) == 10)
        #expect(try TestServer(settings: [(3, 0)]).client.limit(at: 1) == 0)
    }

    @Test func `a server may lower its limit below the number of streams that run`() throws {
        let server = try TestServer()
        let streams = (0..<2).map { _ in server.request() }
        server.send(Frame.bytes(4, 0, 0, [0, 3] + Frame.number(1)))
        #expect(server.client.limit(at: server.now) == 1)
        for (stream, id) in zip(streams, [1, 3] as [UInt32]) {
            server.headers(id)
            #expect(stream.readAll() == "HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n")
        }
    }

    @Test func `an acknowledgement or a response proves the handshake, and the server's SETTINGS do not`() throws {
        let server = try TestServer()
        _ = server.request()
        #expect(!server.client.isProven)
        server.send(Frame.bytes(4, 1, 0, []))
        #expect(server.client.isProven)
        let other = try TestServer()
        _ = other.request()
        other.headers(1, [(":status", "103")], ends: false)
        #expect(other.client.isProven)
    }

    @Test func `a PING waits for its answer`() throws {
        let server = try TestServer()
        #expect(server.client.lastFrame == server.now)
        server.now += 5
        server.client.ping(at: server.now)
        server.client.ping(at: server.now)
        server.take()
        let pings = server.frames.filter { $0.type == 6 }
        #expect(pings.map(\.flags) == [0])
        #expect(server.client.awaitsPing)
        #expect(server.client.lastFrame == server.now - 5)
        server.send(Frame.bytes(6, 1, 0, pings.first?.payload ?? []))
        #expect(!server.client.awaitsPing)
        #expect(server.client.lastFrame == server.now)
    }

    @Test func `a connection that is drained opens no more streams, and those that exist go on`() throws {
        let server = try TestServer()
        let stream = server.request()
        server.client.drain()
        server.take()
        #expect(server.frames.last { $0.type == 7 }?.code == 0)
        #expect(server.client.isRetired)
        #expect(!server.client.isOver)
        server.headers(1)
        #expect(stream.readAll() == "HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n")
        #expect(server.client.isOver)
    }

    @Test func `a connection that is ended says so`() throws {
        let server = try TestServer()
        server.client.end()
        #expect(server.client.isRetired)
        server.take()
        #expect(server.frames.last { $0.type == 7 }?.code == 0)
        #expect(server.client.isOver)
    }

    @Test func `a connection without numbers for streams is retired`() throws {
        let server = try TestServer()
        #expect(!server.client.isRetired)
        nghttp2_session_set_next_stream_id(server.client.session, (1 << 30) + 1)
        #expect(server.client.isRetired)
    }

    @Test func `pushed responses are refused, and end the connection`() throws {
        let server = try TestServer()
        #expect(server.frames.first?.type == 4)
        #expect(server.frames.first?.payload.starts(with: [0, 2, 0, 0, 0, 0]) == true)
        let stream = server.request()
        server.send(Frame.bytes(5, 4, 1, Frame.number(2) + Frame.block(TestClient.get)))
        #expect(server.client.hasFailed)
        #expect(server.client.isRetired)
        #expect(server.frames.last { $0.type == 7 }?.code == 1)
        server.client.lose()
        #expect(stream.failure == .lost)
    }

    @Test func `a server of HTTP 1.1 fails the connection`() throws {
        let server = try TestServer(settings: nil)
        let stream = server.request()
        server.send(Array("HTTP/1.1 400 Bad Request\r\n\r\n".utf8))
        #expect(server.client.isOver)
        #expect(server.client.isRetired)
        server.client.lose()
        #expect(stream.failure == .malformed(.noHTTP2))
    }
}
