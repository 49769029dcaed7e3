import Bytes
import IO
import TestSupport
import Testing

struct BlockingSocketTests {
    @Test func `a thread that writes more than is taken waits, and sees the other end go`() async throws {
        let total = 8 << 20
        let (count, isAlone) = try await onLoop { loop in
            let (near, far) = try BlockingSocket.pair(on: loop)
            near.wakeup = Wakeup()
            BlockingPool.shared.submit {
                let piece = [UInt8](repeating: 7, count: total)
                _ = far.write(piece.span)
                far.shutdownWrite()
            }
            let received = ByteBuffer(capacity: 4096)
            var count = 0
            while try await near.read(into: received) > 0 {
                count += received.count
                received.clear()
            }
            let wasAlone = far.hasPeerEnded
            near.close()
            // A child that another test just starts may hold the end a moment longer.
            let isAlone = await BlockingPool.shared.run { Self.seesEnd(far) }
            return (count, !wasAlone && isAlone)
        }
        #expect(count == total)
        #expect(isAlone)
    }

    private static func seesEnd(_ socket: BlockingSocket) -> Bool {
        for _ in 0..<500 {
            if socket.hasPeerEnded { return true }
            Pause.take(10)
        }
        return false
    }

    @Test func `a thread reads what a loop writes, up to its end`() async throws {
        let text = try await onLoop { loop in
            let (near, far) = try BlockingSocket.pair(on: loop)
            near.wakeup = Wakeup()
            let out = ByteBuffer(capacity: 64)
            out.append("hello" as StaticString)
            try await near.write(from: out)
            near.close()
            return await BlockingPool.shared.run {
                let received = ByteBuffer(capacity: 64)
                while far.read(into: received) > 0 {}
                return received.readable.text + (far.write([1].span) ? " taken" : " refused")
            }
        }
        #expect(text == "hello refused")
    }
}
