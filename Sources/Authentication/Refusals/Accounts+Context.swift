import Bytes
import Synchronization

extension Accounts {
    /// The shared part of all accounts of a process: the store, and the observers of changes.
    final class Context: Sendable {
        let replica = UInt64.random(in: 1...UInt64.max)
        private let given: (any Journal)?
        private let changes = Atomic(0)
        /// The number of accounts of doubted versions.
        private let troubled = Atomic(0)
        let prober = Mutex<@Sendable (Evidence.Probe) -> Void>({ _ in })
        let waker = Mutex<@Sendable (WallTime) -> Void>({ _ in })
        let observer = Mutex<@Sendable ([Account.Change]) -> Void>({ _ in })

        init(journal: (any Journal)?) { given = journal }

        /// The journal; nil while there is no store.
        var journal: (any Journal)? { given?.isAttached == true ? given : nil }

        var generation: Int { changes.load(ordering: .acquiring) }
        var troubledCount: Int { troubled.load(ordering: .acquiring) }

        func noteChange() { changes.add(1, ordering: .releasing) }

        /// Adds a difference to the number of doubted versions.
        func noteTroubled(_ difference: Int) { troubled.add(difference, ordering: .acquiringAndReleasing) }

        func ask(_ probe: Evidence.Probe) { prober.withLock { $0 }(probe) }

        func wake(at time: WallTime) { waker.withLock { $0 }(time) }

        func note(_ changes: [Account.Change]) {
            if !changes.isEmpty { observer.withLock { $0 }(changes) }
        }
    }
}
