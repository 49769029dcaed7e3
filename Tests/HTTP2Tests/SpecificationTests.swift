import TestSupport
import Testing

@testable import HTTP2

/// The reactions that RFC 9113 and RFC 7541 demand, section by section, as h2spec checks them. Where the library reacts in
/// another way that the RFC allows or that its authors chose, the case says so.
struct SpecificationTests {
    enum Reaction: Equatable, Sendable {
        /// GOAWAY with that code.
        case connection(UInt32)
        /// RST_STREAM with that code.
        case stream(UInt32)
        /// The request on the stream 1 can be served.
        case served
        case nothing
    }

    struct Case: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let frames: [UInt8]
        let reaction: Reaction

        init(_ name: String, _ reaction: Reaction, _ frames: [UInt8]...) {
            testDescription = name
            self.frames = frames.flatMap(\.self)
            self.reaction = reaction
        }
    }

    private static let block = Frame.block(TestClient.get)
    private static let post = Frame.headers(1, TestClient.get, ends: false)
    private static let get = Frame.headers(1, TestClient.get)
    private static let zeros = [UInt8](repeating: 0, count: 20_000)

    private static func settings(_ name: UInt8, _ value: UInt32) -> [UInt8] {
        Frame.bytes(4, 0, 0, [0, name] + Frame.number(value))
    }

    /// HEADERS that end the stream and the section.
    private static func section(_ block: [UInt8], _ stream: UInt32 = 1) -> [UInt8] { Frame.bytes(1, 5, stream, block) }

    static let frames: [Case] = [
        Case("4.1 a frame of an unknown type", .served, Frame.bytes(0xFF, 0, 0, [1, 2]), get),
        Case("4.1 undefined flags", .served, Frame.bytes(6, 0xFE, 0, Array(zeros[..<8])), get),
        Case("4.1 the reserved bit", .served, Frame.bytes(6, 0, 0x8000_0000, Array(zeros[..<8])), get),
        Case("4.2 the largest frame", .served, post, Frame.bytes(0, 1, 1, Array(zeros[..<16_384]))),
        Case("4.2 DATA beyond the largest frame", .connection(6), post, Frame.bytes(0, 1, 1, Array(zeros[..<16_385]))),
        Case("4.2 HEADERS beyond the largest frame", .connection(6), Frame.bytes(1, 5, 1, Array(zeros[..<16_385]))),
        Case("4.3 a section that is no HPACK", .connection(9), section([0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF])),
        Case(
            "4.3 PRIORITY in a section", .connection(1), Frame.bytes(1, 1, 1, block),
            Frame.bytes(2, 0, 1, [0, 0, 0, 0, 1])),
        Case(
            "4.3 another stream's HEADERS in a section", .connection(1), Frame.bytes(1, 1, 1, block), section(block, 3)),
        Case("5.1 idle: DATA", .connection(1), Frame.data(1, "x")),
        Case("5.1 idle: RST_STREAM", .connection(1), Frame.reset(1)),
        Case("5.1 idle: WINDOW_UPDATE", .connection(1), Frame.grant(1, 1)),
        Case("5.1 idle: CONTINUATION", .connection(1), Frame.bytes(9, 4, 1, block)),
        // A stream error would do; the library ends the connection.
        Case("5.1 half-closed: DATA", .connection(5), get, Frame.data(1, "x")),
        Case("5.1 half-closed: HEADERS", .connection(5), get, get),
        Case("5.1 half-closed: CONTINUATION", .connection(1), get, Frame.bytes(9, 4, 1, block)),
        // The RFC asks for STREAM_CLOSED. The library keeps no closed streams here, and reads over such frames.
        Case("5.1 closed by RST_STREAM: DATA", .nothing, post, Frame.reset(1), Frame.data(1, "x")),
        Case("5.1 closed by RST_STREAM: HEADERS", .nothing, post, Frame.reset(1), get),
        Case(
            "5.1 closed by RST_STREAM: CONTINUATION", .connection(1), post, Frame.reset(1), Frame.bytes(9, 4, 1, block)),
        Case("5.1 closed: PRIORITY", .nothing, post, Frame.reset(1), Frame.bytes(2, 0, 1, [0, 0, 0, 0, 1])),
        Case("5.1.1 an even number", .connection(1), section(block, 2)),
        // The RFC asks for PROTOCOL_ERROR. The library takes the stream for a closed one (its issue 2278); the other is served.
        Case("5.1.1 a number below the last", .served, section(block, 5), section(block, 3)),
        Case(
            "5.5 an unknown frame in a section", .connection(1), Frame.bytes(1, 1, 1, block),
            Frame.bytes(0xFF, 0, 0, [1])),
        Case("6.1 DATA on the connection", .connection(1), Frame.data(0, "x")),
        Case("6.1 padding beyond the frame", .connection(1), post, Frame.bytes(0, 9, 1, [9, 1, 2])),
        Case("6.1 padded DATA", .served, post, Frame.bytes(0, 9, 1, [2, 1, 0, 0])),
        Case("6.2 HEADERS on the connection", .connection(1), Frame.bytes(1, 5, 0, block)),
        Case("6.2 padding beyond the frame", .connection(1), Frame.bytes(1, 13, 1, [200] + block)),
        Case("6.2 padded HEADERS", .served, Frame.bytes(1, 13, 1, [2] + block + [0, 0])),
        Case("6.2 HEADERS with a priority", .served, Frame.bytes(1, 0x25, 1, [0, 0, 0, 0, 1] + block)),
        // The RFC asks for PROTOCOL_ERROR. The library reads over priorities, since the settings say that none are used.
        Case("6.3 PRIORITY on the connection", .nothing, Frame.bytes(2, 0, 0, [0, 0, 0, 0, 1])),
        // A stream error would do.
        Case("6.3 PRIORITY of 4 bytes", .connection(6), post, Frame.bytes(2, 0, 1, [0, 0, 0, 1])),
        Case("6.4 RST_STREAM on the connection", .connection(1), Frame.reset(0)),
        Case("6.4 RST_STREAM of 3 bytes", .connection(6), post, Frame.bytes(3, 0, 1, [0, 0, 0])),
        Case("6.6 PUSH_PROMISE", .connection(1), Frame.bytes(5, 4, 1, Frame.number(2) + block)),
        Case("6.7 PING ACK", .nothing, Frame.bytes(6, 1, 0, Array(zeros[..<8]))),
        Case("6.7 PING on a stream", .connection(1), Frame.bytes(6, 0, 1, Array(zeros[..<8]))),
        Case("6.7 PING of 6 bytes", .connection(6), Frame.bytes(6, 0, 0, Array(zeros[..<6]))),
        Case("6.8 GOAWAY on a stream", .connection(1), Frame.bytes(7, 0, 1, Array(zeros[..<8]))),
        Case("7 GOAWAY with an unknown code", .nothing, Frame.bytes(7, 0, 0, Frame.number(0) + Frame.number(0xFF))),
        Case("7 RST_STREAM with an unknown code", .nothing, post, Frame.reset(1, 0xFF)),
    ]

    static let settingsAndWindows: [Case] = [
        Case("6.5 ACK with a payload", .connection(6), Frame.bytes(4, 1, 0, [0, 1, 0, 0, 0, 0])),
        Case("6.5 SETTINGS on a stream", .connection(1), Frame.bytes(4, 0, 1, [])),
        Case("6.5 SETTINGS of 3 bytes", .connection(6), Frame.bytes(4, 0, 0, [0, 1, 0])),
        Case("6.5.2 ENABLE_PUSH 2", .connection(1), settings(2, 2)),
        Case("6.5.2 INITIAL_WINDOW_SIZE beyond the largest", .connection(3), settings(4, 0x8000_0000)),
        Case("6.5.2 MAX_FRAME_SIZE below the least", .connection(1), settings(5, 16_383)),
        Case("6.5.2 MAX_FRAME_SIZE beyond the largest", .connection(1), settings(5, 1 << 24)),
        Case("6.5.2 an unknown setting", .served, settings(0xFF, 1), get),
        Case("6.9 an increment of 0 for the connection", .connection(1), Frame.grant(0, 0)),
        // The RFC asks for a stream error.
        Case("6.9 an increment of 0 for a stream", .connection(1), post, Frame.grant(1, 0)),
        Case("6.9 WINDOW_UPDATE of 3 bytes", .connection(6), Frame.bytes(8, 0, 0, [0, 0, 1])),
        Case("6.9.1 a window of the connection beyond the largest", .connection(3), Frame.grant(0, 0x7FFF_FFFF)),
        Case("6.9.1 a window of a stream beyond the largest", .stream(3), post, Frame.grant(1, 0x7FFF_FFFF)),
        // The RFC asks for a connection error.
        Case(
            "6.9.2 a setting that takes a window beyond the largest", .stream(3), post, Frame.grant(1, 0x7FFF_0000),
            settings(4, 0x7FFF_FFFF)),
        Case("6.10 several CONTINUATION", .served, continued(block, in: 5)),
        Case(
            "6.10 CONTINUATION on the connection", .connection(1), Frame.bytes(1, 1, 1, block), Frame.bytes(9, 4, 0, [])
        ),
        Case("6.10 CONTINUATION behind a whole section", .connection(1), post, Frame.bytes(9, 4, 1, block)),
        Case(
            "6.10 CONTINUATION behind the last", .connection(1), Frame.bytes(1, 0, 1, block), Frame.bytes(9, 4, 1, []),
            Frame.bytes(9, 4, 1, [])),
        Case("6.10 CONTINUATION behind DATA", .connection(1), post, Frame.data(1, "x"), Frame.bytes(9, 4, 1, block)),
        Case("6.10 DATA in a section", .connection(1), Frame.bytes(1, 0, 1, block), Frame.data(1, "x")),
    ]

    static let messages: [Case] = [
        Case("8.1 a second HEADERS that does not end", .stream(1), post, Frame.headers(1, [("x", "y")], ends: false)),
        Case("8.1 trailers", .served, post, Frame.headers(1, [("x", "y")])),
        Case("8.2.1 a name in upper case", .stream(1), Frame.headers(1, TestClient.get + [("X-Test", "y")])),
        Case("8.2.2 connection", .stream(1), Frame.headers(1, TestClient.get + [("connection", "keep-alive")])),
        Case("8.2.2 te", .stream(1), Frame.headers(1, TestClient.get + [("te", "trailers, deflate")])),
        Case("8.3 an unknown pseudo-field", .stream(1), Frame.headers(1, TestClient.get + [(":test", "y")])),
        Case("8.3 a pseudo-field of responses", .stream(1), Frame.headers(1, TestClient.get + [(":status", "200")])),
        Case("8.3 a pseudo-field in trailers", .stream(1), post, Frame.headers(1, [(":method", "GET")])),
        Case("8.3 a pseudo-field behind a field", .stream(1), Frame.headers(1, [("x", "y")] + TestClient.get)),
        Case("8.3.1 an empty :path", .stream(1), Frame.headers(1, TestClient.get.dropLast() + [(":path", "")])),
        Case("8.3.1 no :path", .stream(1), Frame.headers(1, Array(TestClient.get.dropLast()))),
        Case("8.3.1 no :method", .stream(1), Frame.headers(1, Array(TestClient.get.dropFirst()))),
        Case("8.3.1 no :scheme", .stream(1), Frame.headers(1, TestClient.get.filter { $0.0 != ":scheme" })),
        Case("8.3.1 :method twice", .stream(1), Frame.headers(1, [(":method", "GET")] + TestClient.get)),
        Case("8.3.1 :scheme twice", .stream(1), Frame.headers(1, [(":scheme", "http")] + TestClient.get)),
        Case("8.3.1 :path twice", .stream(1), Frame.headers(1, [(":path", "/")] + TestClient.get)),
        Case("8.1.1 a length that differs from DATA", .stream(1), length("1"), Frame.data(1, "test", ends: true)),
        Case(
            "8.1.1 a length that differs from several DATA", .stream(1), length("1"), Frame.data(1, "te"),
            Frame.data(1, "st", ends: true)),
        Case("8.1.1 the length of DATA", .served, length("4"), Frame.data(1, "te"), Frame.data(1, "st", ends: true)),
    ]

    static let compression: [Case] = [
        Case("HPACK 2.3.3 an index beyond the tables", .connection(9), section(block + [0x80 | 70])),
        Case("HPACK 2.3.3 a name's index beyond the tables", .connection(9), section(block + [0x40 | 62, 1, 0x61])),
        Case("HPACK 4.2 a size update behind a field", .connection(9), section(block + [0x20 | 1])),
        Case("HPACK 4.2 a size update in front", .served, section([0x20 | 1] + block)),
        // A value of Huffman codes, whose padding is a whole byte, has a zero, or is the code of the end.
        Case("HPACK 5.2 padding of 8 bits", .connection(9), section(block + [0, 1, 0x78, 0x82, 0x1F, 0xFF])),
        Case("HPACK 5.2 padding with a zero", .connection(9), section(block + [0, 1, 0x78, 0x81, 0x18])),
        Case(
            "HPACK 5.2 the code of the end", .connection(9),
            section(block + [0, 1, 0x78, 0x84, 0xFF, 0xFF, 0xFF, 0xFF])),
        Case("HPACK 5.2 a Huffman code", .served, section(block + [0, 1, 0x78, 0x81, 0x1F])),
        Case("HPACK 6.1 the index 0", .connection(9), section(block + [0x80])),
        Case(
            "HPACK 6.3 a size beyond the setting", .connection(9), section([0x3F, 0xE2, 0x1F] + block)),
        Case(
            "HPACK 6.2 all kinds of literals", .served,
            section(block + [0x40, 1, 0x78, 1, 0x79, 0x10, 1, 0x78, 1, 0x79])),
    ]

    private static func continued(_ block: [UInt8], in count: Int) -> [UInt8] {
        Frame.bytes(1, 1, 1, Array(block.prefix(count)))
            + block.dropFirst(count).enumerated().prefix(4).flatMap { Frame.bytes(9, 0, 1, [$1]) }
            + Frame.bytes(9, 4, 1, Array(block.dropFirst(count + 4)))
    }

    private static func length(_ value: String) -> [UInt8] {
        Frame.headers(1, TestClient.get + [("content-length", value)], ends: false)
    }

    @Test(arguments: frames + settingsAndWindows + messages + compression)
    func `a client's frames have the reaction of the RFC`(one: Case) throws {
        let client = try TestClient()
        client.send(one.frames)
        #expect(Self.reaction(of: client) == one.reaction)
        if case .connection = one.reaction {
            #expect(client.server.excess != nil)
        } else {
            #expect(client.server.excess == nil)
        }
    }

    private static func reaction(of client: TestClient) -> Reaction {
        if let last = client.frames.last(where: { $0.type == 7 }) { return .connection(last.code) }
        if let reset = client.frames.first(where: { $0.type == 3 }) { return .stream(reset.code) }
        let changed = client.server.takeChanged()
        guard let request = changed.first(where: { $0.isComplete && !$0.isOver }) else { return .nothing }
        return request.defect == nil ? .served : .nothing
    }

    // MARK: - Answers

    @Test func `3.4 the first frame of the server is SETTINGS, and the client's are acknowledged`() throws {
        let client = try TestClient()
        #expect(client.frames.first?.type == 4)
        #expect(client.frames.contains { $0.type == 4 && $0.flags == 1 })
    }

    @Test func `6.7 PING is answered with its bytes`() throws {
        let client = try TestClient()
        client.send(Frame.bytes(6, 0, 0, Array("12345678".utf8)))
        #expect(client.frames.contains { $0.type == 6 && $0.flags == 1 && $0.payload == Array("12345678".utf8) })
    }

    /// Sections 6.9.1 and 6.9.2, and 6.5.3: of two values the last counts.
    @Test func `the window limits DATA, also after a change, and when it was negative`() throws {
        let client = try TestClient()
        client.send(Self.settings(4, 100) + Self.settings(4, 3) + Self.get)
        let stream = try #require(client.server.takeChanged().first)
        _ = stream.readAll()
        stream.writeAll("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n0123456789")
        client.take()
        #expect(client.content(of: 1) == "012")
        client.send(Self.settings(4, 1))
        client.grant(1, 2)
        #expect(client.content(of: 1) == "012")
        client.grant(1, 3)
        #expect(client.content(of: 1) == "012345")
        client.send(Self.settings(4, 100))
        #expect(client.content(of: 1) == "0123456789")
    }

    // MARK: - RFC 8441

    private static let webSocket = [
        (":method", "CONNECT"), (":protocol", "websocket"), (":scheme", "https"), (":authority", "a.test"),
        (":path", "/chat"), ("sec-websocket-key", "theirs"), ("sec-websocket-version", "13"),
    ]

    @Test func `a CONNECT for a WebSocket is an upgrade, whose key is the proxy's`() throws {
        let client = try TestClient(.origin)
        client.headers(1, Self.webSocket, ends: false)
        let stream = try #require(client.server.takeChanged().first)
        let text = stream.readAll()
        #expect(text.hasPrefix("GET /chat HTTP/1.1\r\nhost: a.test\r\nsec-websocket-version: 13\r\n"))
        #expect(text.contains("\r\nconnection: Upgrade\r\nupgrade: websocket\r\nsec-websocket-key: "))
        #expect(!text.contains("theirs"))
        client.data(1, "hello")
        #expect(stream.readAll() == "hello")
    }

    @Test(arguments: [
        "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n",
        "HTTP/1.1 101 Switching Protocols\r\nSec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n",
    ])
    func `a server that does not open the WebSocket has no 200 at the client`(answer: String) throws {
        let client = try TestClient(.origin)
        client.headers(1, Self.webSocket, ends: false)
        let stream = try #require(client.server.takeChanged().first)
        _ = stream.readAll()
        #expect(stream.writeAll(answer) == .lost)
        client.take()
        #expect(client.resetCode(of: 1) == 10)
        #expect(client.frames(of: 1).allSatisfy { $0.type != 1 })
    }

    @Test(arguments: [
        [(":method", "CONNECT"), (":protocol", "webtransport")], [(":method", "GET"), (":protocol", "websocket")],
    ])
    func `another protocol, or another method, opens nothing`(fields: FieldList) throws {
        let client = try TestClient()
        client.headers(1, fields + [(":scheme", "http"), (":authority", "a.test"), (":path", "/")], ends: false)
        let stream = client.server.takeChanged().first { !$0.isOver }
        #expect(stream?.defect != nil || client.resetCode(of: 1) == 1)
    }
}
