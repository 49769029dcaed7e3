import Bytes
import Challenges
import Forwarding
import HTTP
import IO
import Rules
import Telemetry
import Transport
import Upstream

/// A CONNECT request that is not intercepted: the client gets the response that opens its tunnel, and its bytes are
/// then relayed unseen.
struct TunnelOpening {
    let downstream: Downstream
    let exchange: Exchange
    let destination: Destination

    /// The address that the client asked for in place of a name.
    var address: IPAddress? { IPAddress(destination.origin.hostText) }

    /// Connects, and responds to the client.
    func open() async throws(ExchangeFailure) -> BlindTunnel {
        try check()
        let upstream = try await connect()
        do throws(ExchangeFailure) { try await greet() } catch {
            upstream.stream.close()
            throw error
        }
        return relay(with: upstream)
    }

    /// Checks whether the request may have a tunnel, as far as that is known before connecting.
    func check() throws(ExchangeFailure) {
        try downstream.confirm(destination, for: exchange)
        let port = destination.origin.port
        // Checked before the client gets its response; the address of a name is known only later.
        if let address,
            let kind = downstream.shared.ownListeners.kind(at: address, port: port),
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

    /// Connects to the server for bytes that are relayed unseen, by the first path that works.
    func connect() async throws(ExchangeFailure) -> OpenedTunnel {
        let started = downstream.loop.now
        let tunnel: OpenedTunnel
        do throws(Refusal) {
            tunnel = try await destination.byFirstWay { (way: UpstreamPath) async throws(Refusal) in
                try await connect(by: way)
            }
        } catch { throw .refused(error) }
        tunnel.stream.wakeup = downstream.wakeup
        exchange.record.facts.upstream = .opened
        exchange.record.facts.connecting = downstream.loop.now.nanoseconds(since: started)
        if exchange.record.parts.contains(.response) { exchange.record.facts.server = tunnel.address }
        return tunnel
    }

    private func connect(by way: UpstreamPath) async throws(Refusal) -> OpenedTunnel {
        exchange.record.facts.parent = way.parent?.figures
        guard let parent = way.parent else {
            let stream = try await downstream.dialer(for: exchange.policy, in: exchange.record.facts.trace)
                .connect(host: destination.dialledHost, port: destination.origin.port)
            return OpenedTunnel(stream: stream, early: nil)
        }
        let tunnel = try await ParentConnector(downstream: downstream, exchange: exchange, parent: parent)
            .openTunnel(to: destination, resuming: true)
        return OpenedTunnel(
            stream: tunnel.connection.stream, early: tunnel.early, through: tunnel.connection)
    }

    /// Connects for a client that already has the response that opens its tunnel.
    func connectForGreeted() async throws(ExchangeFailure) -> OpenedTunnel {
        do throws(ExchangeFailure) { return try await connect() } catch {
            guard case .refused(let refusal) = error else { throw error }
            throw .cutShort(refusal.error, refusal.sentence)
        }
    }

    /// Sends the client the response, in one write.
    func greet() async throws(ExchangeFailure) {
        // From here on the client may close its side, as in any tunnel; an alert may say why it broke off its
        // handshake.
        downstream.leaves(by: .none, in: exchange)
        let buffer = exchange.outbound
        buffer.clear()
        exchange.record.facts.status = Int(Status.ok.rawValue)
        // A client that was redirected here has asked for no tunnel.
        if exchange.record.facts.isRedirected { return }
        if let version = exchange.record.facts.socks {
            buffer.append(SOCKSNegotiation.Reply.succeeded.bytes(version))
            return try await downstream.write(buffer)
        }
        buffer.append("HTTP/1.1 200 Connection established\r\n" as StaticString)
        if let answer = exchange.credentials.loginAnswer {
            buffer.append(answer.name)
            buffer.append(": " as StaticString)
            buffer.append(answer.value)
            buffer.append("\r\n" as StaticString)
        }
        buffer.append("\r\n" as StaticString)
        exchange.record.facts.headBytesOut = buffer.count
        try await downstream.write(buffer)
    }

    /// Starts to relay the bytes of both sides unseen.
    func relay(with tunnel: OpenedTunnel) -> BlindTunnel {
        downstream.leaves(by: .none, in: exchange)
        if destination.route.action != .intercept { takeNote() }
        return BlindTunnel(tunnel, of: exchange, for: downstream)
    }

    /// Records the tunnel for operators, and that a rule which names the server does not apply in it.
    private func takeNote() {
        let challenger = destination.challenger
        let host = challenger.host
        let journal = downstream.shared.challenges.journal
        let now = downstream.loop.wallTime
        guard let rule = exchange.policy.rules.ruleOverTLS(host: host.span, port: challenger.port) else {
            journal.noteTunnel(to: challenger.origin, at: now)
            return
        }
        let tunnel = UnseenTunnel(to: challenger.origin, by: rule)
        exchange.record.facts.details = tunnel.sentence
        if let report = tunnel.note(in: journal, at: now) {
            downstream.shared.report(report)
        }
    }
}
