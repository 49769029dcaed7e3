import Bytes
import Compression
import HTTP
import IO
import Rules
import Telemetry
import Transport

/// Passes a response on to the client: its head rewritten, its body as it comes or decoded, and then decides what
/// becomes of both connections.
struct ResponseRelay: ~Copyable {
    private let requester: Requester
    private let exchange: Exchange
    private let destination: Destination
    /// A word about an unanswered challenge or an unchecked proof, for `Proxy-Status`.
    private let note: String?
    /// The rest of the request's body, where the response came before its end.
    private let upload: ConcurrentUpload?
    private var policy: Policy { exchange.policy }

    /// Milliseconds an unused connection is kept: a little under the shortest that servers commonly keep theirs.
    static let keptFor = 30_000

    init(
        requester: Requester, exchange: Exchange, destination: Destination, note: String?,
        upload: ConcurrentUpload? = nil
    ) {
        self.upload = upload
        self.requester = requester
        self.exchange = exchange
        self.destination = destination
        self.note = note
    }

    /// The common case without a suspension: the whole response is there already.
    /// - Returns: as `relay`, when the response stands in `outbound` now, as far as the client has not taken it; nil
    ///   when it is another case, and nothing was done.
    func relayAtOnce() -> Bool? {
        let (upstream, out) = (exchange.upstream, exchange.outbound)
        let head = upstream.head
        guard upload == nil, exchange.body.isRead, exchange.request.version == .http11,
            !destination.route.decodesContent,
            head.status != .switchingProtocols, note == nil
        else { return nil }
        let count: Int
        switch head.framing {
        case .none: count = 0
        case .length(let length) where length <= upstream.bodyCount: count = length
        case .length, .chunked, .untilClose: return nil
        }
        exchange.record.status = Int(head.status.rawValue)
        if let security = upstream.security { exchange.record.security = security.record }
        var rewrite = freshRewrite
        let keeps = keepsClient(.asReceived)
        if !keeps { rewrite.connection = .close }
        writeHead(rewrite)
        let inbound = upstream.inbound
        out.append(inbound.readable.extracting(first: count))
        inbound.consume(count)
        exchange.record.bytesOut = count
        leaveUpstream()
        _ = requester.stream.writeAtOnce(out)
        return keeps
    }

    /// - Returns: whether the client's connection can carry another request.
    func relay() async throws(ExchangeFailure) -> Bool {
        guard let upload else {
            let keeps = try await relayResponse()
            leaveUpstream()
            return keeps
        }
        do throws(ExchangeFailure) {
            let keeps = try await relayResponse()
            if finishesUpload { await upload.finish() }
            await endUpload(upload)
            // One that refuses early may say that it reads on, and does not.
            if hasRefused { exchange.upstream.reset() } else { leaveUpstream() }
            return keeps && exchange.body.isRead
        } catch {
            await endUpload(upload)
            throw Self.cause(of: error, beside: upload)
        }
    }

    private func endUpload(_ upload: ConcurrentUpload) async {
        await upload.end()
        exchange.record.bytesIn = exchange.body.count
    }

    /// Whether the request's body is sent to its end though the response has ended: an origin that is content would miss
    /// the rest, and one that refuses may have a login on the connection.
    private var finishesUpload: Bool {
        exchange.body.announcement == .made && exchange.body.isOwed && !hasRefused
    }

    /// Whether the origin does not want the request, and nobody's login would be lost with the connection.
    private var hasRefused: Bool {
        let upstream = exchange.upstream
        guard upstream.head.status.rawValue >= 400 else { return false }
        return !upstream.head.keepAlive || upstream.login == nil && upstream.parentLogin == nil
    }

