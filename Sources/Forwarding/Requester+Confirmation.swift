import Bytes
import HTTP
import Telemetry
import Upstream

/// The last look before anything is sent: caches may be wrong, and a request that went to another server would take
/// its credentials along.
extension Requester {
    /// Confirms that the destination is that of the server which the request asks for: its scheme, its host and its
    /// port. To be called by whoever is about to send, each time.
    ///
    /// - Parameter isUpgraded: false where the request names its origin as that does itself, also on an upgrade route.
    /// - Throws: what the client is told. Nothing may be sent then.
    public func confirm(
        _ destination: Destination, for exchange: Exchange, isUpgraded: Bool = true
    ) throws(ExchangeFailure) {
        guard asks(exchange, for: destination, isUpgraded: isUpgraded) else { throw stop(destination.origin) }
    }

    /// Confirms that the exchange's connection leads to that server.
    public func confirm(connectionOf exchange: Exchange, to peer: UpstreamServer) throws(ExchangeFailure) {
        guard exchange.upstream.leads(to: peer) else {
            exchange.upstream.reset()
            throw stop(peer)
        }
    }

    /// Whether the request is for the server that the destination is of.
    public func asks(_ exchange: Exchange, for destination: Destination, isUpgraded: Bool = true) -> Bool {
        let request = exchange.request
        guard let authority = request.target.authority else {
            // In origin-form it is for the server that its tunnel was opened to.
            guard let tunnel else { return false }
            let host = tunnel.host
            return destination.isFor(tunnel.scheme, host: host.span, port: tunnel.port, isUpgraded: isUpgraded)
        }
        let head = exchange.headBytes
        return destination.isFor(
            request.target.scheme ?? .https, host: head.readable.extracting(authority.host),
            port: authority.explicitPort ?? request.target.scheme?.defaultPort ?? 80, isUpgraded: isUpgraded)
    }

    private func stop(_ origin: UpstreamServer) -> ExchangeFailure {
        metrics.add(to: .requestsMisdirected)
        shared.report(
            "a request was stopped that was about to go to \(origin.hostText) port \(origin.port), which it is not for: "
                + "this is a fault of the proxy, please report it")
        return .refused(
            Refusal(
                .badGateway, .proxyInternalError,
                "this proxy was about to send the request to another server than it is for, and has sent nothing"))
    }
}
