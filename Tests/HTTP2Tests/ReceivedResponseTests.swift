import Bytes
import HTTP
import TestSupport
import Testing

@testable import HTTP2

/// The frames of servers become the text of responses.
struct ReceivedResponseTests {
    private static func request(_ method: String = "GET") throws -> (TestServer, ResponseStream) {
        let server = try TestServer()
        return (server, server.request("\(method) / HTTP/1.1\r\nHost: a.test\r\n\r\n"))
    }

    @Test(arguments: ["content-length", "x-other"])
    func `one read brings the head, its content and the end`(field: String) throws {
        let (server, stream) = try Self.request()
        server.headers(1, [(":status", "200"), (field, "5")], ends: false)
        server.data(1, "hello", ends: true)
        let buffer = ByteBuffer(capacity: 4096)
        _ = stream.read(into: buffer, limit: .max)
        let body = field == "x-other" ? "transfer-encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n" : "\r\nhello"
        #expect(String(decoding: buffer.readable.array, as: UTF8.self) == "HTTP/1.1 200 OK\r\n\(field): 5\r\n\(body)")
        #expect(stream.isAtEnd)
    }

    @Test(arguments: [1, 7, 100, 1023, 1024, 1025, 1500, 2000, 5000])
    func `reads of any size bring the same`(size: Int) throws {
        for length in [0, 1, 1000, 3000] {
            let (server, stream) = try Self.request()
            server.headers(1, [(":status", "200"), ("content-length", "\(length)")], ends: false)
            server.data(1, String(repeating: "x", count: length), ends: true)
            let text = ByteBuffer(capacity: 8192)
            var end = MultiplexedStream.Movement.moved(0)
            while case .moved = end {
                let buffer = ByteBuffer(capacity: size)
                end = stream.read(into: buffer, limit: size)
                #expect(end == .moved(buffer.count) || buffer.isEmpty && end == .end)
                #expect(buffer.count <= size)
                if case .moved(0) = end { break }
                text.append(buffer.readable)
            }
            #expect(end == .end)
            let whole =
                "HTTP/1.1 200 OK\r\ncontent-length: \(length)\r\n\r\n" + String(repeating: "x", count: length)
            #expect(String(decoding: text.readable.array, as: UTF8.self) == whole)
        }
    }

    @Test func `a response is the text of HTTP 1.1, and then the end`() throws {
        let (server, stream) = try Self.request()
        #expect(!stream.isReadable)
        server.headers(1, [(":status", "200"), ("server", "S"), ("content-length", "5")], ends: false)
        #expect(stream.readAll() == "HTTP/1.1 200 OK\r\nserver: S\r\ncontent-length: 5\r\n\r\n")
        #expect(stream.readMovement() == .wouldBlock)
        server.data(1, "hel")
        server.data(1, "lo", ends: true)
        #expect(!stream.isAtEnd)
        #expect(stream.readAll() == "hello")
        #expect(stream.isAtEnd)
        #expect(stream.isReadable)
        #expect(stream.readMovement() == .end)
        #expect(stream.failure == nil)
        #expect(stream.isOver)
        #expect(server.client.running == 0)
    }

    @Test func `a body without a length is chunked, with its trailers`() throws {
        let (server, stream) = try Self.request()
        server.headers(1, [(":status", "200")], ends: false)
        server.data(1, "hello")
        #expect(stream.readAll() == "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhello\r\n")
        server.headers(1, [("x-sum", "6")])
        #expect(stream.readAll() == "0\r\nx-sum: 6\r\n\r\n")
        #expect(stream.readMovement() == .end)
    }

