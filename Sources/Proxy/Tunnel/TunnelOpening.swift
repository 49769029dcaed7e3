import Bytes
import HTTP
import IO
import Rules
import Telemetry
import Transport

/// A CONNECT request: the client is told that its tunnel is open, and from then on its bytes are relayed unseen; or, where
/// the route says so, looked into.
struct TunnelOpening {
    let session: ClientSession
    let exchange: Exchange
    let destination: Destination

    /// - Returns: whether the session goes on, with the requests that come through the tunnel.
    func open() async throws(ExchangeFailure) -> Bool {
        try session.requester.confirm(destination, for: exchange)
        try checkRequest()
        if destination.route.action == .intercept { return try await Interception(opening: self).begin() }
        let upstream = try await connect()
        defer { upstream.stream.close() }
        try await greet()
        try await relay(with: upstream)
        return false
    }

    private func checkRequest() throws(ExchangeFailure) {
        let port = destination.origin.port
        // Before the client is told that its tunnel is open; where a name leads is known only then.
        if let address = IPAddress(destination.origin.hostText),
            let kind = session.worker.shared.ownListeners.kind(at: address, port: port),
            kind == .proxy || destination.route.action != .intercept
        {
            throw .refused(Refusal(kind, host: destination.origin.hostText, port: port))
        }
        guard exchange.policy.rules.egress.permitsConnect(port: port) else {
            throw .refused(
                .tunnelPort(port, of: destination.origin.hostText, by: exchange.policy.rules.egress))
        }
        guard exchange.request.framing == .none || exchange.request.framing == .length(0) else {
            throw .refused(Refusal(.badRequest, .httpRequestError, "a CONNECT request has no body"))
        }
    }

    /// Connects to the server as it is, for bytes that are not looked at, by the first way that works.
    func connect() async throws(ExchangeFailure) -> OpenedTunnel {
        let started = session.worker.loop.now
        let tunnel: OpenedTunnel
        do throws(Refusal) {
            tunnel = try await destination.byFirstWay { (way: Way) async throws(Refusal) in
                try await connect(by: way)
            }
        } catch { throw .refused(error) }
        tunnel.stream.wakeup = session.requester.wakeup
        exchange.record.upstream = .opened
        exchange.record.connectMilliseconds = Int(clamping: session.worker.loop.now &- started)
        return tunnel
    }

    private func connect(by way: Way) async throws(Refusal) -> OpenedTunnel {
        exchange.record.parent = way.parent?.label
        guard let parent = way.parent else {
            let stream = try await session.requester.dialer(for: exchange.policy)
                .connect(host: destination.origin.hostText, port: destination.origin.port)
            return OpenedTunnel(stream: stream, early: nil)
        }
        let tunnel = try await ParentConnector(requester: session.requester, exchange: exchange, parent: parent)
            .openTunnel(to: destination.origin, resuming: true)
        return OpenedTunnel(stream: tunnel.connection.stream, early: tunnel.early)
    }

    /// The same for a client that has been told already that its tunnel is open.
    func connectForGreeted() async throws(ExchangeFailure) -> OpenedTunnel {
        do throws(ExchangeFailure) { return try await connect() } catch {
            guard case .refused(let refusal) = error else { throw error }
            throw .cutShort(refusal.error, refusal.sentence)
        }
    }

    /// Tells the client in one write.
    func greet() async throws(ExchangeFailure) {
        // From here on it may end its side, as in any tunnel, and of a handshake that it breaks off an alert may say why.
        session.requester.leaves(by: .none, in: exchange)
        let buffer = exchange.outbound
        buffer.clear()
        buffer.append("HTTP/1.1 200 Connection established\r\n" as StaticString)
        if let answer = exchange.loginAnswer {
            buffer.append(answer.name)
            buffer.append(": " as StaticString)
            buffer.append(answer.value)
            buffer.append("\r\n" as StaticString)
        }
        buffer.append("\r\n" as StaticString)
        exchange.record.status = Int(Status.ok.rawValue)
        try await session.requester.write(buffer)
    }

    /// Passes on what the client has sent already, and then everything that either side sends.
    func relay(with tunnel: OpenedTunnel) async throws(ExchangeFailure) {
        let (policy, upstream) = (exchange.policy, tunnel.stream)
        session.requester.leaves(by: .none, in: exchange)
        exchange.record.bytesIn = exchange.inbound.count
        if let early = tunnel.early {
            exchange.record.bytesOut += early.count
            try await session.requester.write(early)
        }
        upstream.setDeadline(after: policy.timeouts.idle)
        do throws(IOError) { try await upstream.write(from: exchange.inbound) } catch { throw .clientLost }
        session.worker.metrics.add(to: .tunnelsOpened)
        let totals = await Tunnel.relay(
            client: session.stream, upstream: upstream, idle: policy.timeouts.idle, on: session.worker.loop)
        session.worker.metrics.add(to: .tunnelsClosed)
        exchange.record.bytesIn += totals.up
        exchange.record.bytesOut += totals.down
        if let error = totals.error {
            exchange.record.error = error == .timedOut ? .connectionReadTimeout : .connectionTerminated
            // The side that is still there must not take this for an orderly end.
            session.stream.abort()
        }
    }
}