    /// Why the response broke off: where the origin waited for the client, or the proxy closed, it is not the origin's fault.
    private static func cause(of failure: ExchangeFailure, beside upload: ConcurrentUpload) -> ExchangeFailure {
        switch upload.failure {
        case nil:
            guard upload.awaitsClient, case .cutShort(.httpResponseTimeout, _) = failure else { return failure }
            return .cutShort(
                .httpRequestError, "the client stopped in the middle of its request, for whose rest the origin waited")
        case .upstream?, .tooLarge?, .crowdedOut?: return failure
        case .client(.endOfStream)?:
            return .cutShort(.httpRequestError, "the client ended in the middle of its request")
        case .client?: return .clientLost
        case .invalid(let error)?: return .cutShort(error.proxyError, "\(error)")
        case .copyLost?:
            return .cutShort(.proxyInternalError, "the part of the request that was kept cannot be read back")
        }
    }

    private func relayResponse() async throws(ExchangeFailure) -> Bool {
        let upstream = exchange.upstream
        exchange.record.status = Int(upstream.head.status.rawValue)
        if let security = upstream.security { exchange.record.security = security.record }
        if upstream.head.status == .switchingProtocols { return try await switchProtocols() }
        let coding = decodedCoding
        var rewrite = freshRewrite
        if let note, upstream.head.status == .unauthorized { exchange.record.details = note }
        let clientFraming = framing(decodes: coding != nil)
        rewrite.body = clientFraming
        // Reframed bodies lose their trailers, and decoded ones are not the bytes that the entity tag names.
        if clientFraming != .asReceived { rewrite.dropping = FieldSet(.trailer) }
        if coding != nil { rewrite.dropping.formUnion(FieldSet(.contentEncoding).union(FieldSet(.etag))) }
        let keeps = keepsClient(clientFraming)
        if !keeps {
            rewrite.connection = .close
        } else if exchange.request.version < .http11 {
            rewrite.connection = .keepAlive
        }
        writeHead(rewrite)
        var isHeadSent = false
        do throws(ExchangeFailure) {
            if coding != nil || clientFraming != .asReceived && upstream.head.framing != .none {
                try await ReframedBody(
                    requester: requester, exchange: exchange, coding: coding, isChunked: clientFraming == .chunked
                ).relay(&isHeadSent)
            } else {
                try await relayBody(&isHeadSent)
            }
        } catch { throw isHeadSent ? error : error.beforeHead }
        return keeps
    }

    /// Keeps the upstream's connection for other requests. Not one that is owed a part of the body, nor one that a
    /// reload may have forbidden meanwhile.
    private func leaveUpstream() {
        guard !exchange.body.isOwed, exchange.policy === requester.upstreams.policy else {
            return exchange.upstream.reset()
        }
        exchange.upstream.release(keptFor: Self.keptFor)
    }

    // MARK: - Head

    private var freshRewrite: ResponseRewrite {
        var rewrite = ResponseRewrite()
        rewrite.upgrade = destination.upgrade
        return rewrite
    }

    private func writeHead(_ rewrite: ResponseRewrite) {
        let upstream = exchange.upstream
        let out = exchange.outbound
        out.clear()
        let relaysLogin = exchange.asksForOwnLogin && requester.isProxy
        upstream.withHeadBytes { bytes in
            let writer = upstream.head.write(bytes, as: rewrite, via: .ours, into: out)
            if relaysLogin { writer.field("Proxy-Support", "Session-Based-Authentication") }
            if let answer = exchange.loginAnswer { writer.field(answer.name, answer.value) }
            if let note {
                writer.field("Proxy-Status", ProxyStatus(proxy: Via.name, details: note).value)
            }
            writer.end()
        }
        upstream.consumeHead()
    }

    /// How the client is told where the body ends. An HTTP/1.0 client knows no chunks.
    private func framing(decodes: Bool) -> ResponseRewrite.Body {
        let isOld = exchange.request.version < .http11
        switch exchange.upstream.head.framing {
        case .none, .length: return decodes ? (isOld ? .untilClose : .chunked) : .asReceived
        case .chunked: return isOld ? .untilClose : decodes ? .chunked : .asReceived
        case .untilClose: return isOld ? .untilClose : .chunked
        }
    }

    private func keepsClient(_ framing: ResponseRewrite.Body) -> Bool {
        guard exchange.request.keepAlive, framing != .untilClose, !requester.upstreams.isDraining else { return false }
        return exchange.body.isRead || finishesUpload && exchange.upstream.head.keepAlive
    }

