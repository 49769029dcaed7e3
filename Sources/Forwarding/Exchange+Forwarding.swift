import HTTP
import IO
import Upstream

extension Exchange {
    /// From now on the client's request is taken there, and the response back.
    public func forward(to destination: Destination) {
        self.destination = destination
        forwarding.begin(upgrade: destination.upgrade, for: .client)
    }

    /// Goes on as far as that is possible without waiting.
    public func advance(for requester: Requester) throws(ExchangeFailure) -> Forwarding.Progress {
        guard let destination else { throw .clientLost }
        return try forwarding.advance(self, for: requester, to: destination)
    }

    /// Does what the forwarding waits for.
    public func performWork(for requester: Requester) async throws(ExchangeFailure) {
        guard let destination else { throw .clientLost }
        try await forwarding.performWork(
            ForwardingContext(requester: requester, exchange: self, destination: destination))
    }

    /// Sends a request of our own, up to the response's head. What the origin says of it is nobody's affair but the caller's.
    /// - Parameters:
    ///   - upgrade: as `Destination.upgrade`; nil where the request speaks of its origin as that does itself.
    ///   - purpose: not a client's.
    public func ask(
        _ destination: Destination, upgrade: UpgradedOrigin?, for requester: Requester,
        purpose: Forwarding.Purpose = .own
    ) async throws(ExchangeFailure) {
        self.destination = destination
        forwarding.begin(upgrade: upgrade, for: purpose)
        while true {
            switch try advance(for: requester) {
            case .awaitsEvent: await requester.wakeup.wait()
            case .awaitsWork: try await performWork(for: requester)
            case .upgraded, .ended: return
            }
        }
    }
}
