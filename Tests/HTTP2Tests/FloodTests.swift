import Bytes
import HTTP
import TestSupport
import Testing

@testable import HTTP2

/// Each flood ends by its limit. The control stays below it and must pass.
struct FloodTests {
    private static let second: UInt64 = 1_000_000_000

    @Test(arguments: [(150, false), (300, true)])
    func `streams that are opened and reset`(count: Int, isExcess: Bool) throws {
        let client = try TestClient()
        for number in 0..<count {
            client.headers(UInt32(2 * number + 1), ends: false)
            client.reset(UInt32(2 * number + 1))
        }
        #expect(client.server.excess == (isExcess ? .resets : nil))
    }

    @Test func `resets over a long time are no flood`() throws {
        let client = try TestClient()
        for number in 0..<600 {
            client.headers(UInt32(2 * number + 1), ends: false)
            client.reset(UInt32(2 * number + 1))
            client.now += Self.second / 10
        }
        #expect(client.server.excess == nil)
    }

    /// MadeYouReset: the client makes the server reset the streams.
    @Test(arguments: [(50, false), (200, true)])
    func `streams that the server must reset`(count: Int, isExcess: Bool) throws {
        let client = try TestClient()
        for number in 0..<count {
            let id = UInt32(2 * number + 1)
            client.headers(id, TestClient.get, ends: false)
            // A window that overflows is an error of the stream (RFC 9113 section 6.9.1).
            client.grant(id, 0x7FFF_FFFF)
        }
        #expect(client.server.excess == (isExcess ? .faults : nil))
    }

    @Test(arguments: [
        (UInt8(6), [UInt8](repeating: 0, count: 8), UInt32(0)), (8, Frame.number(1), 0), (2, [0, 0, 0, 0, 1], 1),
        (0x42, [1], 0),
    ])
    func `frames that move nothing`(type: UInt8, payload: [UInt8], stream: UInt32) throws {
        for (count, isExcess) in [(900, false), (1200, true)] {
            let client = try TestClient()
            client.headers(1, ends: false)
            for _ in 0..<count { client.send(Frame.bytes(type, 0, stream, payload)) }
            #expect(client.server.excess == (isExcess ? .frames : nil), "\(count)")
        }
    }

    @Test func `empty DATA`() throws {
        let client = try TestClient()
        client.headers(1, ends: false)
        for _ in 0..<900 { client.data(1, "") }
        #expect(client.server.excess == nil)
        for _ in 0..<300 { client.data(1, "") }
        #expect(client.server.excess == .frames)
    }

    /// A client that opens its window by one byte each time gets as many frames as it sends (CVE-2019-9511).
    @Test(arguments: [(false, 64), (true, 1)])
    func `room for small DATA is a flood only if the client made it small`(isExcess: Bool, window: UInt32) throws {
        let client = try TestClient()
        client.send(Frame.bytes(4, 0, 0, [0, 4] + Frame.number(0)))
        client.headers(1)
        let stream = try #require(client.server.takeChanged().first)
        stream.writeAll("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
        for _ in 0..<1200 {
            stream.writeAll("2\r\nhi\r\n")
            client.take()
            client.grant(0, 2)
            client.grant(1, window)
        }
        #expect(client.server.excess == (isExcess ? .frames : nil))
    }

    @Test(arguments: [(20, false), (60, true)])
    func `SETTINGS`(count: Int, isExcess: Bool) throws {
        let client = try TestClient()
        for _ in 0..<count { client.send(Frame.bytes(4, 0, 0, [])) }
        #expect(client.server.excess == (isExcess ? .settings : nil))
    }

    @Test func `acknowledgements that the client does not read`() throws {
        let client = try TestClient()
        let ping = Frame.bytes(6, 0, 0, [UInt8](repeating: 0, count: 8))
        let pings = (0..<500).flatMap { _ in ping }
        client.server.receive(pings.span, at: client.now)
        #expect(client.server.excess == .frames)
        #expect(client.server.hasFailed)
    }

    @Test func `a header section in many CONTINUATION frames`() throws {
        let client = try TestClient()
        client.send(Frame.bytes(1, 1, 1, Frame.block(TestClient.get)))
        for number in 0..<20 { client.send(Frame.bytes(9, 0, 1, Frame.block([("x-\(number)", "y")]))) }
        #expect(client.server.hasFailed)
        #expect(client.server.excess == .fields)
    }

    @Test func `an excess ends the connection with a calm word`() throws {
        let client = try TestClient()
        for _ in 0..<60 { client.send(Frame.bytes(4, 0, 0, [])) }
        client.server.endForExcess()
        client.take()
        #expect(client.frames.last { $0.type == 7 }?.code == 11)
    }

    @Test func `more streams than allowed are not served`() throws {
        let client = try TestClient { $0.streams = 3 }
        // The client has acknowledged the settings.
        client.send(Frame.bytes(4, 1, 0, []))
        for number in 0..<3 { client.headers(UInt32(2 * number + 1)) }
        #expect(client.server.takeChanged().count == 3)
        client.headers(7)
        #expect(client.server.takeChanged().allSatisfy { $0.id < 7 || $0.isLost })
    }

    @Test func `a connection that begins with something else fails`() throws {
        let server = try ServerConnection(.init(form: .absolute))
        server.receive("GET / HTTP/1.1\r\n\r\n".utf8Span.span, at: 1)
        #expect(server.hasFailed)
        server.produce(into: ByteBuffer(capacity: 1024), limit: .max, at: 1)
        #expect(server.excess == .violations)
    }

    @Test func `a connection that ends in order has violated nothing`() throws {
        let client = try TestClient()
        client.server.end()
        client.take()
        #expect(client.frames.last?.type == 7 && client.frames.last?.code == 0)
        #expect(client.server.excess == nil)
    }
}
