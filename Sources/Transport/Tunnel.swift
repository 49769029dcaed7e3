import Bytes
import IO

/// A blind relay between two streams, in one task: bytes both ways, each end passed on as a half-close.
public enum Tunnel {
    /// What went through.
    public struct Totals: Sendable {
        public var up = 0
        public var down = 0
        /// Nil when both sides ended in order.
        public var error: IOError?
    }

    /// Relays until both directions have ended, one side fails, or neither side says anything for `idle` milliseconds.
    /// Both streams must have the same wake-up. The caller closes them.
    public static func relay(
        client: ByteStream, upstream: ByteStream, idle: Int, on loop: EventLoop
    ) async -> Totals {
        var up = TunnelDirection(from: client, to: upstream, on: loop)
        var down = TunnelDirection(from: upstream, to: client, on: loop)
        var totals = Totals()
        client.setDeadline(after: nil)
        do throws(IOError) {
            while true {
                let upward = try up.advance()
                let downward = try down.advance()
                switch (upward, downward) {
                case (.finished, .finished):
                    totals.up = up.moved
                    totals.down = down.moved
                    return totals
                case (.advanced, _), (_, .advanced):
                    continue
                case (.blocked, _), (_, .blocked):
                    upstream.setDeadline(after: idle)
                    await client.socket.waitForEvent()
                    try upstream.check()
                    try client.check()
                }
            }
        } catch {
            totals.error = error
        }
        totals.up = up.moved
        totals.down = down.moved
        return totals
    }
}
