import HTTP
import IO
import Telemetry
import Upstream

extension ForwardingContext {
    /// A challenge has come that is answered.
    func noteChallenge() {
        exchange.record.trace?.endLeg(status: Int(exchange.upstream.head.status.rawValue))
        if exchange.challengedAt == nil { exchange.challengedAt = requester.loop.nanoseconds }
    }

    /// The response goes to the client.
    func notePassage() {
        guard let start = exchange.challengedAt else { return }
        exchange.challengedAt = nil
        requester.metrics.note(.challenge, from: start, to: requester.loop.nanoseconds)
    }
}
