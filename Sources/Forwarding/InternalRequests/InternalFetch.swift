import Bytes
import HTTP
import IO
import Model
import Rules
import TLS
import Transport
import Upstream

/// A GET or POST of the proxy's own: one request on its own connection. It follows the route of its endpoint, through parents
/// and their challenges, with the trust that the rules give.
struct InternalFetch {
    /// The reason why there is no response, as the end of a sentence about the endpoint.
    enum Failure: Error {
        case unreachable(String)
        case malformed(String)

        /// The reason as a sentence.
        var sentence: String {
            switch self {
            case .unreachable(let reason): reason
            case .malformed(let reason): "its answer \(reason)"
            }
        }
    }

    struct Response {
        let status: Int
        /// The value of `Retry-After`; nil if absent.
        let retryAfter: Milliseconds?
        /// The content; empty if it is not read.
        var content: [UInt8]
    }

    /// The part of a response that the caller needs.
    enum Wish {
        /// The whole response; a response that breaks off is a failure.
        case all
        /// The status, and the content if it is whole. What the server accepted is not sent again.
        case contentIfWhole
        case status
    }

    let upstreams: Upstreams
    let policy: Policy
    let endpoint: HTTPEndpoint
    /// The client certificate for a server that asks for one.
    var identity: Identity?

    /// The largest response read, in bytes. Token and trace endpoints send less, and so do documents with metadata.
    private static let contentLimit = 64 * 1024

    /// Sends a POST with the content, or a GET without one. Redirects are not followed.
    ///
    /// - Parameters:
    ///   - fields: appends field lines.
    ///   - content: its length in bytes, and a function that appends it; called once.
    func send(
        fields: (ByteBuffer) -> Void, content: (length: Int, append: (ByteBuffer) -> Void)? = nil,
        reads wish: Wish = .all
    ) async throws(Failure) -> Response {
        let downstream: Downstream
        do throws(IOError) { downstream = try Downstream(ofOwn: upstreams) } catch { throw .unreachable("\(error)") }
        let run = Forwarding(policy: policy, on: upstreams.loop)
        let exchange = run.exchange
        defer {
            run.dissolve(into: upstreams.loop.buffers)
            downstream.closeOwn()
        }
        exchange.own = InternalRequest(identity: identity)
        // In HTTP/1.0, so that the server sends no interim responses.
        let head = exchange.headBytes
        head.append("\(content == nil ? "GET" : "POST") \(endpoint) HTTP/1.0\r\nHost: \(endpoint.authority)\r\n")
        fields(head)
        if let content { head.append("Content-Length: \(content.length)\r\n") }
        head.append("\r\n" as StaticString)
        do throws(HTTPError) { try exchange.beginOwn() } catch { throw .unreachable("\(error)") }
        content?.append(exchange.inbound)
        let destination = upstreams.destination(
            endpoint.isSecure ? .https : .http, host: endpoint.host.utf8Span.span, port: endpoint.port,
            by: policy.rules)
        do throws(ExchangeFailure) {
            try await upstreams.renewWays(to: destination, by: policy, for: downstream.waiting(on: exchange))
            try await run.ask(destination, for: downstream)
        } catch { throw .unreachable(error.sentence(by: exchange.way)) }
        let status = Int(exchange.upstream.head.status.rawValue)
        let retryAfter = retryAfter(exchange.upstream)
        let body: [UInt8]
        switch wish {
        case .all: body = try await read(exchange.upstream)
        case .contentIfWhole: body = (try? await read(exchange.upstream)) ?? []
        case .status: body = []
        }
        return Response(status: status, retryAfter: retryAfter, content: body)
    }

    /// The time of `Retry-After` (RFC 9110 section 10.2.3).
    private func retryAfter(_ upstream: UpstreamConnection) -> Milliseconds? {
        let time: Milliseconds? = upstream.withHeadBytes { bytes in
            guard let field = upstream.head.fields.first(.retryAfter) else { return nil }
            let value = bytes.extracting(field.value)
            if let seconds = Int(value.text) { return .seconds(seconds) }
            return HTTPDate.time(value).map { .seconds(($0 - upstreams.loop.wallTime + 999).seconds) }
        }
        return time.map { max(0, $0) }
    }

    private func read(_ upstream: UpstreamConnection) async throws(Failure) -> [UInt8] {
        upstream.consumeHead()
        var framing = BodyContent(upstream.head.framing, limits: policy.limits.response)
        var content: [UInt8] = []
        // Other requests may wait for this one: a slow endpoint gets a limited time.
        let end = upstreams.loop.now + policy.timeouts.response
        let inbound = upstream.inbound
        while true {
            let isEnded: Bool
            do throws(HTTPError) {
                let step = try framing.visit(inbound.readable) { content += $0.array }
                inbound.consume(step.consumed)
                isEnded = step.isEnded
            } catch { throw .malformed("cannot be read: \(error)") }
            guard content.count <= Self.contentLimit else { throw .malformed("is too large") }
            if isEnded { return content }
            let rest = upstreams.loop.now.time(until: end)
            let count = rest > 0 ? try? await upstream.readBody(within: min(policy.timeouts.idle, rest)) : nil
            if count ?? 0 == 0 {
                if count == 0, framing.endsWithConnection { return content }
                throw .unreachable(upstreams.loop.now < end ? "its answer broke off" : "its answer takes too long")
            }
        }
    }
}
