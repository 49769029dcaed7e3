/// Whether a parent is worth trying. A machine without clock and I/O.
enum ParentHealth: Equatable {
    /// Becomes `.failing` when no connection can be made.
    case working
    /// It is left alone until a moment of the loop's clock, for twice as long after each failure. Becomes `.working`
    /// with the next connection.
    case failing(until: UInt64, backOff: UInt64)

    /// Milliseconds that a parent is left alone after its first failure, and at most.
    static let firstBackOff: UInt64 = 1000
    static let longestBackOff: UInt64 = 60_000

    mutating func failed(at now: UInt64) {
        switch self {
        case .working: self = .failing(until: now &+ Self.firstBackOff, backOff: Self.firstBackOff)
        case .failing(let until, let backOff):
            // Others that were under way say nothing new.
            guard now >= until else { return }
            let next = min(backOff * 2, Self.longestBackOff)
            self = .failing(until: now &+ next, backOff: next)
        }
    }

    mutating func worked() { self = .working }

    func isWorthTrying(at now: UInt64) -> Bool {
        switch self {
        case .working: true
        case .failing(let until, _): now >= until
        }
    }
}
