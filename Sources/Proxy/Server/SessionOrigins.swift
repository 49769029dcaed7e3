import Authentication
import Synchronization

/// The origins that a session's credential is kept for: a challenge of theirs may be ours to answer although no rule
/// speaks of it.
final class SessionOrigins: Sendable {
    private let origins = Mutex<Set<Authentication.Origin>>([])
    private let changes = Atomic(1)

    /// Another number whenever there are others; never 0.
    var generation: Int { changes.load(ordering: .relaxed) }

    func contains(_ origin: Authentication.Origin) -> Bool { origins.withLock { $0.contains(origin) } }

    func insert(_ new: some Sequence<Authentication.Origin>) {
        let isLarger = origins.withLock { origins in
            let before = origins.count
            origins.formUnion(new)
            return origins.count > before
        }
        if isLarger { changes.add(1, ordering: .relaxed) }
    }
}
