import IO

/// A loop of its own for a test: runs `body` there and hands back what it returns.
public func onLoop<Value: Sendable>(
    share: Int = EventLoop.usualShare, _ body: @escaping @Sendable (EventLoop) async throws -> Value
) async throws -> Value {
    let loop = try EventLoop(index: 0, share: share)
    loop.start()
    return try await withCheckedThrowingContinuation { continuation in
        loop.spawn {
            do { continuation.resume(returning: try await body(loop)) } catch { continuation.resume(throwing: error) }
        }
    }
}
