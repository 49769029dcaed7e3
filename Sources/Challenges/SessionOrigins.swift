import Authentication
import IO
import Synchronization

/// The origins that a session's credential is kept for: a challenge of theirs may be ours to answer although no rule
/// speaks of it.
final class SessionOrigins: Sendable {
    private let origins = Mutex(RecencyMap<Origin, Void>())
    private let changes = Atomic(1)
    private let capacity: Int

    /// - Parameter capacity: origins; beyond it the one for which a credential was kept longest ago is forgotten, and where
    ///   no rule speaks of that one, its challenges go to the clients until one of them says its credential again.
    public init(capacity: Int = 16_384) { self.capacity = max(1, capacity) }

    /// Another number whenever there are others; never 0.
    public var generation: Int { changes.load(ordering: .relaxed) }

    public var count: Int { origins.withLock { $0.count } }

    public func contains(_ origin: Origin) -> Bool { origins.withLock { $0.contains(origin) } }

    public func insert(_ new: some Sequence<Origin>) {
        let isOther = origins.withLock { origins in
            var isOther = false
            for origin in new {
                if !origins.contains(origin) {
                    isOther = true
                    origins.makeRoom(below: capacity)
                }
                origins.put((), for: origin)
            }
            return isOther
        }
        if isOther { changes.add(1, ordering: .relaxed) }
    }
}
