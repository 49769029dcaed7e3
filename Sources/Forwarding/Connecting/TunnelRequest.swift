import Authentication
import Bytes
import Challenges
import HTTP
import IO
import Telemetry
import Transport
import Upstream

/// Has a parent open a tunnel by CONNECT (RFC 9110 section 9.3.6), through all challenges. The client does not get the
/// parent's response.
struct TunnelRequest {
    let connector: ParentConnector
    let destination: Destination

    private var downstream: Downstream { connector.downstream }
    private var parent: Parent { connector.parent }

    /// - Throws: the response for the client.
    func open(resuming: Bool) async throws(Refusal) -> ParentConnector.Tunnel {
        let run = Forwarding(openingTunnelFor: connector.exchange, by: parent, on: downstream.loop)
        let (upstream, record) = (run.exchange.upstream, run.exchange.record)
        let wait = record.facts.wait
        defer {
            // The record's field is about the origin's response.
            record.facts.wait = wait
            run.dissolve(into: downstream.loop.buffers)
        }
        try write(to: run.exchange)
        do throws(ExchangeFailure) {
            try await run.ask(destination, for: downstream, purpose: .tunnel(resuming: resuming))
        } catch {
            noteIdentity(of: upstream)
            throw refusal(for: error)
        }
        noteIdentity(of: upstream)
        let status = upstream.head.status
        record.facts.trace?.endLeg(status: Int(status.rawValue))
        // The parent itself answers a CONNECT: a `401` is the parent's own.
        if status == .unauthorized {
            let wants = upstream.challenges(in: ChallengeFields.proxy)
            parent.refusedLogin()
            UnansweredEntry(downstream: downstream, exchange: run.exchange, upstream: upstream)
                .take(of: parent.challenger, nil, nil, .cancelled)
            throw .unanswered(by: parent, challenges: wants, note: nil, status)
        }
        guard status.isSuccessful else { throw .tunnelRefused(by: parent, to: destination.origin, status: status) }
        upstream.consumeHead()
        let inbound = upstream.inbound
        var early: ByteBuffer?
        if !inbound.isEmpty {
            let copy = ByteBuffer(capacity: inbound.count)
            copy.append(inbound.readable)
            early = copy
        }
        guard let connection = upstream.detach() else { throw Refusal(.died, of: parent.origin.title) }
        return ParentConnector.Tunnel(connection: connection, early: early)
    }

    /// Writes the head, in the client's version and with its `Via`: proxies that are each other's parents open no
    /// tunnels in a circle.
    private func write(to exchange: Exchange) throws(Refusal) {
        let (client, clientHead) = (connector.exchange.request, connector.exchange.headBytes)
        let (head, target) = (exchange.headBytes, destination.origin.connectTarget)
        head.append("CONNECT " as StaticString)
        head.append(target.readable)
        head.append(client.version >= .http11 ? " HTTP/1.1\r\nHost: " as StaticString : " HTTP/1.0\r\nHost: ")
        head.append(target.readable)
        head.append("\r\n" as StaticString)
        for field in client.fields where field.known == .via {
            head.append(clientHead.readable.extracting(field.line))
        }
        head.append("\r\n" as StaticString)
        do throws(HTTPError) { try exchange.beginOwn() } catch { throw Refusal(error) }
    }

    private func noteIdentity(of upstream: UpstreamConnection) {
        guard let security = upstream.peerSecurity, upstream.headLength > 0 else { return }
        let isGood = upstream.head.status.rawValue < 400
        downstream.noteIdentity(on: security, isGood: isGood, at: destination.origin.connectTarget)
    }

    private func refusal(for failure: ExchangeFailure) -> Refusal {
        switch failure {
        case .refused(let refusal): return refusal
        case .upstreamFailed(let failure):
            // Nothing has happened yet that another parent would repeat. This parent may accept other origins.
            var refusal = Refusal(failure, of: parent.origin.title)
            if case .invalid = failure { refusal = refusal.of(parent) }
            refusal.mayGoAnotherWay = true
            return refusal
        case .clientLost, .needsHTTP11: return Refusal(.died, of: parent.origin.title)
        case .cutShort(let error, let sentence), .handshakeFailed(let error, let sentence):
            return Refusal(.badGateway, error, sentence)
        }
    }
}
