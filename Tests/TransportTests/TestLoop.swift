import Bytes
import IO
import Transport

/// A loop of its own for a test: runs `body` there and hands back what it returns.
func onLoop<Value: Sendable>(_ body: @escaping @Sendable (EventLoop) async throws -> Value) async throws -> Value {
    let loop = try EventLoop(index: 0)
    loop.start()
    return try await withCheckedThrowingContinuation { continuation in
        loop.spawn {
            do { continuation.resume(returning: try await body(loop)) } catch { continuation.resume(throwing: error) }
        }
    }
}

/// Two connected streams on one loop.
func streams(on loop: EventLoop) async throws -> (ByteStream, ByteStream) {
    let wakeup = Wakeup()
    let accepted = Accepted()
    let listener = try Listener(SocketAddress(IPAddress(v4: 0x7F00_0001), port: 0), on: loop) { descriptor in
        accepted.descriptor = descriptor
        wakeup.signal()
    }
    let near = try await Connector.connect(to: [listener.address], within: 2000, on: loop, wakeup: wakeup)
    while accepted.descriptor < 0 { await wakeup.wait() }
    listener.close()
    return (near, try ByteStream(takingOwnership: accepted.descriptor, on: loop))
}

private final class Accepted { var descriptor: Int32 = -1 }
