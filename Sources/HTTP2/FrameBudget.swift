/// How many frames of a kind a peer may make us handle: some at once, and then so many each second.
struct FrameBudget {
    private static let nanosecondsPerSecond: UInt64 = 1_000_000_000
    private let most: UInt64
    private let perSecond: UInt64
    /// The rest, in frames times `nanosecondsPerSecond`.
    private var left: UInt64
    private var lastTime: UInt64 = 0

    /// - Parameter most: the frames at once; less than ten million.
    init(_ most: UInt64, perSecond: UInt64) {
        self.most = most &* Self.nanosecondsPerSecond
        self.perSecond = perSecond
        left = self.most
    }

    /// Takes one frame.
    /// - Parameter now: a time that never goes back, in nanoseconds.
    /// - Returns: false if the budget is exhausted.
    mutating func take(at now: UInt64) -> Bool {
        if now > lastTime {
            // A minute refills every budget.
            let passed = min(now - lastTime, 60 * Self.nanosecondsPerSecond)
            lastTime = now
            left = min(most, left &+ passed &* perSecond)
        }
        guard left >= Self.nanosecondsPerSecond else { return false }
        left -= Self.nanosecondsPerSecond
        return true
    }

    /// Gives frames back.
    mutating func give(_ frames: UInt64) {
        left = min(most, left &+ frames &* Self.nanosecondsPerSecond)
    }
}
