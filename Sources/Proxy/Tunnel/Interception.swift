import Bytes
import Forwarding
import HTTP
import IO
import TLS
import Telemetry
import Transport
import Upstream

/// Looks into a tunnel: what is HTTP in it, by TLS or in clear, becomes the session's next requests, and all else is
/// relayed unseen.
///
/// The client is told that the tunnel is open before anything is dialled, since it says only then what it speaks. What
/// goes wrong after that is told in the answers to the requests in the tunnel; where none can come, the connection is
/// cut.
struct Interception {
    /// How a tunnel was begun.
    enum Beginning {
        /// The requests that come through it are the session's next ones.
        case entered(InterceptedTunnel)
        case relayed(BlindTunnel)
    }

    let opening: TunnelOpening
    /// Nil where TLS is relayed unseen.
    let identity: InterceptionIdentity?

    private var requester: Requester { opening.requester }
    private var exchange: Exchange { opening.exchange }
    private var origin: UpstreamServer { opening.destination.origin }

    func begin() async throws(ExchangeFailure) -> Beginning {
        try opening.check()
        try await opening.greet()
        let (spoken, upstream) = try await opening.spokenProtocol()
        switch spoken {
        case .http:
            upstream?.stream.close()
            exchange.record.tunnel = .http
            return enter(InterceptedTunnel(scheme: .http, host: origin.host, port: origin.port))
        case .tls:
            guard let identity else { return try await relay(with: upstream) }
            upstream?.stream.close()
            exchange.record.tunnel = .https
            return enter(try await secure(as: identity))
        case .other: return try await relay(with: upstream)
        }
    }

    private func enter(_ tunnel: InterceptedTunnel) -> Beginning {
        requester.metrics.add(to: .tunnelsIntercepted)
        return .entered(tunnel)
    }

    private func relay(with upstream: OpenedTunnel?) async throws(ExchangeFailure) -> Beginning {
        exchange.record.tunnel = .opaque
        if let upstream { return .relayed(opening.relay(with: upstream)) }
        return .relayed(opening.relay(with: try await opening.connectForGreeted()))
    }

    // MARK: - TLS

    /// Shakes hands with the client as the server that it means.
    private func secure(as identity: InterceptionIdentity) async throws(ExchangeFailure) -> InterceptedTunnel {
        let expected = expectedNames
        var failure: Refusal?
        var trouble: AuthorityError?
        do throws(HandshakeError) {
            try await requester.accept(
                as: identity.context, after: exchange.inbound, within: exchange.policy.timeouts.head
            ) { wanted in
                let name = wanted.map { ServerName($0) } ?? expected[0]
                do throws(AuthorityError) {
                    if !expected.contains(name) || identity.hasLeaf(for: name) {
                        return try await identity.leaf(for: name, like: nil)
                    }
                    let certificate: Certificate?
                    do throws(Refusal) { certificate = try await callOrigin() } catch {
                        failure = error
                        certificate = nil
                    }
                    return try await identity.leaf(for: name, like: certificate)
                } catch {
                    trouble = error
                    return nil
                }
            }
        } catch {
            let server = DatedUse.Server("https", host: origin.hostText, port: origin.port, as: .origin)
            requester.noteDatedClient(error, of: exchange.record.user, calling: server)
            if let trouble { throw .handshakeFailed(.proxyInternalError, "\(trouble)") }
            throw ExchangeFailure(error, advice: "it must trust the CA that `attache authority export` prints")
        }
        // Also a client that came back by a ticket has said whom it wants.
        let wanted = requester.stream.tls?.serverName.map { ServerName($0) } ?? expected[0]
        return InterceptedTunnel(
            scheme: .https, host: origin.host, port: origin.port,
            misdirection: expected.contains(wanted) ? nil : .misdirected(to: origin, wanted: wanted), failure: failure)
    }

    /// The names by which the client may check our certificate. The first is the client's own: if it wrote an IPv4 address as
    /// `::ffff:10.0.0.7`, it looks for those 16 bytes.
    private var expectedNames: [ServerName] {
        let name = ServerName(origin.hostText)
        guard let host = exchange.request.target.authority?.host else { return [name] }
        let head = exchange.headBytes
        return [ServerName(head.readable.extracting(host).text), name]
    }

    /// Connects to the origin, so that the leaf can be like its certificate; the first request finds the connection.
    private func callOrigin() async throws(Refusal) -> Certificate? {
        // Nothing can come of its handshake when it ends its side now.
        requester.leaves(by: .end, in: exchange)
        defer { requester.leaves(by: .none, in: exchange) }
        let context = ForwardingContext(
            requester: requester, exchange: exchange, destination: opening.destination)
        let connection = try await opening.destination.byFirstWay { (way: Way) async throws(Refusal) in
            exchange.way = way
            exchange.record.parent = way.parent?.figures
            return try await context.openConnection()
        }
        connection.rest(for: ResponseRelay.keptFor)
        return connection.security?.chain.leaf
    }
}

extension Refusal {
    /// No credential may follow, since nobody can tell whom it would reach.
    fileprivate static func misdirected(to origin: UpstreamServer, wanted: ServerName) -> Refusal {
        Refusal(
            .misdirectedRequest, .httpRequestError,
            "the tunnel was opened to \(origin.hostText) port \(origin.port), but TLS in it asks for \(wanted): "
                + "the client must open its tunnel by that name")
    }
}
