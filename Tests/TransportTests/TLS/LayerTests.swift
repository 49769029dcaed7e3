import Bytes
import IO
import TLS
import TestSupport
import Testing
import Transport

@Suite(.timeLimit(.minutes(30))) struct LayerTests {
    @Test func `TLS runs inside TLS, and each layer says goodbye`() async throws {
        let heard = try await onLoop { loop in
            let (near, far) = try await tlsStreams(on: loop, over: try await tlsStreams(on: loop))
            #expect(!near.isPlain)
            try await near.say("from the client")
            var heard = [try await far.hears("client")]
            try await far.say("from the server")
            heard.append(try await near.hears("server"))
            near.close()
            heard.append(try await far.rest())
            return heard
        }
        #expect(heard == ["from the client", "from the server", ""])
    }

    @Test(arguments: [false, true])
    func `A tunnel copies where a side has TLS, and passes ends on as ends`(isNested: Bool) async throws {
        let count = 1_000_000
        let (received, totals) = try await onLoop { loop in
            var (client, clientSide) = try await tlsStreams(on: loop)
            if isNested { (client, clientSide) = try await tlsStreams(on: loop, over: (client, clientSide)) }
            let (upstreamSide, origin) = try await streams(on: loop)
            let wakeup = Wakeup()
            clientSide.wakeup = wakeup
            upstreamSide.wakeup = wakeup
            origin.wakeup = Wakeup()
            let ends = LoopBound((client, origin), to: loop)
            let received = LoopBound(Received(), to: loop)
            // The origin sends back what it gets, and ends when the client has ended.
            loop.spawn {
                let origin = ends.value.1
                let buffer = ByteBuffer(capacity: 65_536)
                while let read = try? await origin.read(into: buffer), read > 0 {
                    try? await origin.write(from: buffer)
                }
                origin.shutdownWrite()
            }
            loop.spawn {
                let client = ends.value.0
                let body = ByteBuffer(capacity: count)
                for place in 0..<count { body.append(pattern(place)) }
                let back = ByteBuffer(capacity: count + 1)
                while !body.isEmpty {
                    if case .wouldBlock = client.tryWrite(from: body, limit: 50_000),
                        case .wouldBlock = client.tryRead(into: back)
                    {
                        await client.channel.waitForEvent()
                    }
                }
                client.shutdownWrite()
                while let read = try? await client.read(into: back), read > 0 {}
                client.close()
                let isSame = (0..<back.count).allSatisfy { back.readable[$0] == pattern($0) }
                received.value.count = isSame ? back.count : -1
                received.value.done.signal()
            }
            let totals = await Tunnel(client: clientSide, upstream: upstreamSide, idle: 5000, on: loop).run()
            clientSide.close()
            upstreamSide.close()
            while received.value.count == nil { await received.value.done.wait() }
            return (received.value.count, totals)
        }
        #expect(received == count)
        #expect(totals.up == count)
        #expect(totals.down == count)
        #expect(totals.error == nil)
    }
}

private final class Received {
    var count: Int?
    let done = Wakeup()
}

private func pattern(_ place: Int) -> UInt8 { UInt8(truncatingIfNeeded: place &* 31 &+ place >> 8) }
