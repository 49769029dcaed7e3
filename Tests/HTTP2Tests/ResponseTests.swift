import Bytes
import HTTP
import TestSupport
import Testing

@testable import HTTP2

struct ResponseTests {
    private static func request(_ method: String = "GET", ends: Bool = true) throws -> (TestClient, RequestStream) {
        let client = try TestClient()
        client.headers(
            1, [(":method", method), (":scheme", "http"), (":authority", "a.test"), (":path", "/")], ends: ends)
        let stream = try #require(client.server.takeChanged().first)
        _ = stream.readAll()
        return (client, stream)
    }

    @Test func `a response is HEADERS and DATA, without what belongs to a connection`() throws {
        let (client, stream) = try Self.request()
        stream.writeAll(
            "HTTP/1.1 200 OK\r\nServer: S\r\nConnection: close\r\nKeep-Alive: timeout=5\r\nContent-Length: 5\r\n\r\nhello"
        )
        client.take()
        let frames = client.frames(of: 1)
        #expect(frames.first?.fields == [":status: 200", "server: S", "content-length: 5"])
        #expect(client.content(of: 1) == "hello")
        #expect(frames.last?.endsStream == true)
        #expect(!stream.isLost)
        #expect(stream.isOver)
    }

    @Test func `it may come byte by byte`() throws {
        let (client, stream) = try Self.request()
        let text = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n1\r\n!\r\n0\r\nX-Sum: 6\r\n\r\n"
        for byte in text.utf8 {
            stream.writeAll(String(decoding: [byte], as: UTF8.self))
            client.take()
        }
        #expect(client.content(of: 1) == "hello!")
        let heads = client.frames(of: 1).filter { $0.type == 1 }
        #expect(heads.map(\.fields) == [[":status: 200"], ["x-sum: 6"]])
        #expect(client.frames(of: 1).last?.endsStream == true)
    }

    @Test(arguments: [
        ("HEAD", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n"), ("GET", "HTTP/1.1 204 No Content\r\n\r\n"),
        ("GET", "HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\n\r\n"),
        ("GET", "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"),
    ])
    func `a response without content ends with its head`(method: String, text: String) throws {
        let (client, stream) = try Self.request(method)
        stream.writeAll(text)
        client.take()
        #expect(client.frames(of: 1).map(\.type) == [1])
        #expect(client.frames(of: 1).last?.endsStream == true)
    }

    @Test func `an interim response does not end the stream`() throws {
        let (client, stream) = try Self.request("POST", ends: false)
        stream.writeAll("HTTP/1.1 100 Continue\r\n\r\n")
        client.take()
        #expect(client.frames(of: 1).last?.fields == [":status: 100"])
        #expect(client.frames(of: 1).last?.endsStream == false)
        client.data(1, "x", ends: true)
        stream.writeAll("HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\ny")
        client.take()
        #expect(
            client.frames(of: 1).filter { $0.type == 1 }.compactMap(\.fields.first) == [
                ":status: 100", ":status: 103", ":status: 200",
            ])
        #expect(client.content(of: 1) == "y")
    }

    @Test func `a response that ends with its connection ends the stream`() throws {
        let (client, stream) = try Self.request()
        stream.writeAll("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nhel")
        stream.writeAll("lo")
        client.take()
        #expect(client.frames(of: 1).last?.endsStream == false)
        stream.release(asFault: false)
        client.take()
        #expect(client.content(of: 1) == "hello")
        #expect(client.frames(of: 1).last?.endsStream == true)
        #expect(client.resetCode(of: 1) == nil)
    }

    @Test func `a response that is cut short resets the stream`() throws {
        for isFault in [true, false] {
            let (client, stream) = try Self.request()
            stream.writeAll("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhel")
            stream.release(asFault: isFault)
            client.take()
            #expect(client.resetCode(of: 1) == 2)
        }
    }