    @Test func `the trailers of gRPC pass, though there is a length`() throws {
        let (server, stream) = try Self.request("POST")
        server.headers(
            1, [(":status", "200"), ("content-type", "Application/gRPC+proto"), ("content-length", "5")], ends: false)
        server.data(1, "hello")
        server.headers(1, [("grpc-status", "0")])
        #expect(
            stream.readAll()
                == "HTTP/1.1 200 OK\r\ncontent-type: Application/gRPC+proto\r\ntransfer-encoding: chunked\r\n"
                + "\r\n5\r\nhello\r\n0\r\ngrpc-status: 0\r\n\r\n")
    }

    @Test(
        arguments: [
            ("GET", "200 OK", [], "content-length: 0\r\n"),
            ("GET", "200 OK", [("content-length", "0")], "content-length: 0\r\n"),
            ("HEAD", "200 OK", [("content-length", "5")], "content-length: 5\r\n"), ("HEAD", "200 OK", [], ""),
            ("GET", "304 Not Modified", [("content-length", "5")], "content-length: 5\r\n"),
            ("GET", "204 No Content", [], ""),
        ] as [(String, String, FieldList, String)])
    func `a response without content`(method: String, status: String, fields: FieldList, framing: String) throws {
        for endsWithHead in [true, false] where endsWithHead || method != "GET" || status != "200 OK" {
            let (server, stream) = try Self.request(method)
            server.headers(1, [(":status", String(status.prefix(3)))] + fields, ends: endsWithHead)
            if !endsWithHead { server.data(1, "", ends: true) }
            #expect(stream.readAll() == "HTTP/1.1 \(status)\r\n\(framing)\r\n")
            #expect(stream.readMovement() == .end)
            #expect(stream.failure == nil)
        }
    }

    @Test func `interim responses come before the final one`() throws {
        let (server, stream) = try Self.request()
        server.headers(1, [(":status", "100")], ends: false)
        server.headers(1, [(":status", "103"), ("link", "</a>")], ends: false)
        server.headers(1, [(":status", "200"), ("content-length", "1")], ends: false)
        server.data(1, "y", ends: true)
        #expect(
            stream.readAll()
                == "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\nHTTP/1.1 200 OK\r\ncontent-length: 1\r\n\r\ny"
        )
    }

    @Test func `each cookie has its line, and blanks around a value are dropped`() throws {
        let (server, stream) = try Self.request()
        server.headers(1, [(":status", "200"), ("set-cookie", "a=1"), ("set-cookie", "b=2 "), ("x", "\ty z ")])
        #expect(
            stream.readAll()
                == "HTTP/1.1 200 OK\r\nset-cookie: a=1\r\nset-cookie: b=2\r\nx: y z\r\ncontent-length: 0\r\n\r\n")
    }

    @Test func `a head of 240 KiB is read`() throws {
        let (server, stream) = try Self.request()
        let value = String(repeating: "v", count: 60_000)
        server.headers(1, [(":status", "200")] + (0..<4).map { ("x-\($0)", value) })
        #expect(stream.failure == nil)
        #expect(stream.readAll().utf8.count > 240_000)
    }

    @Test func `limits of the head`() throws {
        let (server, stream) = try Self.request()
        let value = String(repeating: "v", count: 60_000)
        server.headers(1, [(":status", "200")] + (0..<5).map { ("x-\($0)", value) })
        #expect(stream.failure == .malformed(.headTooLarge(limit: Limits.response.head)))
        #expect(server.resetCode(of: 1) == 1)
        #expect(server.client.excess == nil)
        let (other, many) = try Self.request()
        other.headers(1, [(":status", "200")] + (0..<257).map { ("x-\($0)", "y") })
        #expect(many.failure == .malformed(.tooManyFields(limit: 256)))
        #expect(many.readMovement() == .lost)
    }

    // MARK: - Responses that could be read in two ways

    struct Attack: Sendable, CustomTestStringConvertible {
        let testDescription: String
        var method = "GET"
        let frames: [UInt8]

        init(_ name: String, method: String = "GET", _ frames: [UInt8]...) {
            testDescription = name
            self.method = method
            self.frames = frames.flatMap(\.self)
        }
    }

    private static func head(_ more: FieldList, ends: Bool = true) -> [UInt8] {
        Frame.headers(1, [(":status", "200")] + more, ends: ends)
    }

    static let attacks: [Attack] = [
        Attack("no status", Frame.headers(1, [("x", "y")])),
        Attack("an empty section", Frame.headers(1, [])),
        Attack("two statuses", head([(":status", "200")])),
        Attack("a status behind a field", Frame.headers(1, [("x", "y"), (":status", "200")])),
        Attack("a pseudo-field of requests", head([(":path", "/")])),
        Attack("a status of two digits", Frame.headers(1, [(":status", "20")])),
        Attack("a status of four digits", Frame.headers(1, [(":status", "2000")])),
        Attack("a status with a sign", Frame.headers(1, [(":status", "+20")])),
        Attack("a status with a line", Frame.headers(1, [(":status", "200\r\nx: y")])),
        Attack("an empty status", Frame.headers(1, [(":status", "")])),
        Attack("status 101", Frame.headers(1, [(":status", "101"), ("x", "y")], ends: false)),
        Attack("status 099", Frame.headers(1, [(":status", "099")])),
        Attack("status 600", Frame.headers(1, [(":status", "600")])),
        Attack("CRLF in a value", head([("x", "a\r\nset-cookie: b")])),
        Attack("LF in a value", head([("x", "a\nb: c")])),
        Attack("CR in a value", head([("x", "a\rb")])),
        Attack("NUL in a value", head([("x", "a\0b")])),
        Attack("CRLF in a name", head([("x\r\ny", "z")])),
        Attack("a colon in a name", head([("x:", "y")])),
        Attack("a blank in a name", head([("x ", "y")])),
        Attack("a capital in a name", head([("X", "y")])),
        Attack("an empty name", head([("", "y")])),
        Attack("a name that is not ASCII", head([("x\u{E4}", "y")])),
        Attack("connection", head([("connection", "close")])),
        Attack("keep-alive", head([("keep-alive", "5")])),
        Attack("upgrade", head([("upgrade", "h2c")])),
        Attack("transfer-encoding", head([("transfer-encoding", "chunked")], ends: false), Frame.data(1, "0\r\n\r\n")),
        Attack("two lengths", head([("content-length", "1"), ("content-length", "1")], ends: false)),
        Attack("a list of lengths", head([("content-length", "1, 1")], ends: false)),
        Attack("a length with a sign", head([("content-length", "+1")], ends: false)),
        Attack("a length that is too large", head([("content-length", "99999999999999999999")], ends: false)),
        Attack("a length and no content", head([("content-length", "5")])),
        Attack("an interim response that ends the stream", Frame.headers(1, [(":status", "103")])),
        Attack("content before a head", Frame.data(1, "x")),
        Attack(
            "content behind an interim response", Frame.headers(1, [(":status", "103")], ends: false),
            Frame.data(1, "x")),
        Attack("content in a response to HEAD", method: "HEAD", head([], ends: false), Frame.data(1, "x", ends: true)),
        Attack(
            "content in a 304", Frame.headers(1, [(":status", "304")], ends: false), Frame.data(1, "x", ends: true)),
        Attack(
            "content in a 204", Frame.headers(1, [(":status", "204")], ends: false), Frame.data(1, "x", ends: true)),
        Attack("more content than the length", head([("content-length", "2")], ends: false), Frame.data(1, "abc")),
        Attack(
            "less content than the length", head([("content-length", "5")], ends: false),
            Frame.data(1, "abc", ends: true)),
        Attack(
            "a status in trailers", head([], ends: false), Frame.data(1, "x"), Frame.headers(1, [(":status", "200")])),
        Attack(
            "trailers that do not end the stream", head([], ends: false), Frame.data(1, "x"),
            Frame.headers(1, [("x", "y")], ends: false)),
        Attack(
            "CRLF in a trailer", head([], ends: false), Frame.data(1, "x"), Frame.headers(1, [("x", "a\r\nb: c")])),
    ]

    /// Reads the text as a client would, and says whether it is a whole response.
    private static func isWhole(_ stream: ResponseStream, _ method: String) -> Bool {
        let text = Array(stream.readAll().utf8)
        guard stream.readMovement() == .end else { return false }
        let head = ResponseHead()
        guard case .complete(let length)? = try? head.parse(text.span, answering: Method(method.utf8Span.span)) else {
            return false
        }
        switch head.framing {
        case .none: return text.count == length
        case .length(let count): return text.count == length + count
        case .chunked:
            var decoder = ChunkedDecoder(fault: .upstream, limits: .response)
            let body = Array(text[length...])
            return (try? decoder.pass(body.span)) == body.count && decoder.isEnded
        case .untilClose: return true
        }
    }

    @Test(arguments: attacks)
    func `a response that could be read in two ways is never whole`(attack: Attack) throws {
        let (server, stream) = try Self.request(attack.method)
        server.send(attack.frames)
        #expect(!Self.isWhole(stream, attack.method))
        #expect(stream.isLost || server.client.isOver)
        #expect(server.resetCode(of: 1) == 1 || server.frames.contains { $0.type == 7 })
    }

    /// The control: what is like the attacks and harmless.
    @Test(arguments: [
        Attack("none", head([])), Attack("tab", head([("x", "a\tb")])), Attack("Latin 1", head([("x", "\u{E4}")])),
        Attack("length", head([("content-length", "3")], ends: false), Frame.data(1, "abc", ends: true)),
        Attack("trailers", head([], ends: false), Frame.data(1, "x"), Frame.headers(1, [("x", "y")])),
        Attack("HEAD", method: "HEAD", head([("content-length", "9")])),
        Attack("599", Frame.headers(1, [(":status", "599")])),
    ])
    func `a harmless response is whole`(control: Attack) throws {
        let (server, stream) = try Self.request(control.method)
        server.send(control.frames)
        #expect(Self.isWhole(stream, control.method))
        #expect(stream.failure == nil)
    }

    /// Checks each head without nghttp2: both fences must hold alone.
    @Test(
        arguments: [
            [("x", "y")], [(":status", "200"), (":status", "200")], [("x", "y"), (":status", "200")],
            [(":status", "200"), (":path", "/")], [(":status", "20")], [(":status", "2000")], [(":status", "+20")],
            [(":status", "200\r\nx: y")], [(":status", "")], [(":status", "101")], [(":status", "099")],
            [(":status", "600")], [(":status", "200"), ("x", "a\r\nb: c")], [(":status", "200"), ("x", "a\nb")],
            [(":status", "200"), ("x", "a\0b")], [(":status", "200"), ("x\r\ny", "z")],
            [(":status", "200"), ("x:", "y")],
            [(":status", "200"), ("X", "y")], [(":status", "200"), ("", "y")],
            [(":status", "200"), ("connection", "close")],
            [(":status", "200"), ("transfer-encoding", "chunked")], [(":status", "200"), ("upgrade", "h2c")],
            [(":status", "200"), ("content-length", "1"), ("content-length", "1")],
            [(":status", "200"), ("content-length", "1,1")], [(":status", "200"), ("content-length", "5")],
            [(":status", "103")],
        ] as [FieldList])
    func `the head is refused without the library too`(fields: FieldList) throws {
        let response = ReceivedResponse(limits: .response)
        for (name, value) in fields { response.add(name.utf8Span.span, value.utf8Span.span) }
        let text = ByteBuffer(capacity: 512)
        #expect(throws: Defect.self) { try response.write(to: text, answering: .get, endsWithHead: true) }
        #expect(text.isEmpty || fields.last?.0 == "content-length")
    }

    @Test(arguments: ["content-length", "transfer-encoding", "host", "set-cookie", "location"])
    func `a field that controls the message is refused in trailers`(name: String) throws {
        let (server, stream) = try Self.request()
        server.headers(1, ends: false)
        server.data(1, "x")
        server.headers(1, [(name, "5")])
        #expect(!Self.isWhole(stream, "GET"))
    }

    @Test func `trailers beyond the limit are refused`() throws {
        let (server, stream) = try Self.request()
        server.headers(1, ends: false)
        server.headers(1, (0..<20).map { ("x-\($0)", String(repeating: "y", count: 4000)) })
        #expect(!Self.isWhole(stream, "GET"))
    }

    /// A reader with little room is given text that was collected before, one with more room is given DATA at once.
    @Test(arguments: [64, 1023, 1024, 1044, 5000, 100_000], [true, false])
    func `a body is the same for a reader of any room`(room: Int, hasLength: Bool) throws {
        let (server, stream) = try Self.request()
        let content = Array((0..<9000).map { UInt8(ascii: "a") + UInt8($0 % 26) })
        let length = hasLength ? [("content-length", "\(content.count)")] : []
        server.headers(1, [(":status", "200")] + length, ends: false)
        server.data(1, String(decoding: content, as: UTF8.self), ends: true)
        var text: [UInt8] = []
        let buffer = ByteBuffer(capacity: 128 * 1024)
        while case .moved(let count) = stream.read(into: buffer, limit: room) {
            #expect((1...room).contains(count))
            #expect(buffer.count == count)
            text += buffer.readable.array
            buffer.clear()
        }
        let end = try #require(text.firstRange(of: "\r\n\r\n".utf8)?.upperBound)
        let body = ByteBuffer(capacity: 16 * 1024)
        if hasLength {
            body.append(text.span.extracting(droppingFirst: end))
        } else {
            var decoder = ChunkedDecoder(fault: .upstream, limits: .response)
            var offset = end
            while case .data(let range) = try decoder.next(text.span, from: offset) {
                body.append(text.span.extracting(range))
                offset = range.upperBound
            }
            #expect(decoder.isEnded)
        }
        #expect(body.readable.array == content)
        #expect(stream.readMovement() == .end)
    }

    // MARK: - Windows

    private static let kilobyte = String(repeating: "x", count: 1024)

    @Test func `a stream's window opens as the reader reads, by the bytes of DATA`() throws {
        let (server, stream) = try Self.request()
        server.headers(1, ends: false)
        for _ in 0..<40 { server.data(1, Self.kilobyte) }
        #expect(server.granted(to: 1) == 0)
        _ = stream.readAll()
        #expect(server.granted(to: 1) == 0)
        server.take()
        // More than half of the window was read.
        #expect(server.granted(to: 1) == 40 * 1024)
    }

    /// Sends content in batches that fit into the smallest window, and are read in several pieces.
    private static func download(_ kilobytes: Int, _ id: UInt32, from server: TestServer, _ stream: ResponseStream) {
        if !stream.state.isHeadComplete { server.headers(id, ends: false) }
        for _ in 0..<kilobytes / 32 {
            for _ in 0..<32 { server.data(id, Self.kilobyte) }
            _ = stream.readAll()
            server.take()
        }
    }

    /// The size of the window now: what it was, and what was granted beyond what came.
    private static func window(_ id: UInt32, after kilobytes: Int, on server: TestServer) -> Int {
        65_536 + Int(server.granted(to: id)) - kilobytes * 1024
    }

    @Test func `the window of a fast reader grows to 8 MiB`() throws {
        let (server, stream) = try Self.request()
        Self.download(384 * 32, 1, from: server, stream)
        #expect(stream.window == 8 << 20)
        #expect(!stream.isLost)
        // Half of the window at most waits for the next grant.
        #expect((4 << 20...8 << 20).contains(Self.window(1, after: 384 * 32, on: server)))
    }

    @Test func `windows grow as far as their loop allows, and a stream that is gone gives its part back`() throws {
        let windows = WindowBudget(limit: 3 * 65_536)
        let (first, second) = (try TestServer(windows: windows), try TestServer(windows: windows))
        var stream: ResponseStream? = first.request()
        if let stream { Self.download(960, 1, from: first, stream) }
        #expect(stream?.window == Int32(4 * 65_536))
        let other = second.request()
        Self.download(960, 1, from: second, other)
        #expect(other.window == 65_536)
        // The server has sent all, but the stream may still hold it.
        first.data(1, Self.kilobyte, ends: true)
        Self.download(960, 1, from: second, other)
        #expect(other.window == 65_536)
        stream?.release(asFault: false)
        stream = nil
        first.take()
        while first.client.nextChanged() != nil {}
        Self.download(960, 1, from: second, other)
        #expect(other.window == 4 * 65_536)
    }

    @Test func `a window grows by what its loop has left`() throws {
        let server = try TestServer(windows: WindowBudget(limit: 100_000))
        let stream = server.request()
        Self.download(64, 1, from: server, stream)
        #expect(stream.window == 65_536 + 100_000)
    }

    @Test func `padding is given back to both windows`() throws {
        let server = try TestServer { $0.window = 65_536 }
        let stream = server.request()
        server.headers(1, ends: false)
        let before = server.granted(to: 0)
        for _ in 0..<160 { server.send(Frame.bytes(0, 8, 1, [255] + [UInt8](repeating: 0, count: 255))) }
        #expect(server.granted(to: 1) >= 32_768)
        #expect(server.granted(to: 0) - before >= 32_768)
        #expect(!stream.isLost)
    }

    @Test func `a reader that does not read stops its stream, and not the connection`() throws {
        let server = try TestServer { $0.window = 65_536 }
        let slow = server.request()
        server.headers(1, ends: false)
        let before = server.granted(to: 0)
        for _ in 0..<64 { server.data(1, Self.kilobyte) }
        #expect(server.granted(to: 1) == 0)
        #expect(server.granted(to: 0) - before >= 32_768)
        let other = server.request()
        server.headers(3, [(":status", "200"), ("content-length", "5")], ends: false)
        server.data(3, "hello", ends: true)
        #expect(other.readAll().hasSuffix("\r\n\r\nhello"))
        // One more byte is beyond the window.
        server.data(1, "x")
        #expect(slow.failure == .violated(3) || server.client.isOver)
    }

    @Test func `the bytes of streams that are closed early are given back`() throws {
        let server = try TestServer { $0.window = 65_536 }
        let before = server.granted(to: 0)
        for number in 0..<200 {
            let id = UInt32(2 * number + 1)
            let stream = server.request()
            server.headers(id, ends: false)
            server.data(id, Self.kilobyte)
            switch number % 3 {
            // Closed with unread bytes.
            case 0: stream.release(asFault: false)
            // Reset by the server.
            case 1:
                server.reset(id)
                stream.release(asFault: false)
            // DATA comes when the stream is closed already.
            default:
                stream.release(asFault: false)
                server.take()
                server.data(id, Self.kilobyte)
            }
            server.take()
        }
        #expect(server.client.running == 0)
        #expect(server.granted(to: 0) - before + 65_536 >= 200 * 1024)
        #expect(!server.client.isOver)
    }
}
