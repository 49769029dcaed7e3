/// Whether a parent is worth trying. A machine without clock and I/O: the caller checks the parent from time to time
/// and reports the result.
enum ParentHealth: Equatable {
    /// Connections succeed. Becomes `.failing` when a connection fails.
    case working
    /// Connections fail, and no request waits for the parent. The next check follows after this many milliseconds,
    /// which double with each failure. Becomes `.working` with the next successful connection.
    case failing(after: Int)

    /// The milliseconds until the check after the first failure.
    static let firstPause = 1000
    public static let longestPause = 60_000

    /// - Returns: milliseconds until the next check.
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