    /// The coding to undo: the route wants it, the client did not ask for any, and the response may be changed.
    private var decodedCoding: ContentCoding? {
        let head = exchange.upstream.head
        guard destination.route.decodesContent, head.framing != .none, head.status.rawValue != 206,
            !exchange.request.fields.present.contains(.acceptEncoding),
            let field = head.fields.first(.contentEncoding), !head.fields.repeated.contains(.contentEncoding)
        else { return nil }
        return exchange.upstream.withHeadBytes { bytes in
            head.forbidsTransformation(bytes) ? nil : ContentCoding(name: bytes.extracting(field.value))
        }
    }

    // MARK: - Body

    /// Passes the body's bytes on as they come.
    private func relayBody(_ isHeadSent: inout Bool) async throws(ExchangeFailure) {
        let upstream = exchange.upstream
        var progress = BodyProgress(upstream.head.framing, of: .upstream, limits: policy.limits.response)
        while true {
            try pass(&progress)
            isHeadSent = true
            try await requester.write(exchange.outbound)
            if progress.isIrregular { upstream.condemn() }
            if progress.isEnded { return }
            if let rest = progress.remainingLength, rest > upstream.inbound.capacity, !upstream.holdsBody {
                return try await splice(rest)
            }
            guard try await upstream.readBody(within: policy.timeouts.idle) > 0 else {
                throw .cutShort(.httpResponseIncomplete, "the origin ended its response too early")
            }
        }
    }

    /// Takes what belongs to this response. Most bodies came with their head, and go out with it in one call.
    private func pass(_ progress: inout BodyProgress) throws(ExchangeFailure) {
        let (inbound, out) = (exchange.upstream.inbound, exchange.outbound)
        let before = out.count
        do throws(HTTPError) {
            inbound.consume(try progress.pass(inbound.readable, to: out))
        } catch {
            // Behind a head that has gone out, the only way to say that the body is bad is to break off.
            throw .cutShort(error.proxyError, "\(error)")
        }
        exchange.record.bytesOut += out.count - before
    }

    private func splice(_ rest: Int) async throws(ExchangeFailure) {
        guard let stream = exchange.upstream.stream else { return }
        let relay = BodyRelay(rest, from: stream, to: requester.stream, on: requester.loop)
        defer { exchange.record.bytesOut += rest - relay.unwritten }
        do throws(RelayError) { try await relay.run(idle: policy.timeouts.idle) } catch {
            switch error {
            case .target: throw .clientLost
            case .source(.timedOut):
                throw .cutShort(.httpResponseTimeout, "the origin stopped in the middle of its response")
            case .source: throw .cutShort(.httpResponseIncomplete, "the origin ended its response too early")
            }
        }
    }

    // MARK: - Upgrade

    /// RFC 9110 section 7.8: from here on the bytes are another protocol's.
    private func switchProtocols() async throws(ExchangeFailure) -> Bool {
        let upstream = exchange.upstream
        guard exchange.request.upgrade == .webSocket, let stream = upstream.stream else {
            throw .refused(
                Refusal(.badGateway, .httpProtocolError, "the origin changed to a protocol that was not asked for"))
        }
        requester.leaves(by: .none, in: exchange)
        var rewrite = freshRewrite
        rewrite.connection = .upgrade
        writeHead(rewrite)
        let inbound = upstream.inbound
        exchange.outbound.append(inbound.readable)
        inbound.clear()
        try await requester.write(exchange.outbound)
        do throws(IOError) { try await stream.write(from: exchange.inbound) } catch { throw .clientLost }
        requester.metrics.add(to: .tunnelsOpened)
        let totals = await Tunnel.relay(
            client: requester.stream, upstream: stream, idle: policy.timeouts.idle, on: requester.loop)
        requester.metrics.add(to: .tunnelsClosed)
        exchange.record.bytesIn += totals.up
        exchange.record.bytesOut += totals.down
        upstream.reset()
        if let error = totals.error {
            exchange.record.error = error == .timedOut ? .connectionReadTimeout : .connectionTerminated
            // As in `TunnelOpening`.
            requester.stream.abort()
        }
        return false
    }
}
