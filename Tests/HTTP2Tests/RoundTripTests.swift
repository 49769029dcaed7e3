import Bytes
import HTTP
import Testing

@testable import HTTP2

/// Both roles against each other.
struct RoundTripTests {
    private static let now: UInt64 = 1_000_000_000

    /// Moves bytes until neither side has more.
    private static func exchange(_ client: ClientConnection, _ server: ServerConnection) {
        let bytes = ByteBuffer(capacity: 64 * 1024)
        while true {
            bytes.clear()
            client.produce(into: bytes, limit: 16_000, at: now)
            let isQuiet = bytes.isEmpty
            server.receive(bytes.readable, at: now)
            bytes.clear()
            server.produce(into: bytes, limit: 16_000, at: now)
            if isQuiet, bytes.isEmpty { return }
            client.receive(bytes.readable, at: now)
        }
    }

    @Test func `a hundred exchanges with bodies and trailers`() throws {
        let client = try ClientConnection()
        let server = try ServerConnection(.init(form: .origin))
        let content = String(repeating: "0123456789abcdef", count: 4096)
        let body = "\(String(content.utf8.count, radix: 16))\r\n\(content)\r\n0\r\nx-sum: 1\r\n\r\n"
        for _ in 0..<100 {
            let stream = client.open(scheme: .https)
            let text = ByteBuffer(capacity: 64)
            text.append("POST /a HTTP/1.1\r\nHost: a.test\r\nTransfer-Encoding: chunked\r\n\r\n\(body)")
            var request = ""
            var served: RequestStream?
            while served?.state.hasInputEnded != true {
                while !text.isEmpty, case .moved = stream.write(from: text, limit: .max) {}
                Self.exchange(client, server)
                served = served ?? server.takeChanged().first { !$0.isReleased }
                request += served?.readAll() ?? ""
            }
            request += served?.readAll() ?? ""
            #expect(request.hasPrefix("POST /a HTTP/1.1\r\nhost: a.test\r\ntransfer-encoding: chunked\r\n\r\n"))
            #expect(request.hasSuffix("0\r\nx-sum: 1\r\n\r\n"))
            let head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
            text.append(head + body)
            var response = ""
            while !stream.isAtEnd {
                while !text.isEmpty, case .moved? = served?.write(from: text, limit: .max) {}
                Self.exchange(client, server)
                response += stream.readAll()
            }
            let bytes = Array(response.utf8)
            let parsed = ResponseHead()
            let length = try #require(try parsed.parse(bytes.span, answering: .post).completeLength)
            var decoder = ChunkedDecoder(fault: .upstream, limits: .response)
            let rest = Array(bytes[length...])
            let consumed = try decoder.pass(rest.span)
            #expect(consumed == rest.count && decoder.isEnded)
            #expect(rest.count > content.utf8.count)
            stream.release(asFault: false)
            served?.release(asFault: false)
            Self.exchange(client, server)
        }
        #expect(client.running == 0)
        #expect(!server.hasStreams)
        #expect(client.resetsSent == 0)
        #expect(server.resetsSent == 0)
    }

    @Test func `an object serves one stream after the other, each as a new one`() throws {
        let client = try ClientConnection()
        let server = try ServerConnection(.init(form: .origin))
        let (sent, received) = try Self.upload(from: client, to: server)
        let (next, served) = try Self.upload(from: client, to: server)
        #expect(next == sent && served == received)
        let fresh = ResponseStream(of: client)
        fresh.begin(scheme: "http")
        #expect(Self.facts(client.open(scheme: .http)) == Self.facts(fresh))
        let begun = try #require(server.takeSpare())
        begun.begin(5)
        let new = RequestStream(of: server)
        new.begin(5)
        #expect(Self.facts(begun) == Self.facts(new))
    }

    @Test func `an object that the test still holds serves no other stream`() throws {
        let client = try ClientConnection()
        let server = try ServerConnection(.init(form: .origin))
        let held = client.open(scheme: .https)
        try Self.upload(held, from: client, to: server)
        #expect(client.open(scheme: .https) !== held)
    }

    /// Sends a request with trailers that is refused in the middle of its response, and closes both streams.
    @discardableResult
    private static func upload(
        from client: ClientConnection, to server: ServerConnection
    ) throws -> (ObjectIdentifier, ObjectIdentifier) {
        let stream = client.open(scheme: .https)
        stream.secretNames = ["x-key"]
        return (ObjectIdentifier(stream), try upload(stream, from: client, to: server))
    }

    @discardableResult
    private static func upload(
        _ stream: ResponseStream, from client: ClientConnection, to server: ServerConnection
    ) throws -> ObjectIdentifier {
        write("POST /a HTTP/1.1\r\nHost: a.test\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n", to: stream)
        exchange(client, server)
        let served = try #require(server.takeChanged().first)
        write("0\r\nx-sum: 1\r\n\r\n", to: stream)
        exchange(client, server)
        write("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc", to: served)
        exchange(client, server)
        served.release(asFault: true)
        exchange(client, server)
        stream.release(asFault: false)
        exchange(client, server)
        _ = (client.takeChanged(), server.takeChanged())
        return ObjectIdentifier(served)
    }

    private static func write(_ text: String, to stream: MultiplexedStream) {
        let bytes = ByteBuffer(capacity: 64)
        bytes.append(text)
        #expect(stream.write(from: bytes, limit: .max) == .moved(text.utf8.count))
    }

    /// The values of the properties, of the superclass, too; of an object the number of its bytes.
    private static func facts(_ stream: MultiplexedStream) -> [String] {
        let mirrors = [Mirror(reflecting: stream), Mirror(reflecting: stream).superclassMirror].compactMap { $0 }
        return mirrors.flatMap(\.children).map { child in
            let value =
                switch child.value {
                case let buffer as ByteBuffer: "\(buffer.count) bytes"
                case let body as WrittenBody:
                    "\(body.stage) \(body.text.count) \(body.content.count) \(body.trailers == nil)"
                default: "\(child.value)"
                }
            return "\(child.label ?? ""): \(value)"
        }
    }
}

extension HeadProgress {
    /// The length of a head that is complete.
    fileprivate var completeLength: Int? { if case .complete(let length) = self { length } else { nil } }
}
