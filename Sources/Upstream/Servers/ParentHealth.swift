/// Whether a parent is worth trying. A machine without clock and I/O: who looks at the parent from time to time says what
/// came of it.
enum ParentHealth: Equatable {
    /// Becomes `.failing` when no connection can be made.
    case working
    /// Nobody waits for it: it is looked at after a while, and after twice as long each time that it still fails. Becomes
    /// `.working` with the next connection.
    case failing(after: Int)

    /// Milliseconds until a parent is looked at after its first failure, and at most.
    static let firstPause = 1000
    public static let longestPause = 60_000

    public mutating func failed() {
        switch self {
        case .working: self = .failing(after: Self.firstPause)
        case .failing(let pause): self = .failing(after: min(pause * 2, Self.longestPause))
        }
    }

    public mutating func worked() { self = .working }
}
