import Bytes
import Compression
import HTTP
import IO
import Rules
import Telemetry
import Transport
import Upstream

/// Passes a response to the client: its head rewritten, its body as it comes or decoded. Then decides whether both
/// connections are kept. It is a state machine, advanced at each event of the two channels.
public struct ResponseRelay: ~Copyable {
    /// The result of one step.
    public enum Step {
        /// The next event of either channel continues the work.
        case awaitsEvent
        /// A part of the body that was read ahead must be read back from its file: `readBack`.
        case awaitsCopy
        /// The copy of the request's body must first be put in order: `ConcurrentUpload.end`.
        case awaitsUpload
        /// The bytes from here on belong to another protocol (RFC 9110 section 7.8). The client has the response that
        /// says so.
        case upgraded
        /// - Parameter keeps: whether the client's connection can carry another request.
        case ended(keeps: Bool)
    }

    private enum Stage {
        /// The head must be written. Becomes `.passing`, `.reading`, `.reframing` or `.flushing`.
        case head
        /// The body is passed on and its text is read for the journal. Becomes one of the states after `.passing`, or
        /// `.passing`.
        case reading
        /// The body is passed on. Becomes `.splicing`, `.finishingUpload` or `.flushing`.
        case passing
        /// The body is changed as it passes. Becomes `.finishingUpload` or `.flushing`.
        case reframing
        /// The kernel moves the body. Becomes `.finishingUpload` or `.flushing`.
        case splicing
        /// The client has the response; the upstream still takes the request's body. Becomes `.endingUpload`.
        case finishingUpload
        /// The upload is stopped. Becomes `.flushing`.
        case endingUpload
        /// The upstream is finished. Waits until the client takes what `outbound` holds.
        case flushing
        /// Waits until the client takes what `outbound` holds, before another protocol follows.
        case upgrading
    }

    private var note: UnansweredEntry.PassedNote?
    /// The rest of the request's body, if the response came before its end.
    private var upload: ConcurrentUpload?
    private var stage = Stage.head
    private var progress = BodyProgress(.none, of: .upstream, limits: .response)
    private var reframed: ReframedBody?
    /// The relay that moves bytes in the kernel, and the number of bytes that the record does not have yet.
    private var splicing: (relay: BodyRelay, uncounted: Int)?
    private var keeps = false
    /// Whether the client may have received a byte of the response.
    private var isHeadSent = false
    private var serverWait = ServerWait()

    /// The time for which an unused connection is kept: a little under the shortest time that is common among
    /// servers.
    public static let keptFor: Milliseconds = 30_000

    /// Starts with the response whose head was read.
    mutating func begin(note: UnansweredEntry.PassedNote?, upload: ConcurrentUpload?) {
        if let note { self.note = note }
        if let upload { self.upload = upload }
        stage = .head
        isHeadSent = false
    }

    /// Clears the response.
    public mutating func reset() {
        note.forget()
        upload.forget()
        reframed.forget()
        splicing.forget()
    }

    /// Relays the bytes that have arrived, without waiting.
    public mutating func advance(_ context: ForwardingContext) throws(ExchangeFailure) -> Step {
        upload?.advance()
        do throws(ExchangeFailure) {
            while true {
                if let step = try go(context) { return step }
            }
        } catch {
            var failure = isHeadSent ? error : error.beforeHead
            if !isHeadSent, case .cutShort = error, let reset = context.exchange.upstream.streamReset {
                failure = .upstreamFailed(.reset(reset))
            }
            throw upload?.cause(of: failure) ?? failure
        }
    }

    /// - Returns: nil if another step follows at once.
    private mutating func go(_ context: ForwardingContext) throws(ExchangeFailure) -> Step? {
        switch stage {
        case .head: return try writeHead(context)
        case .passing: return try pass(context)
        case .reading: return try read(context)
        case .reframing: return try reframe(context)
        case .splicing: return try splice(context)
        case .finishingUpload:
            guard upload?.isFinished ?? true else { return .awaitsEvent }
            stage = .endingUpload
        case .endingUpload:
            guard upload?.endAtOnce() ?? true else { return .awaitsUpload }
            // A server that refuses early may promise to read on, and not do it.
            if upload != nil, hasRefused(context) { context.exchange.upstream.reset() } else { leaveUpstream(context) }
            if upload != nil { keeps = keeps && context.exchange.body.isRead }
            stage = .flushing
        case .upgrading:
            guard try flush(context) else { return .awaitsEvent }
            return .upgraded
        case .flushing:
            isHeadSent = true
            guard try context.downstream.flush(context.exchange.outbound) else { return .awaitsEvent }
            return .ended(keeps: keeps)
        }
        return nil
    }

