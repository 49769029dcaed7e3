import Authentication
import IO

/// How long one request waits for what another is told.
extension Waiter {
    /// Milliseconds for which a request waits before any answer is out, when nothing is at stake.
    static let patience = 1000

    /// What becomes of the first request to an origin.
    ///
    /// - Parameter end: on the loop's clock. Then the request goes out itself.
    func news(until end: UInt64, on loop: EventLoop) async -> Outcome {
        let alarm = Alarm(on: loop) { self.overtake() }
        alarm.set(after: end > loop.now ? Int(clamping: end &- loop.now) : 0)
        defer { alarm.cancel() }
        return await outcome()
    }

    /// What becomes of a version of a credential that is not proven yet. For half of the time nobody else sends it; then one
    /// of those who wait does, since the server may be slow with that one request, and the others wait for either.
    ///
    /// - Parameter limit: milliseconds.
    func verdict(within limit: Int, on loop: EventLoop) async -> Outcome {
        let turn = Alarm(on: loop) { self.takeOver() }
        let end = Alarm(on: loop) { self.expire() }
        turn.set(after: limit / 2)
        end.set(after: limit)
        defer {
            turn.cancel()
            end.cancel()
        }
        return await outcome()
    }
}
