import Bytes
import IO

/// Two connected sockets on one loop, with one wake-up.
public func connectedPair(on loop: EventLoop) async throws -> (Socket, Socket) {
    let wakeup = Wakeup()
    let accepted = Accepted()
    let listener = try Listener(SocketAddress(IPAddress(v4: 0x7F00_0001), port: 0), on: loop) { connection in
        accepted.descriptor = connection.descriptor
        wakeup.signal()
    }
    let near = try Socket.connecting(to: listener.address, on: loop)
    near.wakeup = wakeup
    while near.connectionResult() == nil || accepted.descriptor < 0 { await wakeup.wait() }
    let far = try Socket(takingOwnership: accepted.descriptor, on: loop)
    far.wakeup = wakeup
    listener.close()
    return (near, far)
}

private final class Accepted { var descriptor: Int32 = -1 }
