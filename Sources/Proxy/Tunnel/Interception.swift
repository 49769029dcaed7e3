import Bytes
import Forwarding
import HTTP
import IO
import TLS
import Telemetry
import Transport
import Upstream

/// Intercepts a tunnel. HTTP in it, with TLS or in clear, becomes the session's next requests; all other protocols are
/// relayed unseen.
///
/// The client gets the response that opens the tunnel before the origin is called, because it sends nothing before.
/// Later errors are reported in the responses to requests in the tunnel; if no response is possible, the connection is
/// closed.
struct Interception {
    /// The way in which a tunnel was begun.
    enum Beginning {
        /// The session continues with the requests in the tunnel.
        case entered(InterceptedTunnel)
        case relayed(BlindTunnel)
    }

    let opening: TunnelOpening
    /// The interception's certificates; nil if TLS is relayed unseen.
    let identity: InterceptionIdentity?

    private var downstream: Downstream { opening.downstream }
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
        downstream.metrics.add(to: .tunnelsIntercepted)
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
            try await downstream.accept(
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
            let server = WeakUse.Server("https", host: origin.hostText, port: origin.port, as: .origin)
            downstream.noteWeakClient(error, of: exchange.record.user, calling: server)
            if let trouble { throw .handshakeFailed(.proxyInternalError, "\(trouble)") }
            throw ExchangeFailure(error, advice: "it must trust the CA that `attache authority export` prints")
        }
        // A client that resumed a session has named its server too.
        let wanted = downstream.stream.tls?.serverName.map { ServerName($0) } ?? expected[0]
        return InterceptedTunnel(
            scheme: .https, host: origin.host, port: origin.port,
            misdirection: expected.contains(wanted) ? nil : .misdirected(to: origin, wanted: wanted), failure: failure)
    }

    /// The names by which the client may check the proxy's certificate. The first is the client's own: if it wrote an
    /// IPv4 address as `::ffff:10.0.0.7`, it looks for those 16 bytes.
    private var expectedNames: [ServerName] {
        let name = ServerName(origin.hostText)
        guard let host = exchange.request.target.authority?.host else { return [name] }
        let head = exchange.headBytes
        return [ServerName(head.readable.extracting(host).text), name]
    }

    /// Connects to the origin, so that the leaf can resemble its certificate. The first request uses the connection.
    private func callOrigin() async throws(Refusal) -> Certificate? {
        // If the client closes its side now, its handshake cannot succeed.
        downstream.leaves(by: .end, in: exchange)
        defer { downstream.leaves(by: .none, in: exchange) }
        let context = ForwardingContext(
            downstream: downstream, exchange: exchange, destination: opening.destination)
        let connection = try await opening.destination.byFirstWay { (way: UpstreamPath) async throws(Refusal) in
            exchange.way = way
            exchange.record.parent = way.parent?.figures
            return try await context.openConnection()
        }
        connection.rest(for: ResponseRelay.keptFor)
        return connection.security?.chain.leaf
    }
}

extension Refusal {
    /// The refusal of a tunnel whose client wants another server. No credential may follow: it is unknown which server
    /// it would reach.
    fileprivate static func misdirected(to origin: UpstreamServer, wanted: ServerName) -> Refusal {
        Refusal(
            .misdirectedRequest, .httpRequestError,
            "the tunnel was opened to \(origin.hostText) port \(origin.port), but TLS in it asks for \(wanted): "
                + "the client must open its tunnel by that name")
    }
}
