import Bytes
import HTTP
import IO
import Rules
import Telemetry
import Transport

/// A CONNECT request: a connection is made, the client is told, and from then on bytes are relayed unseen.
struct TunnelOpening {
    let session: ClientSession
    let exchange: Exchange
    let destination: Destination

    func open() async throws(ExchangeFailure) -> Bool {
        let origin = destination.origin
        let policy = exchange.policy
        guard policy.rules.egress.permitsConnect(port: origin.port) else {
            throw .refused(
                Refusal(
                    .forbidden, .httpRequestDenied,
                    "the rules of this proxy do not let tunnels go to port \(origin.port)"))
        }
        guard exchange.request.framing == .none || exchange.request.framing == .length(0) else {
            throw .refused(Refusal(.badRequest, .httpRequestError, "a CONNECT request has no body"))
        }
        let started = session.worker.loop.now
        let upstream = try await connect()
        upstream.wakeup = session.wakeup
        exchange.record.upstream = .opened
        exchange.record.connectMilliseconds = Int(clamping: session.worker.loop.now &- started)
        defer { upstream.close() }
        try await greet(upstream)
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
        return false
    }

    private func connect() async throws(ExchangeFailure) -> ByteStream {
        do throws(Refusal) {
            return try await session.dialer(for: exchange.policy)
                .connect(host: destination.origin.hostText, port: destination.origin.port)
        } catch { throw .refused(error) }
    }

    /// Tells the client in one write, and passes on what it sent without waiting for that.
    private func greet(_ upstream: ByteStream) async throws(ExchangeFailure) {
        let buffer = exchange.outbound
        buffer.clear()
        buffer.append("HTTP/1.1 200 Connection established\r\n\r\n" as StaticString)
        exchange.record.status = Int(Status.ok.rawValue)
        session.stream.setDeadline(after: exchange.policy.timeouts.idle)
        do throws(IOError) {
            try await session.stream.write(from: buffer)
            exchange.record.bytesIn = exchange.inbound.count
            upstream.setDeadline(after: exchange.policy.timeouts.idle)
            try await upstream.write(from: exchange.inbound)
        } catch { throw .clientLost }
    }
}
