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
            while served?.hasInputEnded != true {
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
}

extension HeadProgress {
    /// The length of a head that is complete.
    fileprivate var completeLength: Int? { if case .complete(let length) = self { length } else { nil } }
}
