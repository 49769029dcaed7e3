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

    /// - Returns: milliseconds until it is to be looked at.
    mutating func failed() -> Int {
        let pause =
            switch self {
            case .working: Self.firstPause
            case .failing(let pause): min(pause * 2, Self.longestPause)
            }
        self = .failing(after: pause)
        return pause
    }

    public mutating func worked() { self = .working }
}
