import IO
import TestSupport
import Transport

/// Two connected streams on one loop.
func streams(on loop: EventLoop) async throws -> (ByteStream, ByteStream) {
    let (near, far) = try await connectedPair(on: loop)
    return (ByteStream(near), ByteStream(far))
}