    /// The content comes with its head, behind it, and in pieces.
    @Test(arguments: [["hello", ""], ["", "hello"], ["hel", "lo"], ["", "hel", "lo"]])
    func `content of its length is the end, and a byte more is a fault`(pieces: [String]) throws {
        for surplus in ["", "!"] {
            let (client, stream) = try Self.request()
            let texts = ["HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n" + pieces[0]] + pieces.dropFirst()
            for text in texts.dropLast() { stream.writeAll(text) }
            stream.writeAll(texts[texts.count - 1] + surplus)
            client.take()
            if surplus.isEmpty {
                #expect(client.content(of: 1) == "hello")
                #expect(client.frames(of: 1).last?.endsStream == true)
                // The end is behind all that the client sees.
                stream.writeAll("!")
                client.take()
                #expect(client.content(of: 1) == "hello")
            } else {
                #expect(client.resetCode(of: 1) == 2)
            }
        }
    }

    @Test func `a whole response before the whole request ends it without an error`() throws {
        let (client, stream) = try Self.request("POST", ends: false)
        stream.writeAll("HTTP/1.1 413 Content Too Large\r\nContent-Length: 1\r\n\r\nx")
        stream.release(asFault: false)
        client.take()
        #expect(client.frames(of: 1).map(\.type) == [1, 0, 3])
        #expect(client.resetCode(of: 1) == 0)
    }

    @Test func `no more than 32 KiB of content wait, and the writer goes on at half`() throws {
        let (client, stream) = try Self.request()
        stream.writeAll("HTTP/1.1 200 OK\r\nContent-Length: 200000\r\n\r\n")
        client.take()
        let piece = ByteBuffer(capacity: 300_000)
        piece.append([UInt8](repeating: 0x61, count: 200_000))
        var written = 0
        while case .moved(let count) = stream.write(from: piece, limit: .max) {
            written += count
            client.take()
        }
        // The window of the client takes 65,535 bytes.
        #expect(written == 65_535 + 32 * 1024)
        #expect(!stream.isWritable)
        _ = client.server.takeChanged()
        client.grant(0, 200_000)
        client.grant(1, 10_000)
        #expect(!stream.isWritable)
        client.grant(1, 10_000)
        #expect(stream.isWritable)
        #expect(client.server.takeChanged().contains { $0 === stream })
    }

    @Test func `a tunnel ends each side for itself`() throws {
        let client = try TestClient()
        client.headers(1, [(":method", "CONNECT"), (":authority", "a.test:443")], ends: false)
        let stream = try #require(client.server.takeChanged().first)
        _ = stream.readAll()
        stream.writeAll("HTTP/1.1 200 Connection established\r\n\r\nab")
        stream.endOutput()
        client.take()
        #expect(client.frames(of: 1).first?.fields == [":status: 200"])
        #expect(client.content(of: 1) == "ab")
        #expect(client.frames(of: 1).last?.endsStream == true)
        client.data(1, "c", ends: true)
        #expect(stream.readAll() == "c")
        #expect(!stream.isLost)
    }

    @Test(arguments: ["HTTP/1.1 101 Switching Protocols\r\n\r\n", "nonsense\r\n\r\n"])
    func `text that is no response is a fault of ours`(text: String) throws {
        let (client, stream) = try Self.request()
        #expect(stream.writeAll(text) == .lost)
        client.take()
        #expect(client.resetCode(of: 1) == 2)
    }

    @Test func `a large head is sent whole`() throws {
        let (client, stream) = try Self.request()
        let ticket = String(repeating: "t", count: 100_000)
        stream.writeAll(
            "HTTP/1.1 401 Unauthorized\r\nWWW-Authenticate: Negotiate \(ticket)\r\nContent-Length: 0\r\n\r\n")
        client.take()
        let size = client.frames(of: 1).reduce(0) { $0 + $1.payload.count }
        #expect(client.frames(of: 1).map(\.type).allSatisfy { $0 == 1 || $0 == 9 })
        #expect(size > 50_000)
        #expect(client.resetCode(of: 1) == nil)
    }
}
