import Bytes
import Forwarding
import HTTP
import IO
import Rules
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

    /// Whether requests in the tunnel are looked for: by its route, or because its client knows of no proxy. In a tunnel to an
    /// address, the client may also name a server whose route intercepts.
    var looksInside: Bool { isSeen || identity != nil && opening.address != nil }

    private var isSeen: Bool { opening.destination.route.action == .intercept || exchange.record.facts.isRedirected }

    func begin() async throws(ExchangeFailure) -> Beginning {
        try opening.check()
        // Where the route relays, the client learns whether its server is there.
        let connected = isSeen ? nil : try await opening.connect()
        do throws(ExchangeFailure) { try await opening.greet() } catch {
            connected?.stream.close()
            throw error
        }
        let (spoken, upstream) = try await opening.spokenProtocol(on: connected)
        do throws(ExchangeFailure) {
            switch spoken {
            case .http where await entersRequests():
                upstream?.stream.close()
                exchange.record.facts.tunnel = .http
                let naming: InterceptedTunnel.Naming =
                    opening.address == nil ? .settled : .open(passesUnproved: exchange.record.facts.isRedirected)
                return enter(InterceptedTunnel(scheme: .http, host: origin.host, port: origin.port, naming: naming))
            case .tls:
                guard let named = try await named(), let identity else { break }
                upstream?.stream.close()
                exchange.record.facts.tunnel = .https
                return enter(try await named.secure(as: identity))
            case .http2 where entersStreams:
                upstream?.stream.close()
                exchange.record.facts.tunnel = .http
                let tunnel = InterceptedTunnel(scheme: .http, host: origin.host, port: origin.port)
                tunnel.hasPriorKnowledge = true
                return enter(tunnel)
            case .http, .http2, .other: break
            }
        } catch {
            upstream?.stream.close()
            throw error
        }
        return try await relay(with: upstream)
    }

    // MARK: - The name in a tunnel to an address

    /// Whether the session gets the requests of the tunnel. If its route relays it, the first request must name a server whose
    /// route does not.
    private func entersRequests() async -> Bool {
        if isSeen { return true }
        guard let address = opening.address, let host = await opening.firstHost() else { return false }
        let wanted = destination(.http, host, at: address)
        return switch wanted.route.action {
        case .tunnel: false
        case .deny: true
        case .intercept:
            await downstream.dialer(for: exchange.policy).confirms(address, of: wanted.origin.hostText)
        }
    }

    /// Whether HTTP/2 without TLS becomes requests of the session. Its client knows that the server speaks it. A stream of
    /// HTTP/2 carries no other streams.
    private var entersStreams: Bool {
        opening.destination.route.action == .intercept && !exchange.record.facts.isRedirected && offersHTTP2
    }

    /// The interception for the server that the client's hello names; nil if the tunnel is relayed unseen. If the tunnel leads
    /// to an address, the server's certificate proves the name before a request is sent.
    private func named() async throws(ExchangeFailure) -> Interception? {
        let unnamed = opening.destination.route.action == .intercept ? self : nil
        guard let address = opening.address else { return unnamed }
        try await opening.readFirstRecord()
        let inbound = exchange.inbound
        guard let name = ClientHello(inbound.readable).serverName else { return unnamed }
        let wanted = destination(.https, Array(name.utf8), at: address)
        switch wanted.route.action {
        case .deny:
            throw .cutShort(
                .httpRequestDenied, "the rules of this proxy do not allow requests to \(name) port \(origin.port)")
        // The name proves nothing yet. It cannot undo what the rules say about the address.
        case .tunnel where unnamed == nil: return nil
        case .tunnel, .intercept: break
        }
        try await downstream.upstreams.renewWays(
            to: wanted, by: exchange.policy, for: downstream.waiting(on: exchange))
        let opening = TunnelOpening(downstream: downstream, exchange: exchange, destination: wanted)
        return Interception(opening: opening, identity: identity)
    }

    private func destination(_ scheme: Scheme, _ host: [UInt8], at address: IPAddress) -> Destination {
        downstream.upstreams.destination(
            scheme, host: host.span, port: origin.port, at: address, by: exchange.policy.rules)
    }

    private func enter(_ tunnel: InterceptedTunnel) -> Beginning {
        downstream.metrics.add(to: .tunnelsIntercepted)
        return .entered(tunnel)
    }

    private func relay(with upstream: OpenedTunnel?) async throws(ExchangeFailure) -> Beginning {
        exchange.record.facts.tunnel = .opaque
        if let upstream { return .relayed(opening.relay(with: upstream)) }
        return .relayed(opening.relay(with: try await opening.connectForGreeted()))
    }

    // MARK: - TLS

    /// Shakes hands with the client as the server that it means.
    private func secure(as identity: InterceptionIdentity) async throws(ExchangeFailure) -> InterceptedTunnel {
        let expected = expectedNames
        var failure: Refusal?
        var trouble: CertificateAuthority.Failure?
        do throws(HandshakeError) {
            try await downstream.accept(
                as: identity.context, after: exchange.inbound, within: exchange.policy.timeouts.head,
                offersHTTP2: offersHTTP2
            ) { wanted in
                let name = wanted.map { ServerName($0) } ?? expected[0]
                do throws(CertificateAuthority.Failure) {
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
            downstream.noteWeakClient(error, of: exchange.record.facts.user, calling: server)
            if let trouble { throw .handshakeFailed(.proxyInternalError, "\(trouble)") }
            throw ExchangeFailure(error, advice: "it must trust the CA that `attache authority export` prints")
        }
        // A client that resumed a session has named its server too.
        let wanted = downstream.stream.tls?.serverName.map { ServerName($0) } ?? expected[0]
        return InterceptedTunnel(
            scheme: .https, host: origin.host, port: origin.port,
            naming: opening.destination.address.map { .proved($0) } ?? .settled,
            misdirection: expected.contains(wanted) ? nil : .misdirected(to: origin, wanted: wanted), failure: failure)
    }

    /// Whether the client may choose HTTP/2. Not inside a stream, whose connection has it already.
    private var offersHTTP2: Bool { opening.destination.route.http2.isForClients && downstream.stream.socket != nil }

    /// The names by which the client may check the proxy's certificate. The first is the client's own: if it wrote an
    /// IPv4 address as `::ffff:10.0.0.7`, it looks for those 16 bytes.
    private var expectedNames: [ServerName] {
        let name = ServerName(origin.hostText)
        guard opening.destination.address == nil, let host = exchange.request.target.authority?.host else {
            return [name]
        }
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
            exchange.record.facts.parent = way.parent?.figures
            return try await context.openConnection(offeringHTTP2: context.offersHTTP2)
        }
        context.keep(connection)
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
