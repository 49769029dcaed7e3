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
    let startedAt: UInt64
    private let tunnel: Tunnel
    private let requester: Requester

    /// Takes over the record, and the bytes that have arrived from both sides. The caller must dissolve the exchange.
    init(_ opened: OpenedTunnel, of exchange: Exchange, for requester: Requester) {
        self.requester = requester
        upstream = opened.stream
        startedAt = exchange.times.start
        tunnel = Tunnel(
            client: requester.stream, upstream: opened.stream, idle: exchange.policy.timeouts.idle,
            on: requester.loop, sent: exchange.inbound, early: opened.early)
        exchange.inbound.clear()
        record = exchange.record
        record.bytesIn = exchange.body.count
        requester.metrics.add(to: .tunnelsOpened)
    }

    /// Moves the bytes that can be moved without waiting.
    /// - Returns: whether the tunnel continues; if false, both sides are closed or must be closed.
    func advance() -> Bool {
        guard case .ended = tunnel.advance() else { return true }
        end()
        return false
    }

    private func end() {
        let totals = tunnel.totals
        record.bytesIn += totals.up
        record.bytesOut += totals.down
        record.duration = requester.loop.nanoseconds &- startedAt
        requester.metrics.add(to: .tunnelsClosed)
        upstream.close()
        guard let error = totals.error else { return }
        record.error = error == .timedOut ? .connectionReadTimeout : .connectionTerminated
        // The remaining side must not take this for an orderly end.
        requester.stream.abort()
    }
}
