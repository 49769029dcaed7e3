import Synchronization

/// The state of the certificates that could be shown: another number whenever one of them has changed.
final class IdentityGeneration: Sendable {
    private let changes = Atomic(1)

    /// Never 0.
    var number: Int { changes.load(ordering: .relaxed) }

    func advance() { changes.add(1, ordering: .relaxed) }
}
