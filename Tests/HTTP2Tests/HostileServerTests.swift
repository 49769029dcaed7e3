import HTTP
import TestSupport
import Testing

@testable import HTTP2

/// Each flood of a server ends by its limit. The control stays below it and must pass.
struct HostileServerTests {
    @Test(arguments: [
        (UInt8(6), [UInt8](repeating: 0, count: 8), UInt32(0)), (8, Frame.number(1), 0), (2, [0, 0, 0, 0, 1], 1),
        (0x42, [1], 0), (0x0A, [0, 0], 0), (0x0C, [], 0), (7, Frame.number(0x7FFF_FFFF) + Frame.number(0), 0),
    ])
    func `frames that move nothing`(type: UInt8, payload: [UInt8], stream: UInt32) throws {
        for (count, isExcess) in [(900, false), (1200, true)] {
            let server = try TestServer()
            _ = server.request()
            for _ in 0..<count { server.send(Frame.bytes(type, 0, stream, payload)) }
            #expect(server.client.excess == (isExcess ? .frames : nil), "\(count)")
        }
    }

    @Test func `empty DATA`() throws {
        let server = try TestServer()
        _ = server.request()
        server.headers(1, ends: false)
        for _ in 0..<900 { server.data(1, "") }
        #expect(server.client.excess == nil)
        for _ in 0..<300 { server.data(1, "") }
        #expect(server.client.excess == .frames)
    }

    @Test(arguments: [(20, false), (60, true)])
    func `SETTINGS`(count: Int, isExcess: Bool) throws {
        let server = try TestServer()
        for _ in 0..<count { server.send(Frame.bytes(4, 0, 0, [])) }
        #expect(server.client.excess == (isExcess ? .settings : nil))
    }

    @Test func `acknowledgements that the server does not read`() throws {
        let server = try TestServer()
        let pings = (0..<500).flatMap { _ in Frame.bytes(6, 0, 0, [UInt8](repeating: 0, count: 8)) }
        server.client.receive(pings.span, at: server.now)
        #expect(server.client.excess == .frames)
        #expect(server.client.hasFailed)
    }

    @Test func `interim responses`() throws {
        let server = try TestServer()
        let stream = server.request()
        let early: FieldList = [(":status", "103")]
        for _ in 0..<900 { server.headers(1, early, ends: false) }
        #expect(server.client.excess == nil)
        #expect(stream.failure == nil)
        for _ in 0..<300 { server.headers(1, early, ends: false) }
        #expect(server.client.excess == .frames)
    }

    @Test func `interim responses that nobody reads`() throws {
        let server = try TestServer()
        let stream = server.request()
        let value = String(repeating: "v", count: 60_000)
        for _ in 0..<4 { server.headers(1, [(":status", "103"), ("x", value)], ends: false) }
        #expect(stream.failure == nil)
        server.headers(1, [(":status", "103"), ("x", value)], ends: false)
        #expect(stream.failure == .malformed(.headTooLarge(limit: Limits.response.head)))
        #expect(server.resetCode(of: 1) == 1)
    }

    @Test func `a header section in many CONTINUATION frames`() throws {
        let server = try TestServer()
        _ = server.request()
        server.send(Frame.bytes(1, 0, 1, Frame.block([(":status", "200")])))
        for number in 0..<30 { server.send(Frame.bytes(9, 0, 1, Frame.block([("x-\(number)", "y")]))) }
        #expect(server.client.hasFailed || server.client.isOver)
    }

    @Test func `indexed references to one large field are an excess`() throws {
        let server = try TestServer()
        _ = server.request()
        let length: [UInt8] = [127, UInt8((3900 - 127) & 127 | 128), UInt8((3900 - 127) >> 7)]
        let field = [0x40, 1] + Array("x".utf8) + length + [UInt8](repeating: 0x79, count: 3900)
        let block = Frame.block([(":status", "200")]) + field + [UInt8](repeating: 0xBE, count: 300)
        server.send(Frame.bytes(1, 5, 1, block))
        #expect(server.client.excess == .fields)
        #expect(server.client.hasFailed)
    }

    @Test func `HEADERS and resets of streams that are over`() throws {
        for frame in [Frame.headers(1, TestServer.ok), Frame.reset(1)] {
            let server = try TestServer()
            _ = server.request()
            server.headers(1)
            for _ in 0..<100 { server.send(frame) }
            #expect(!server.client.hasFailed)
            for _ in 0..<1200 { server.send(frame) }
            #expect(server.client.hasFailed || server.client.isOver)
        }
    }

    @Test func `a server that refuses or resets each request is no flood`() throws {
        let server = try TestServer()
        for number in 0..<1000 {
            let stream = server.request(TestServer.post)
            server.reset(UInt32(2 * number + 1), number % 2 == 0 ? 7 : 0)
            #expect(stream.isLost)
            stream.release(asFault: false)
        }
        #expect(server.client.excess == nil)
        #expect(!server.client.isRetired)
    }

    @Test func `a connection on which many streams were reset takes no more, and its other streams go on`() throws {
        let server = try TestServer()
        let kept = server.request()
        for (count, isRetired) in [(150, false), (100, true)] {
            for _ in 0..<count {
                server.request().release(asFault: false)
                server.take()
            }
            #expect(server.client.isRetired == isRetired)
        }
        server.headers(1)
        #expect(kept.readAll().hasPrefix("HTTP/1.1 200 "))
    }

    @Test func `a server that gives room for each small message is no flood`() throws {
        let server = try TestServer()
        let stream = server.request(TestServer.post)
        for _ in 0..<3000 {
            stream.writeAll("2\r\nhi\r\n")
            server.take()
            server.grant(0, 2)
            server.grant(1, 2)
            server.send(Frame.bytes(6, 0, 0, [UInt8](repeating: 0, count: 8)))
        }
        #expect(server.client.excess == nil)
    }

    @Test func `an excess ends the connection with a calm word`() throws {
        let server = try TestServer()
        for _ in 0..<60 { server.send(Frame.bytes(4, 0, 0, [])) }
        #expect(server.client.isRetired)
        server.client.endForExcess()
        server.take()
        #expect(server.frames.last { $0.type == 7 }?.code == 11)
    }
}
