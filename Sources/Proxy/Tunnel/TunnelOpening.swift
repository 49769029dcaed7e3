import Bytes
import Challenges
import Forwarding
import HTTP
import IO
import Rules
import Telemetry
import Transport
import Upstream

/// A CONNECT request: the client is told that its tunnel is open, and from then on its bytes are relayed unseen.
struct TunnelOpening {
    let requester: Requester
    let exchange: Exchange
    let destination: Destination

    /// Connects, and tells the client.
    func open() async throws(ExchangeFailure) -> BlindTunnel {
        try check()
        let upstream = try await connect()
        do throws(ExchangeFailure) { try await greet() } catch {
            upstream.stream.close()
            throw error
        }
        return relay(with: upstream)
    }

    /// Whether the request may have a tunnel, as far as that is known before anything is dialled.
    func check() throws(ExchangeFailure) {
        try requester.confirm(destination, for: exchange)
        let port = destination.origin.port
        // Before the client is told that its tunnel is open; where a name leads is known only then.
        if let address = IPAddress(destination.origin.hostText),
            let kind = requester.shared.ownListeners.kind(at: address, port: port),
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
        let started = requester.loop.nanoseconds
        let tunnel: OpenedTunnel
        do throws(Refusal) {
            tunnel = try await destination.byFirstWay { (way: Way) async throws(Refusal) in
                try await connect(by: way)
            }
        } catch { throw .refused(error) }
        tunnel.stream.wakeup = requester.wakeup
        exchange.record.upstream = .opened
        exchange.record.connecting = requester.loop.nanoseconds &- started
        if exchange.record.parts.contains(.response) { exchange.record.server = tunnel.stream.peerAddress?.address }
        return tunnel
    }

    private func connect(by way: Way) async throws(Refusal) -> OpenedTunnel {
        exchange.record.parent = way.parent?.figures
        guard let parent = way.parent else {
            let stream = try await requester.dialer(for: exchange.policy, in: exchange.record.trace)
                .connect(host: destination.origin.hostText, port: destination.origin.port)
            return OpenedTunnel(stream: stream, early: nil)
        }
        let tunnel = try await ParentConnector(requester: requester, exchange: exchange, parent: parent)
            .openTunnel(to: destination, resuming: true)
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
        requester.leaves(by: .none, in: exchange)
        let buffer = exchange.outbound
        buffer.clear()
        buffer.append("HTTP/1.1 200 Connection established\r\n" as StaticString)
        if let answer = exchange.credentials.loginAnswer {
            buffer.append(answer.name)
            buffer.append(": " as StaticString)
            buffer.append(answer.value)
            buffer.append("\r\n" as StaticString)
        }
        buffer.append("\r\n" as StaticString)
        exchange.record.status = Int(Status.ok.rawValue)
        exchange.record.headBytesOut = buffer.count
        try await requester.write(buffer)
    }

    /// From now on both sides' bytes are relayed unseen.
    func relay(with tunnel: OpenedTunnel) -> BlindTunnel {
        requester.leaves(by: .none, in: exchange)
        if destination.route.action != .intercept { takeNote() }
        return BlindTunnel(tunnel, of: exchange, for: requester)
    }

    /// A rule may name the server, and is not asked.
    private func takeNote() {
        let challenger = destination.challenger
        let host = challenger.host
        guard let rule = exchange.policy.rules.ruleOverTLS(host: host.span, port: challenger.port) else { return }
        let tunnel = UnseenTunnel(to: challenger.origin, by: rule)
        exchange.record.details = tunnel.sentence
        let journal = requester.shared.challenges.journal
        if let report = tunnel.note(in: journal, at: requester.loop.epochMilliseconds) {
            requester.shared.report(report)
        }
    }
}