    /// Ends the response: the upstream has sent all of it.
    private mutating func endResponse(_ context: ForwardingContext) throws(ExchangeFailure) -> Step? {
        guard upload != nil else {
            leaveUpstream(context)
            stage = .flushing
            return nil
        }
        guard try flush(context) else { return .awaitsEvent }
        if finishesUpload(context) {
            context.exchange.upstream.stream?.setDeadline(after: context.idleLimit)
            stage = .finishingUpload
        } else {
            stage = .endingUpload
        }
        return nil
    }

    /// - Returns: whether the client took all. If false, the upstream's deadline is suspended meanwhile.
    private mutating func flush(_ context: ForwardingContext) throws(ExchangeFailure) -> Bool {
        isHeadSent = true
        if try context.downstream.flush(context.exchange.outbound) { return true }
        context.exchange.upstream.stream?.setDeadline(after: nil)
        lendBuffers(context)
        return false
    }

    /// Returns the empty buffers while the client does not read its response. A running upload needs them.
    private func lendBuffers(_ context: ForwardingContext) {
        if upload == nil { context.exchange.lendBuffers(to: context.downstream.loop.buffers) }
    }

    /// Whether the rest of the request's body is sent although the response has ended. An origin that accepts would
    /// miss it, and an origin that refuses may have a login on the connection. The end of a call of gRPC ends it on both
    /// sides.
    private func finishesUpload(_ context: ForwardingContext) -> Bool {
        let exchange = context.exchange
        return exchange.body.announcement == .made && exchange.body.isOwed && !hasRefused(context)
            && !(exchange.upstream.isStream && exchange.asksByGRPC)
    }

    /// Whether the origin refuses the request, and no login would be lost with the connection.
    private func hasRefused(_ context: ForwardingContext) -> Bool {
        let upstream = context.exchange.upstream
        guard upstream.head.status.rawValue >= 400 else { return false }
        return !upstream.head.keepAlive || !upstream.isLoggedIn
    }

    private mutating func writeHead(_ context: ForwardingContext) throws(ExchangeFailure) -> Step? {
        let upstream = context.exchange.upstream
        context.exchange.record.facts.status = Int(upstream.head.status.rawValue)
        context.noteSecurity()
        if upstream.head.status == .switchingProtocols {
            guard context.exchange.request.upgrade == .webSocket, upstream.stream != nil else {
                throw .refused(
                    Refusal(.badGateway, .httpProtocolError, "the origin changed to a protocol that was not asked for"))
            }
            var rewrite = ResponseRewrite()
            rewrite.connection = .upgrade
            writeHead(context, rewrite)
            context.downstream.leaves(by: .none, in: context.exchange)
            stage = .upgrading
            return nil
        }
        let coding = decodedCoding(context)
        var rewrite = ResponseRewrite()
        if let note, context.exchange.judgedStatus == .unauthorized {
            context.exchange.record.facts.details = note.text
        }
        let clientFraming = framing(context, decodes: coding != nil)
        rewrite.body = clientFraming
        // Reframed bodies lose their trailers, and decoded ones are not the bytes that the entity tag names.
        if clientFraming != .asReceived { rewrite.dropping = FieldSet(.trailer) }
        if coding != nil { rewrite.dropping.formUnion(FieldSet(.contentEncoding).union(FieldSet(.etag))) }
        keeps = keepsClient(context, clientFraming)
        if !keeps {
            rewrite.connection = .close
        } else if context.exchange.request.version < .http11 {
            rewrite.connection = .keepAlive
        }
        writeHead(context, rewrite)
        if coding != nil || clientFraming != .asReceived && upstream.head.framing != .none {
            upstream.stream?.setDeadline(after: nil)
            reframed = try ReframedBody(context.exchange, coding: coding, isChunked: clientFraming == .chunked)
            reframed?.reader = note?.reader
            stage = .reframing
        } else {
            progress = BodyProgress(upstream.head.framing, of: .upstream, limits: context.policy.limits.response)
            stage = note?.reader == nil ? .passing : .reading
        }
        return nil
    }

    /// Keeps the upstream's connection for other requests. Not if it is owed a part of the body, or if a reload may
    /// have forbidden it meanwhile.
    private func leaveUpstream(_ context: ForwardingContext) {
        guard !context.exchange.body.isOwed, context.exchange.policy === context.downstream.upstreams.policy else {
            return context.exchange.upstream.reset()
        }
        if let connection = context.exchange.upstream.release(keptFor: Self.keptFor) {
            context.downstream.keep(connection, for: Self.keptFor)
        }
    }

