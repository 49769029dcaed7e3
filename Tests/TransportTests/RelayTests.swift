import Bytes
import IO
import TestSupport
import Testing

@testable import Transport

@Suite struct RelayTests {
    @Test(arguments: [1, 16_384, 100_000, 300_000, 5_000_000])
    func `a counted body is moved exactly, by copy and by splice, and what follows stays`(count: Int) async throws {
        let (moved, received, rest) = try await onLoop { loop in
            let wakeup = Wakeup()
            let (a, b) = try await streams(on: loop)
            let (c, d) = try await streams(on: loop)
            b.wakeup = wakeup
            c.wakeup = wakeup
            send(count + 10, through: a, on: loop)
            let reader = LoopBound(d, to: loop)
            let counter = Counter()
            let readerDone = Wakeup()
            let shared = LoopBound((counter, readerDone), to: loop)
            loop.spawn {
                let stream = reader.value
                stream.wakeup = Wakeup()
                let buffer = ByteBuffer(capacity: 65536)
                while let read = try? await stream.read(into: buffer), read > 0 {
                    for offset in buffer.readable.indices {
                        if buffer.readable[offset] != pattern(shared.value.0.count + offset) {
                            shared.value.0.wrong += 1
                        }
                    }
                    shared.value.0.count += read
                    buffer.clear()
                }
                shared.value.0.isDone = true
                shared.value.1.signal()
            }
            let relay = BodyRelay(count, from: b, to: c, on: loop)
            try await relay.run(idle: 60_000)
            let moved = count - relay.unwritten
            c.close()
            let rest = ByteBuffer(capacity: 64)
            while rest.count < 10 { _ = try await b.read(into: rest) }
            while !counter.isDone { await readerDone.wait() }
            return (moved, counter.wrong == 0 ? counter.count : -1, rest.count)
        }
        #expect(moved == count)
        #expect(received == count)
        #expect(rest == 10)
    }

    /// A body of 256 KiB is what is left of it behind the first piece, which came with the head.
    @Test(arguments: [(16_384, false), (32 * 1024, true), (240 * 1024, true)])
    func `many bytes go through the kernel, and nothing is held for a source that is silent`(
        count: Int, isSpliced: Bool
    ) async throws {
        let held = try await onLoop { loop in
            let wakeup = Wakeup()
            let (a, b) = try await streams(on: loop)
            let (c, d) = try await streams(on: loop)
            b.wakeup = wakeup
            c.wakeup = wakeup
            let relay = BodyRelay(count, from: b, to: c, on: loop)
            var held: [BodyRelay.Holding] = []
            if case .awaitsSource = try relay.advance() { held.append(relay.holding) }
            send(count - 1, through: a, on: loop)
            while relay.unwritten > 1 {
                let unread = relay.unread
                let step = try relay.advance()
                if relay.unread < unread { held.append(relay.holding) }
                if case .awaitsSource = step { await b.channel.waitForEvent() }
            }
            while case .moved = try relay.advance() {}
            held.append(relay.holding)
            d.close()
            return held
        }
        #expect(held.first == .nothing && held.last == .nothing)
        #expect(held.dropFirst().first == (isSpliced ? .pipe : .memory(bytes: BufferPool.regular)))
    }

    @Test func `a client by TLS that takes nothing holds no more than one record`() async throws {
        let (holding, waiting) = try await onLoop { loop in
            let (a, b) = try await streams(on: loop)
            let (d, c) = try await tlsStreams(on: loop)
            let wakeup = Wakeup()
            b.wakeup = wakeup
            c.wakeup = wakeup
            let count = 16 << 20
            send(count, through: a, on: loop)
            let relay = BodyRelay(count, from: b, to: c, on: loop)
            var (step, moved) = (BodyRelay.Step.moved, true)
            while moved {
                let before = relay.unwritten
                repeat { step = try relay.advance() } while step == .moved
                if step == .awaitsSource { await b.channel.waitForEvent() }
                moved = step == .awaitsSource || relay.unwritten < before
            }
            defer { d.close() }
            return (relay.holding, c.owed)
        }
        #expect(holding == .nothing)
        #expect(1...16_384 ~= waiting)
    }

