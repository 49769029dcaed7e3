import Bytes
import HTTP
import IO
import TestSupport
import Testing
import Transport

@testable import Forwarding
@testable import Upstream

/// A body between two connections of one loop.
struct RequestBodyTests {
    /// The client's far end, our two ends, and the upstream's far end.
    private struct Ends {
        let client: Socket
        let inner: ByteStream
        let outer: ByteStream
        let upstream: Socket
        let inbound = ByteBuffer(capacity: BufferPool.regular)
        let body = RequestBody()
        let loop: EventLoop

        init(on loop: EventLoop, _ framing: BodyFraming) async throws {
            let (near, far) = try await connectedPair(on: loop)
            (client, inner) = (near, ByteStream(far))
            let (other, end) = try await connectedPair(on: loop)
            (outer, upstream) = (ByteStream(other), end)
            // One task waits for all of them.
            for socket in [near, far, other] { socket.wakeup = end.wakeup }
            self.loop = loop
            body.begin(framing, limits: .request)
        }

        func say(_ text: String, on socket: Socket) async throws {
            let out = ByteBuffer(capacity: 64)
            out.append(text)
            try await socket.write(from: out)
        }

        /// How far the body came.
        enum Outcome {
            /// The upstream has all of it.
            case sent
            /// The upstream has something to say before it has all of it.
            case interrupted
        }

        /// Sends the body step by step, as `RequestSending` does.
        func send() async throws -> Outcome {
            while true {
                switch try body.advance(from: inner, to: outer, inbound: inbound, on: loop) {
                case .ended: return .sent
                case .keeps: await body.keep(inbound)
                case .readsBack: if await !body.readBack() { throw RequestBody.Failure.copyLost }
                case .moved: if !body.isSent, outer.hasInput() { return .interrupted }
                case .awaitsClient, .awaitsUpstream:
                    if outer.hasInput() { return .interrupted }
                    await upstream.waitForEvent()
                }
            }
        }

        /// Returns the bytes that reached the upstream's end.
        func heard(_ count: Int) async throws -> String {
            let heard = ByteBuffer(capacity: 4096)
            while heard.count < count { guard try await upstream.read(into: heard) > 0 else { break } }
            return heard.readable.text
        }
    }

    private static func room(_ memory: Int, _ disk: Int) -> ReplayRoom {
        ReplayRoom(memory: memory, disk: disk, free: memory, total: 1 << 30, spool: ReplaySpool())
    }

    @Test func `bytes behind the body stay for the next request`() async throws {
        let (heard, rest, isRead) = try await onLoop { loop in
            let ends = try await Ends(on: loop, .length(4))
            try await ends.say("bodyGET /", on: ends.client)
            #expect(try await ends.send() == .sent)
            #expect(ends.body.isSent)
            let inbound = ends.inbound
            return (try await ends.heard(4), inbound.readable.text, ends.body.isRead)
        }
        #expect(heard == "body")
        #expect(rest == "GET /")
        #expect(isRead)
    }

    @Test func `an interruption is gone on from, and a rewound body begins anew`() async throws {
        let (first, again) = try await onLoop { loop in
            let ends = try await Ends(on: loop, .length(8))
            ends.body.keepCopy(in: Self.room(100, 0))
            try await ends.say("half", on: ends.client)
            try await ends.say("wait", on: ends.upstream)
            while !ends.outer.isReadable { await ends.upstream.waitForEvent() }
            #expect(try await ends.send() == .interrupted)
            #expect(!ends.body.isSent && !ends.body.isRead)
            let said = ByteBuffer(capacity: 64)
            _ = try await ends.outer.read(into: said)
            try await ends.say("half", on: ends.client)
            #expect(try await ends.send() == .sent)
            let first = try await ends.heard(8)
            ends.body.rewind(ends.inbound)
            #expect(ends.body.isRead && !ends.body.isSent && ends.body.canBeSent)
            #expect(try await ends.send() == .sent)
            return (first, try await ends.heard(8))
        }
        #expect(first == "halfhalf")
        #expect(again == "halfhalf")
    }

    @Test func `without a copy it cannot be sent twice`() async throws {
        let canBeSent = try await onLoop { loop in
            let ends = try await Ends(on: loop, .length(4))
            try await ends.say("body", on: ends.client)
            let before = ends.body.canBeSent
            #expect(try await ends.send() == .sent)
            return [before, ends.body.canBeSent]
        }
        #expect(canBeSent == [true, false])
    }

    @Test func `a client that ends too early is to blame`() async throws {
        let failure = try await onLoop { loop in
            let ends = try await Ends(on: loop, .length(8))
            try await ends.say("half", on: ends.client)
            ends.client.shutdownWrite()
            do {
                _ = try await ends.send()
                return ""
            } catch { return "\(error)" }
        }
        #expect(failure.contains("client"))
    }

    @Test func `the content of chunks is read whole, and sent with its chunks`() async throws {
        let (content, heard) = try await onLoop { loop in
            let ends = try await Ends(on: loop, .chunked)
            let chunks = "4\r\nbody\r\n5\r\n next\r\n0\r\n\r\n"
            try await ends.say(chunks, on: ends.client)
            ends.body.keepCopy(in: Self.room(10, 100))
            var content: [UInt8] = []
            let isWhole = try await ends.body.readAll(from: ends.inner, inbound: ends.inbound, idle: 10_000) {
                content += $0.array
            }
            #expect(isWhole)
            #expect(try await ends.send() == .sent)
            #expect(ends.body.isSent)
            return (content, try await ends.heard(chunks.utf8.count) == chunks)
        }
        #expect(String(decoding: content, as: UTF8.self) == "body next")
        #expect(heard)
    }

    @Test func `a body that is not wanted is read to its end, if that is near`() async throws {
        let isRead = try await onLoop { loop in
            var isRead: [Bool] = []
            for limit in [4, 100] {
                let ends = try await Ends(on: loop, .length(8))
                try await ends.say("half", on: ends.client)
                while !ends.inner.isReadable { await ends.upstream.waitForEvent() }
                _ = try await ends.inner.read(into: ends.inbound)
                try await ends.say("half", on: ends.client)
                isRead.append(
                    await ends.body.discard(from: ends.inner, inbound: ends.inbound, upTo: limit, idle: 10_000))
            }
            return isRead
        }
        #expect(isRead == [false, true])
    }
}
