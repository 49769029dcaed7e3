import Bytes
import Forwarding
import HTTP
import IO
import Telemetry
import Transport
import Upstream

/// A tunnel under way whose bytes are not looked at, with its record. The exchange that opened it is not needed any more.
///
/// Belongs to its loop.
final class BlindTunnel {
    let upstream: ByteStream
    let record: ExchangeRecord
    /// When the first byte of its request was seen, on the loop's clock.
    let startedAt: UInt64
    private let tunnel: Tunnel
    private let requester: Requester

    /// Takes the record over, and what has come from both sides. The exchange is to be dissolved.
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

    /// Moves what can be moved without waiting.
    /// - Returns: whether the tunnel goes on; if not, both sides are closed or are to be closed.
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
        // The side that is still there must not take this for an orderly end.
        requester.stream.abort()
    }
}
