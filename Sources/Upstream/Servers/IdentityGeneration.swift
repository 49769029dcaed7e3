import Synchronization

/// The state of the certificates that could be shown: another number whenever one of them has changed.
public final class IdentityGeneration: Sendable {
    private let changes = Atomic(1)

    public init() {}

    /// Never 0.
    public var number: Int { changes.load(ordering: .relaxed) }

    public func advance() { changes.add(1, ordering: .relaxed) }
}
