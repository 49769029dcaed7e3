import Authentication
import Bytes
import Crypto
import DNS
import HTTP
import IO
import Rules
import TLS
import Transport

/// Asks a token endpoint for a token: one request on a connection of its own.
///
/// The endpoint stands in the rule file, so `egress` has no say about it; whether its certificate is trusted, the rules
/// decide as for any other server.
struct TokenClient {
    let worker: Worker
    let policy: Policy

    /// More than any token endpoint has to say.
    private static let contentLimit = 256 * 1024

    func fetch(_ grant: TokenGrant) async throws(TokenError) -> TokenResponse {
        let request = try TokenRequest(grant, at: SystemClock.epochMilliseconds)
        let wakeup = Wakeup()
        let stream = try await connect(to: grant, wakeup: wakeup)
        let upstream = UpstreamConnection(limits: policy.limits.response, on: worker.loop)
        defer {
            upstream.reset()
            worker.loop.buffers.give(upstream.inbound)
        }
        upstream.attach(OriginConnection(stream: stream, terms: .plain), isReused: false)
        do throws(IOError) {
            try await stream.write(from: message(request, to: grant.endpoint))
        } catch { throw unreachable(grant, "\(error)") }
        do throws(UpstreamConnection.Failure) {
            repeat {
                if upstream.head.status.isInterim { upstream.forgetHead() }
                try await upstream.receiveHead(answering: .post, within: policy.timeouts.response)
            } while upstream.head.status.isInterim
        } catch { throw unreachable(grant, Refusal(error).sentence) }
        var content = try await content(of: upstream, from: grant)
        return try TokenResponse(
            status: Int(upstream.head.status.rawValue), content: &content, from: grant.endpoint)
    }

    // MARK: - The connection

    private func connect(to grant: TokenGrant, wakeup: Wakeup) async throws(TokenError) -> ByteStream {
        let endpoint = grant.endpoint
        let addresses: [IPAddress]
        do throws(ResolutionError) { addresses = try await worker.resolver.resolve(endpoint.host) } catch {
            throw unreachable(grant, "\(error)")
        }
        let stream: ByteStream
        do throws(IOError) {
            stream = try await Connector.connect(
                to: addresses.map { SocketAddress($0, port: endpoint.port) }, within: policy.timeouts.connect,
                on: worker.loop, wakeup: wakeup)
        } catch { throw unreachable(grant, "\(error)") }
        stream.wakeup = wakeup
        guard endpoint.isSecure else { return stream }
        do throws(HandshakeError) {
            try await secure(stream, for: grant)
            return stream
        } catch {
            stream.close()
            throw unreachable(grant, Refusal(error, host: endpoint.host, port: endpoint.port).sentence)
        }
    }

    private func secure(_ stream: ByteStream, for grant: TokenGrant) async throws(HandshakeError) {
        let context: ClientTLSContext
        do throws(TLSError) { context = try ClientTLSContext.shared(for: ClientTLSSettings()) } catch {
            throw .tls(error)
        }
        var identity: Identity?
        if case .certificate(let shown) = grant.proof { identity = shown as? Identity }
        try await stream.handshake(
            as: context, to: ServerName(grant.endpoint.host), chooseIdentity: { _ in identity },
            within: policy.timeouts.connect, trusting: { chain in trust(chain, of: grant.endpoint) })
    }

    /// The answer to the server-trust challenge, in which no client has a part.
    private func trust(_ chain: PresentedChain, of endpoint: TokenEndpoint) -> ServerTrust? {
        let now = SystemClock.epochMilliseconds / 1000
        let evaluate = { (terms: TrustTerms?) in
            TrustEvaluation.of(
                chain, for: ServerName(terms?.name ?? endpoint.host), anchors: policy.trust.anchors(for: terms), at: now
            )
        }
        let decision = ServerTrustDecision(evaluate: evaluate) { findings in
            policy.rules.decide(
                ChallengeQuery(
                    host: endpoint.host, port: endpoint.port, protocol: .https, method: .serverTrust, isSecure: true,
                    client: ClientIdentity(address: IPAddress(v4: 0x7F00_0001), user: nil), findings: findings,
                    today: Day(epochSeconds: now)))
        }
        guard case .trusted(let verified, _) = decision else { return nil }
        return ServerTrust(verified)
    }

    // MARK: - The messages

    private func message(_ request: TokenRequest, to endpoint: TokenEndpoint) -> ByteBuffer {
        let buffer = ByteBuffer(capacity: 1024 + request.content.count)
        let writer = HeadWriter(
            method: .post, target: endpoint.target.utf8Span.span, host: endpoint.authority, into: buffer)
        writer.field("Content-Type", "application/x-www-form-urlencoded")
        writer.field("Accept", "application/json")
        writer.field("Content-Length", decimal: request.content.count)
        writer.field("Connection", "close")
        request.authorization?.withBytes { writer.field("Authorization", $0) }
        writer.end()
        request.content.withBytes { buffer.append($0) }
        return buffer
    }

    private func content(of upstream: UpstreamConnection, from grant: TokenGrant) async throws(TokenError) -> [UInt8] {
        upstream.consumeHead()
        var framing = BodyContent(upstream.head.framing, limits: policy.limits.response)
        var content: [UInt8] = []
        let inbound = upstream.inbound
        while true {
            do throws(HTTPError) {
                var offset = 0
                scan: while true {
                    switch try framing.next(inbound.readable, from: offset) {
                    case .data(let range):
                        content += inbound.readable.extracting(range).array
                        offset = range.upperBound
                    case .trailer(let field): offset = field.line.upperBound
                    case .needsMore(let consumed):
                        inbound.consume(consumed)
                        break scan
                    case .end: return content
                    }
                }
            } catch { throw .malformed(endpoint: "\(grant.endpoint)", "cannot be read: \(error)") }
            guard content.count <= Self.contentLimit else {
                throw .malformed(endpoint: "\(grant.endpoint)", "is too large")
            }
            let count = try? await upstream.readBody(within: policy.timeouts.idle)
            if count ?? 0 == 0 {
                if count == 0, framing.endsWithConnection { return content }
                throw unreachable(grant, "its answer broke off")
            }
        }
    }

    private func unreachable(_ grant: TokenGrant, _ why: String) -> TokenError {
        .unreachable(endpoint: "\(grant.endpoint)", why)
    }
}