    // MARK: - Head

    private func writeHead(_ context: ForwardingContext, _ rewrite: ResponseRewrite) {
        let upstream = context.exchange.upstream
        let out = context.exchange.outbound
        out.clear()
        let relaysLogin =
            context.exchange.asksForOwnLogin && context.downstream.isProxy
            && !context.downstream.isMultiplexed
        upstream.withHeadBytes { bytes in
            let upgrade = context.destination.upgrade
            let writer = upstream.head.write(bytes, as: rewrite, through: upgrade, via: .ours, into: out)
            if relaysLogin { writer.field("Proxy-Support", "Session-Based-Authentication") }
            context.exchange.credentials.challenges?.cookies?.write(
                besidesThoseOf: upstream.head, bytes, at: context.exchange.target.readable, through: upgrade,
                to: writer)
            if let answer = context.exchange.credentials.loginAnswer { writer.field(answer.name, answer.value) }
            if let note {
                let status = ProxyStatus(proxy: Via.name, details: note.text).value
                if context.exchange.record.parts.contains(.challenges) {
                    context.exchange.record.facts.proxyStatus = status
                }
                writer.field("Proxy-Status", status)
            }
            writer.end()
        }
        if context.exchange.credentials.challenges != nil, context.policy.rules.speaks(of: .places) {
            context.exchange.hidePlacedCredential()
        }
        context.exchange.recordResponse()
        upstream.consumeHead()
    }

    /// The framing of the body for the client. An HTTP/1.0 client knows no chunks.
    private func framing(_ context: ForwardingContext, decodes: Bool) -> ResponseRewrite.Body {
        let isOld = context.exchange.request.version < .http11
        switch context.exchange.upstream.head.framing {
        case .none, .length: return decodes ? (isOld ? .untilClose : .chunked) : .asReceived
        case .chunked: return isOld ? .untilClose : decodes ? .chunked : .asReceived
        case .untilClose: return isOld ? .untilClose : .chunked
        }
    }

    private func keepsClient(_ context: ForwardingContext, _ framing: ResponseRewrite.Body) -> Bool {
        guard context.exchange.request.keepAlive, framing != .untilClose, !context.downstream.upstreams.isDraining
        else {
            return false
        }
        return context.exchange.body.isRead || finishesUpload(context) && context.exchange.upstream.head.keepAlive
    }

    /// The coding to undo: if the route wants it, the client asked for none, and the response may be changed.
    private func decodedCoding(_ context: ForwardingContext) -> ContentCoding? {
        let head = context.exchange.upstream.head
        guard context.destination.route.decodesContent, head.framing != .none, head.status.rawValue != 206,
            !context.exchange.request.fields.present.contains(.acceptEncoding),
            let field = head.fields.first(.contentEncoding), !head.fields.repeated.contains(.contentEncoding)
        else { return nil }
        return context.exchange.upstream.withHeadBytes { bytes in
            head.forbidsTransformation(bytes) ? nil : ContentCoding(name: bytes.extracting(field.value))
        }
    }

    // MARK: - Body

    /// Passes the body's bytes on as they come. Most bodies came with their head, and go out with it in one call.
    private mutating func pass(_ context: ForwardingContext) throws(ExchangeFailure) -> Step? {
        // The bytes that the client has not taken are sent first.
        if isHeadSent, try !flush(context) { return .awaitsEvent }
        let upstream = context.exchange.upstream
        try take(context)
        if progress.isIrregular { upstream.condemn() }
        if progress.isEnded { return try endResponse(context) }
        // The deadline for the head may be over by now.
        if !isHeadSent { upstream.stream?.setDeadline(after: nil) }
        if let rest = progress.remainingLength, rest > BufferPool.regular, !upstream.holdsBody {
            guard let stream = upstream.stream else { throw Self.incomplete }
            stream.setDeadline(after: nil)
            isHeadSent = true
            let relay = BodyRelay(
                rest, from: stream, to: context.downstream.stream, on: context.downstream.loop,
                beginningWith: context.exchange.outbound)
            splicing = (relay, rest)
            stage = .splicing
            return nil
        }
        guard try flush(context) else { return .awaitsEvent }
        return try readMore(context)
    }

