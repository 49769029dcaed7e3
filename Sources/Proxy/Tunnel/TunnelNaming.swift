import Authentication
import Bytes
import Forwarding
import HTTP
import IO
import Rules
import Upstream

/// The names of servers in tunnels that were opened to an address. A client can write any name. So a name counts for rules
/// only if it is proved for that address: by the server's certificate (https), or by DNS (http).
extension Downstream {
    /// Proves the name in the first request of a tunnel to an address. A request whose name is not proved is refused, or passes
    /// by the rules for the address alone.
    ///
    /// - Throws: the refusal for the client.
    func proveName(in exchange: Exchange) async throws(ExchangeFailure) {
        guard let tunnel, case .open(let passesUnproved) = tunnel.naming else { return }
        let host = tunnel.host
        guard let address = IPAddress(host.span), let wanted = namedDestination(in: exchange, at: address) else {
            return tunnel.settle(writing: nil)
        }
        let origin = wanted.origin
        if wanted.route.action != .deny, await dialer(for: exchange.policy).confirms(address, of: origin.hostText) {
            tunnel.settle(origin.host, at: address)
            tunnel.destination = wanted
            return recordTarget(of: exchange, in: tunnel)
        }
        let isConcerned = isConcerned(wanted, in: exchange)
        tunnel.settle(writing: passesUnproved && !isConcerned ? origin.host : nil)
        if wanted.route.action == .deny { try permit(exchange, to: wanted) }
        guard passesUnproved, !isConcerned else {
            throw .refused(.unproved(origin.hostText, at: address, port: tunnel.port))
        }
    }

    /// The destination of the request by the name that it writes; nil if it writes none, or is not for the tunnel's port.
    private func namedDestination(in exchange: Exchange, at address: IPAddress) -> Destination? {
        let (head, target) = (exchange.headBytes, exchange.request.target)
        guard let tunnel, target.form != .authority, target.scheme ?? tunnel.scheme == tunnel.scheme,
            let authority = exchange.request.authority
        else { return nil }
        let host = head.readable.extracting(authority.host)
        let usualPort = target.authority == nil ? tunnel.port : tunnel.scheme.defaultPort
        guard (authority.explicitPort ?? usualPort) == tunnel.port, IPAddress(host.extracting(host.bareHost)) == nil
        else {
            return nil
        }
        return upstreams.destination(
            tunnel.scheme, host: host, port: tunnel.port, at: address, by: exchange.policy.rules)
    }

    /// Whether a rule is about the server of that name, so that a request for it may not pass as one for an address.
    private func isConcerned(_ wanted: Destination, in exchange: Exchange) -> Bool {
        let (rules, origin) = (exchange.policy.rules, wanted.origin)
        if wanted.route.action == .deny || wanted.upgrade != nil || wanted.isConcerned(in: shared) { return true }
        let host = origin.host
        return rules.refusedCredentials(
            host: host.span, port: origin.port, protocol: origin.authority.protocol, isSecure: origin.isSecure,
            client: identity(in: exchange)) != nil
    }
}

extension Refusal {
    /// The refusal of a request in a tunnel to an address. No credential may follow a name that is not proved.
    fileprivate static func unproved(_ host: String, at address: IPAddress, port: UInt16) -> Refusal {
        Refusal(
            .misdirectedRequest, .httpRequestError,
            "the tunnel was opened to \(address) port \(port), but the request in it is for \(host), and DNS does not give "
                + "that name this address")
    }
}
