import IO
import Telemetry
import Upstream

extension ForwardingContext {
    /// A challenge has come that is answered.
    func noteChallenge() {
        if exchange.challengedAt == nil { exchange.challengedAt = requester.loop.now }
    }

    /// The response goes to the client.
    func notePassage() {
        guard let start = exchange.challengedAt else { return }
        exchange.challengedAt = nil
        requester.metrics.note(.challenge, from: start, to: requester.loop.now)
    }
}
