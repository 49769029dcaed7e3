import Glibc

/// Waiting for what another process will do: the only place where a measure sleeps.
enum Wait {
    /// - Parameter microseconds: between two looks.
    /// - Returns: whether it came about in that time.
    static func until(
        within limit: Duration = .seconds(60), every microseconds: UInt32 = 1000, _ condition: () -> Bool
    ) -> Bool {
        let clock = ContinuousClock()
        let end = clock.now + limit
        while !condition() {
            guard clock.now < end else { return false }
            usleep(microseconds)
        }
        return true
    }
}
