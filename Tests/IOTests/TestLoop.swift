import Bytes
import IO
import Testing

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

/// Two connected sockets on one loop, with one wake-up.
func connectedPair(on loop: EventLoop) async throws -> (Socket, Socket) {
    let wakeup = Wakeup()
    let accepted = Accepted()
    let listener = try Listener(SocketAddress(IPAddress(v4: 0x7F00_0001), port: 0), on: loop) { descriptor in
        accepted.descriptor = descriptor
        wakeup.signal()
    }
    let near = try Socket.connecting(to: listener.address, on: loop)
    near.wakeup = wakeup
    while near.connectionResult() == nil || accepted.descriptor < 0 { await wakeup.wait() }
    try near.connectionResult()?.get()
    let far = try Socket(takingOwnership: accepted.descriptor, on: loop)
    far.wakeup = wakeup
    listener.close()
    return (near, far)
}

private final class Accepted { var descriptor: Int32 = -1 }
