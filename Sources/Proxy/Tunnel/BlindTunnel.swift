import Bytes
import Forwarding
import HTTP
import IO
import Telemetry
import Transport
import Upstream

/// A tunnel in progress that is not intercepted, with its record. It no longer needs the exchange that opened it.
///
/// It belongs to its loop.
final class BlindTunnel {
    let upstream: ByteStream
    let record: ExchangeRecord
    /// The time when the first byte of its request was seen, on the loop's clock.
    let startedAt: LoopInstant
    private let tunnel: Tunnel
    private let downstream: Downstream

    /// Takes over the record, and the bytes that have arrived from both sides. The caller must dissolve the exchange.
    init(_ opened: OpenedTunnel, of exchange: Exchange, for downstream: Downstream) {
        self.downstream = downstream
        upstream = opened.stream
        startedAt = exchange.times.start
        tunnel = Tunnel(
            client: downstream.stream, upstream: opened.stream, idle: exchange.policy.timeouts.idle,
            on: downstream.loop, sent: exchange.inbound, early: opened.early)
        exchange.inbound.clear()
        record = exchange.record
        record.facts.bytesIn = exchange.body.count
        downstream.metrics.add(to: .tunnelsOpened)
    }

    /// Moves the bytes that can be moved without waiting.
    /// - Returns: whether the tunnel continues; if false, both sides are closed or must be closed.
    func advance() -> Bool {
        guard case .ended = tunnel.advance() else { return true }
        let totals = tunnel.totals
        record.facts.bytesIn += totals.up
        record.facts.bytesOut += totals.down
        record.facts.duration = downstream.loop.now.nanoseconds(since: startedAt)
        downstream.metrics.add(to: .tunnelsClosed)
        upstream.close()
        guard let error = totals.error else { return false }
        record.facts.error = error == .timedOut ? .connectionReadTimeout : .connectionTerminated
        // The remaining side must not take this for an orderly end.
        downstream.stream.abort()
        return false
    }
}