    @Test func `a source that ends early is the source's fault`() async throws {
        let error: RelayError? = try await onLoop { loop in
            let wakeup = Wakeup()
            let (a, b) = try await streams(on: loop)
            let (c, _) = try await streams(on: loop)
            b.wakeup = wakeup
            c.wakeup = wakeup
            send(100, through: a, on: loop, thenClose: true)
            do {
                try await BodyRelay(200, from: b, to: c, on: loop).run(idle: 60_000)
                return nil
            } catch { return error as? RelayError }
        }
        #expect(error == .source(.endOfStream))
    }

    @Test func `a tunnel passes a half-close on and lets the answer come back`() async throws {
        let (answer, totals) = try await onLoop { loop in
            let wakeup = Wakeup()
            let (client, clientSide) = try await streams(on: loop)
            let (upstreamSide, origin) = try await streams(on: loop)
            clientSide.wakeup = wakeup
            upstreamSide.wakeup = wakeup
            let server = LoopBound(origin, to: loop)
            loop.spawn {
                let origin = server.value
                origin.wakeup = Wakeup()
                let buffer = ByteBuffer(capacity: 1 << 20)
                while let read = try? await origin.read(into: buffer), read > 0 {}
                let reply = ByteBuffer(capacity: 64)
                reply.append("got " as StaticString)
                reply.append(decimal: buffer.count)
                try? await origin.write(from: reply)
                origin.close()
            }
            let user = LoopBound(client, to: loop)
            let answer = ByteBuffer(capacity: 64)
            let answered = Wakeup()
            let shared = LoopBound((answer, answered), to: loop)
            loop.spawn {
                let client = user.value
                client.wakeup = Wakeup()
                let body = ByteBuffer(capacity: 300_000)
                for place in 0..<300_000 { body.append(pattern(place)) }
                try? await client.write(from: body)
                client.shutdownWrite()
                while let read = try? await client.read(into: shared.value.0), read > 0 {}
                client.close()
                shared.value.1.signal()
            }
            let totals = await Tunnel(client: clientSide, upstream: upstreamSide, idle: 60_000, on: loop).run()
            clientSide.close()
            upstreamSide.close()
            if !client.isClosed { await answered.wait() }
            return (answer.readable.text, totals)
        }
        #expect(answer == "got 300000")
        #expect(totals.up == 300_000)
        #expect(totals.down == 10)
        #expect(totals.error == nil)
    }

    @Test func `a silent tunnel ends after its idle time`() async throws {
        let totals = try await onLoop { loop in
            let wakeup = Wakeup()
            let (_, clientSide) = try await streams(on: loop)
            let (upstreamSide, _) = try await streams(on: loop)
            clientSide.wakeup = wakeup
            upstreamSide.wakeup = wakeup
            return await Tunnel(client: clientSide, upstream: upstreamSide, idle: 60, on: loop).run()
        }
        #expect(totals.error == .timedOut)
    }
}

private final class Counter {
    var count = 0
    var wrong = 0
    var isDone = false
}

private func pattern(_ place: Int) -> UInt8 { UInt8(truncatingIfNeeded: place &* 31 &+ place >> 8) }

private func send(_ count: Int, through stream: ByteStream, on loop: EventLoop, thenClose: Bool = false) {
    let writer = LoopBound(stream, to: loop)
    loop.spawn {
        let stream = writer.value
        stream.wakeup = Wakeup()
        let buffer = ByteBuffer(capacity: count)
        for place in 0..<count { buffer.append(pattern(place)) }
        try? await stream.write(from: buffer)
        if thenClose { stream.close() }
    }
}