    /// Passes the body's bytes on, and has them read. All bytes here are new to the reader.
    private mutating func read(_ context: ForwardingContext) throws(ExchangeFailure) -> Step? {
        if isHeadSent, try !flush(context) { return .awaitsEvent }
        let inbound = context.exchange.upstream.inbound
        note?.reader?.look(at: inbound.readable)
        if note?.reader?.isDone != false {
            stage = .passing
            return nil
        }
        defer { if stage != .reading { note?.reader?.end() } }
        return try pass(context)
    }

    /// Takes the bytes that belong to this response.
    private mutating func take(_ context: ForwardingContext) throws(ExchangeFailure) {
        let inbound = context.exchange.upstream.inbound
        let out = context.exchange.outbound
        let before = out.count
        do throws(HTTPError) {
            inbound.consume(try progress.pass(inbound.readable, to: out))
        } catch {
            // After the head was sent, closing is the only way to say that the body is invalid.
            throw .cutShort(error.proxyError, "\(error)")
        }
        context.exchange.record.facts.bytesOut += out.count - before
    }

    /// - Returns: nil if more of the body is there, or its end.
    private mutating func readMore(_ context: ForwardingContext) throws(ExchangeFailure) -> Step? {
        context.exchange.takeBuffersBack()
        let step: UpstreamConnection.BodyStep
        do throws(ExchangeFailure) { step = try context.exchange.upstream.advanceBody() } catch {
            guard case .cutShort(.httpResponseTimeout, _) = error,
                serverWait.goesOn(to: context.idleLimit, on: context.exchange.upstream.stream)
            else { throw error }
            lendBuffers(context)
            return .awaitsEvent
        }
        switch step {
        case .moved: return nil
        case .ended:
            guard reframed?.endsWithConnection() == true else { throw Self.incomplete }
            return nil
        case .awaitsCopy: return .awaitsCopy
        case .awaitsUpstream:
            context.downstream.stream.setDeadline(after: nil)
            // A running upload has the same deadline, and needs the buffers.
            serverWait.begin(context.idleLimit, on: context.exchange.upstream.stream, isWhole: upload != nil)
            return .awaitsEvent
        }
    }

    /// Reads back a part of the body that was read ahead.
    func readBack(_ context: ForwardingContext) async throws(ExchangeFailure) {
        if try await context.exchange.upstream.readBody(within: context.policy.timeouts.idle) == 0 {
            throw Self.incomplete
        }
    }

    private static var incomplete: ExchangeFailure {
        .cutShort(.httpResponseIncomplete, "the origin ended its response too early")
    }

    /// Passes on a body whose framing or text is changed on the way.
    /// - Returns: nil if the next step follows at once.
    private mutating func reframe(_ context: ForwardingContext) throws(ExchangeFailure) -> Step? {
        if isHeadSent, try !flush(context) { return .awaitsEvent }
        switch try reframed?.fill() {
        case .isFull: return try flush(context) ? nil : .awaitsEvent
        case .needsMore: return try flush(context) ? try readMore(context) : .awaitsEvent
        case .ended, nil: return try endResponse(context)
        }
    }

    private mutating func splice(_ context: ForwardingContext) throws(ExchangeFailure) -> Step? {
        guard let stream = context.exchange.upstream.stream, let (relay, uncounted) = splicing else {
            throw Self.incomplete
        }
        defer {
            // The bytes that came with the head were counted when they were taken.
            let left = min(relay.unwritten, uncounted)
            context.exchange.record.facts.bytesOut += uncounted - left
            splicing?.uncounted = left
        }
        do throws(RelayError) {
            if let step = try advance(context, relay, from: stream) { return step }
        } catch {
            switch error {
            case .target: throw .clientLost
            case .source(.timedOut):
                throw .cutShort(.httpResponseTimeout, "the origin stopped in the middle of its response")
            case .source: throw Self.incomplete
            }
        }
        return try endResponse(context)
    }

    /// - Returns: nil once all bytes have moved.
    private func advance(_ context: ForwardingContext, _ relay: BodyRelay, from stream: ByteStream) throws(RelayError)
        -> Step?
    {
        while true {
            switch try relay.advance() {
            case .moved: continue
            case .finished: return nil
            case .awaitsSource:
                do throws(IOError) { try stream.check() } catch { throw .source(error) }
                context.downstream.stream.setDeadline(after: nil)
                stream.setDeadline(after: context.policy.timeouts.idle)
                return .awaitsEvent
            case .awaitsTarget:
                do throws(IOError) { try context.downstream.stream.check() } catch { throw .target(error) }
                stream.setDeadline(after: nil)
                context.downstream.stream.setDeadline(after: context.policy.timeouts.idle)
                lendBuffers(context)
                return .awaitsEvent
            }
        }
    }
}
