import Authentication
import IO

/// The credentials of one request that are on their way to the store (`persistence permanent`). The response goes to the client
/// when they are there: a proxy that is killed behind a response has kept the credential.
///
/// Belongs to its loop.
public final class PendingStorage {
    /// Milliseconds. A store that takes longer gets the credential later, or not at all, which the log says.
    private static let limit = 2000

    private var writes: [Promise<Void>] = []

    public init() {}

    /// Whether `wait` has something to wait for.
    public var isPending: Bool { !writes.isEmpty }

    /// Begins to store a credential.
    ///
    /// - Parameter write: ends when the credential is stored, or cannot be.
    func begin(on loop: EventLoop, _ write: @escaping @Sendable () async -> Void) {
        let end = Promise<Void>()
        writes.append(end)
        loop.spawn {
            await write()
            end.keep(())
        }
    }

    /// Waits for the end of all that was begun, for at most 2 s.
    public func wait(on loop: EventLoop) async {
        let end = loop.now &+ UInt64(Self.limit)
        while let write = writes.popLast() {
            await write.value(within: end > loop.now ? Int(clamping: end &- loop.now) : 0, on: loop)
        }
    }

    /// Forgets what is under way.
    public func reset() { writes = [] }
}
