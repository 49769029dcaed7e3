import Authentication
import Bytes
import Crypto
import DNS
import HTTP
import IO
import Model
import Rules
import TLS
import Transport
import Upstream

/// Asks a token endpoint for a token: one request on a connection of its own, by the way that the route of the endpoint
/// says, through parents and their challenges too, with the trust that the rules have in it.
struct TokenClient {
    public let upstreams: Upstreams
    public let policy: Policy

    /// More than any token endpoint has to say, and read on the loop in no time.
    private static let contentLimit = 64 * 1024

    public func fetch(_ grant: TokenGrant) async throws(TokenError) -> TokenResponse {
        let request = try TokenRequest(grant, at: upstreams.loop.epochMilliseconds)
        let requester: Requester
        do throws(IOError) { requester = try Requester(ofOwn: upstreams) } catch {
            throw unreachable(grant, "\(error)")
        }
        let exchange = Exchange(policy: policy, on: upstreams.loop)
        defer {
            exchange.dissolve(into: upstreams.loop.buffers)
            requester.closeOwn()
        }
        exchange.own = OwnRequest(identity: identity(of: grant))
        try write(request, for: grant, to: exchange)
        do throws(ExchangeFailure) { try await ask(exchange, for: requester, at: grant.endpoint) } catch {
            throw unreachable(grant, error.sentence(by: exchange.way))
        }
        let upstream = exchange.upstream
        var content = try await content(of: upstream, from: grant)
        return try TokenResponse(
            status: Int(upstream.head.status.rawValue), content: &content, from: grant.endpoint)
    }

    private func identity(of grant: TokenGrant) -> Identity? {
        if case .certificate(let shown) = grant.proof { shown as? Identity } else { nil }
    }

    private func ask(
        _ exchange: Exchange, for requester: Requester, at endpoint: TokenEndpoint
    ) async throws(ExchangeFailure) {
        let destination = upstreams.destination(
            endpoint.isSecure ? .https : .http, host: endpoint.host.utf8Span.span, port: endpoint.port,
            by: policy.rules)
        try await upstreams.renewWays(to: destination, by: policy, for: requester.waiting(on: exchange))
        try await exchange.ask(destination, upgrade: destination.upgrade, for: requester)
    }

    // MARK: - The messages

    /// In HTTP/1.0, so that interim responses stay here.
    private func write(_ request: TokenRequest, for grant: TokenGrant, to exchange: Exchange) throws(TokenError) {
        let (endpoint, head) = (grant.endpoint, exchange.headBytes)
        head.append("POST \(endpoint) HTTP/1.0\r\nHost: \(endpoint.authority)\r\n")
        head.append("Content-Type: application/x-www-form-urlencoded\r\nAccept: application/json\r\n" as StaticString)
        if let authorization = request.authorization {
            head.append("Authorization: " as StaticString)
            authorization.withBytes { head.append($0) }
            head.append("\r\n" as StaticString)
        }
        head.append("Content-Length: " as StaticString)
        head.append(decimal: request.content.count)
        head.append("\r\n\r\n" as StaticString)
        do throws(HTTPError) {
            guard case .complete = try exchange.request.parse(head.readable) else {
                throw HTTPError(.client, .incomplete)
            }
        } catch { throw unreachable(grant, "\(error)") }
        request.content.withBytes { exchange.inbound.append($0) }
        exchange.body.begin(exchange.request.framing, limits: policy.limits.request)
    }

    private func content(of upstream: UpstreamConnection, from grant: TokenGrant) async throws(TokenError) -> [UInt8] {
        upstream.consumeHead()
        var framing = BodyContent(upstream.head.framing, limits: policy.limits.response)
        var content: [UInt8] = []
        // Everybody waits for this one request: an endpoint that trickles is not listened to for ever.
        let end = upstreams.loop.now &+ UInt64(clamping: policy.timeouts.response)
        let inbound = upstream.inbound
        while true {
            do throws(HTTPError) {
                var offset = 0
                scan: while true {
                    switch try framing.next(inbound.readable, from: offset) {
                    case .data(let range):
                        content += inbound.readable.extracting(range).array
                        offset = range.upperBound
                    case .trailer(let line): offset = line.upperBound
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
            guard upstreams.loop.now < end else { throw unreachable(grant, "its answer takes too long") }
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
