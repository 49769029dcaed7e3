import Bytes
import Forwarding
import HTTP
import IO
import Model
import Rules
import Telemetry
import Transport
import Upstream

/// One client's connection. Requests are read one after the other, and each is answered before the next is read, so
/// that pipelined requests are answered in order. The session begins as the proxy's client; an intercepted CONNECT
/// turns it into a client of the tunnel's origin.
///
/// The events of an exchange's two channels advance it. Only for other work (a name, a ticket, a token, a file, a
/// tunnel) there is a task, which continues the exchange. So a silent connection holds neither task nor buffers, and a
/// busy one allocates nothing.
final class ClientSession: Channel.Observer, Wakeup.Companion {
    /// The state of a session that waits for its client.
    struct Rest: Equatable {
        /// Whether no request has come on the connection.
        let isSilent: Bool
        /// The number from `SessionHost.takeRestNumber`.
        let number: UInt64
    }

    enum Phase {
        /// Waits for the first record of a TLS handshake, of which a part may be there. Becomes `.served` or `.ended`.
        case arriving(ListenerIdentity, hello: ByteBuffer?)
        /// Waits for the first bytes, which tell whether the client speaks SOCKS, and for the rest of its greeting. Becomes
        /// `.exchanging`, `.served` or `.ended`.
        case greeting(SOCKSGreeting)
        /// Waits for the first bytes of a client that was redirected here, which tell whether it speaks HTTP. The address is
        /// the one that it meant. Becomes `.exchanging`, `.served` or `.ended`.
        case redirected(SocketAddress)
        /// Waits for a request. Becomes `.receiving`, `.exchanging`, `.served` or `.ended`.
        case idle
        /// Waits for the rest of a request's head. Becomes `.exchanging`, `.served` or `.ended`.
        case receiving(PartialHead)
        /// Waits for an event of either channel. Becomes `.idle`, `.served`, `.lingering` or `.ended`.
        case exchanging(Forwarding)
        /// A task does the work that the exchange waits for. Becomes `.exchanging`, `.idle`, `.lingering` or `.ended`.
        case served(Forwarding)
        /// Waits for events of a tunnel that is not intercepted. Becomes `.ended`.
        case tunnelling(BlindTunnel)
        /// The connection speaks HTTP/2; its streams have sessions of their own. Becomes `.ended`.
        case multiplexed(ClientStreams)
        /// The last response was sent. Waits for the client's end; up to `rest` more bytes are read and dropped.
        /// Becomes `.ended`.
        case lingering(rest: Int)
        /// The connection is closed. Final.
        case ended
    }

    let host: any SessionHost
    /// The policy beside that of the current exchange.
    private(set) var policy: ServicePolicy
    let downstream: Downstream
    let stream: ByteStream
    /// The logins that belong to the connection.
    var login = ClientLogin()
    /// The weak mechanisms that were recorded last.
    private var datedNote = Downstream.WeakUseNote()
    var phase = Phase.idle
    /// Whether an exchange is being advanced at this moment: the closing of its channels is then no event.
    private var isAdvancing = false
    /// The number of nested answers of the proxy, each sent from within the previous one.
    private var nestedAnswers = 0
    private static let nestedLimit = 8
    /// Whether no request's head has come.
    private(set) var isSilent = true
    /// The number from `Worker.takeRestNumber` when the session began to wait for its client: for the first request, or
    /// for the next.
    private var restNumber: UInt64
    /// The place of the request in progress among those of its client; nil unless the rules limit their number.
    private var place: ClientRequests.Place?
    /// Rings at the deadline of the client of a call; nil for all other requests.
    var callAlarm: Alarm?
    /// The number of the session at its host.
    let number: Int

    /// Whether the client may begin with SOCKS.
    var speaksSOCKS = false
    /// Whether the client may begin with the preface of HTTP/2, without TLS.
    var acceptsPreface = false
    /// Whether the client has chosen HTTP/2.
    var speaksHTTP2 = false
    /// The party at the other end.
    let peer: ClientListener.Peer
    /// The session of the HTTP/2 connection, if this one serves a stream of it.
    let carrier: ClientSession?

    init(
        _ stream: ByteStream, from peer: ClientListener.Peer, number: Int, of host: any SessionHost,
        carriedBy carrier: ClientSession? = nil
    ) {
        self.host = host
        policy = host.policy
        self.number = number
        self.stream = stream
        self.peer = peer
        self.carrier = carrier
        if let carrier { login = carrier.login }
        downstream = Downstream(stream, at: peer.address, over: host.upstreams, carriedBy: carrier?.downstream)
        restNumber = host.takeRestNumber()
        downstream.wakeup.driver = self
        downstream.observer = self
    }

    /// Whether the session has no work in progress.
    var isIdle: Bool {
        switch phase {
        case .arriving, .greeting, .redirected, .idle: true
        case .multiplexed(let streams): streams.isDone
        case .receiving, .exchanging, .served, .tunnelling, .lingering, .ended: false
        }
    }

    /// Ends an idle connection.
    func close() { if case .multiplexed(let streams) = phase { streams.finish() } else { end() } }

    /// The state in which it waits for its client; nil while the proxy works for it.
    var rest: Rest? {
        switch phase {
        case .arriving, .greeting, .redirected, .idle, .receiving, .lingering: break
        // A handshake, or the response to a partial head.
        case .served where isSilent && !stream.isClosed: break
        case .multiplexed(let streams) where streams.isIdle: break
        case .exchanging, .served, .tunnelling, .multiplexed, .ended: return nil
        }
        return Rest(isSilent: isSilent, number: restNumber)
    }

    /// Ends the connection, which waits for its client, to make room for another.
    /// - Returns: whether it has ended; if not, its task ends it soon.
    func displace() -> Bool {
        guard case .served = phase else {
            end()
            return true
        }
        stream.close()
        return false
    }

    /// Continues the session as a client of the origin of `tunnel`, from the next request on.
    /// - Parameter user: the user who opened the tunnel.
    func enter(_ tunnel: InterceptedTunnel, as user: String?) {
        downstream.tunnel = tunnel
        downstream.isMultiplexed = false
        login.enterTunnel(as: user, by: host.policy.clientAuthentication)
    }

    /// The authentication that the current request needs; nil if none is needed, or the user is known.
    var authentication: ClientAuthentication? {
        guard downstream.isProxy, login.user == nil else { return nil }
        return policy.clientAuthentication
    }

    func channelChanged(_ channel: Channel) {
        switch phase {
        case .arriving(let identity, let hello):
            if channel.isReadable {
                receive(hello, for: identity)
            } else if !channel.isOpen {
                end()
            }
        case .greeting(let greeting):
            if stream.isReadable {
                advance(greeting)
            } else if !channel.isOpen {
                end()
            }
        case .redirected(let target): meet(target)
        case .idle:
            // With TLS, arriving bytes need not belong to a request.
            if stream.isReadable {
                takeRequest(lend())
            } else if !channel.isOpen {
                end()
            }
        case .receiving(let head):
            if stream.isReadable {
                receive(head)
            } else if !channel.isOpen {
                refuse(head)
            }
        case .exchanging(let run):
            guard channel === stream.channel else {
                if !isAdvancing { advance(run) }
                return
            }
            // If the client has left, the exchange has ended by then.
            downstream.notice(run.exchange)
            wakeupSignalled()
        case .served(let run): downstream.notice(run.exchange)
        case .tunnelling(let tunnel): if !isAdvancing { advance(tunnel) }
        case .multiplexed(let streams): streams.advance()
        case .lingering(let rest):
            if channel.isOpen { discard(rest) } else { end() }
        case .ended: break
        }
    }

    // MARK: - Between requests

    /// Waits for the next request. A client that has made a request may be silent longer than a new one.
    func awaitRequest() {
        phase = .idle
        hear(stream.channel)
        if isSilent { return stream.setDeadline(after: host.timeouts.head) }
        noteRest()
        stream.setDeadline(after: host.timeouts.idle)
    }

    /// Begins to wait for the client.
    func noteRest() { restNumber = host.takeRestNumber() }

    /// Records that a request has come.
    func noteRequest() {
        guard isSilent else { return }
        isSilent = false
        host.noteFirstRequest()
    }

    func lend() -> Forwarding {
        let run = host.lend()
        if policy.exchanges !== run.exchange.policy { policy = host.policy }
        peer.note(in: run.exchange.record)
        if downstream.isMultiplexed { run.exchange.record.facts.version = .http2 }
        return run
    }

    func end() {
        let last = phase
        if case .ended = last { return }
        phase = .ended
        place = nil
        stream.close()
        if carrier == nil { downstream.logins.closeAll() }
        if case .multiplexed(let streams) = last { streams.lose() }
        downstream.wakeup.driver = nil
        downstream.observer = nil
        host.forget(number, at: downstream.address, isSilent: isSilent)
    }

    /// Ends an exchange. Bytes that the client sent after it are handled at once.
    /// - Parameter lingers: whether the client may still be sending if the connection is not kept.
    func finish(_ run: Forwarding, goesOn: Bool, lingers: Bool = false) {
        let exchange = run.exchange
        exchange.record.facts.duration = downstream.loop.now.nanoseconds(since: exchange.times.start)
        let record = exchange.record
        record.facts.bytesIn = exchange.body.count
        // A client that left before its request was complete made none.
        if record.facts.status > 0 || record.facts.error != nil || !exchange.headBytes.isEmpty { host.close(record) }
        if record.hasWeakMechanisms { downstream.noteWeakMechanisms(of: exchange, after: &datedNote) }
        downstream.forgetLogins()
        place = nil
        run.reset()
        let mayGoOn =
            goesOn && !downstream.upstreams.isDraining && !stream.isClosed && !downstream.isMultiplexed
        if mayGoOn, speaksHTTP2 { return multiplex(after: run) }
        if mayGoOn, !exchange.inbound.isEmpty || stream.isReadable { return takeRequest(renewed(run)) }
        host.give(run)
        if mayGoOn {
            awaitRequest()
        } else if carrier == nil {
            if lingers { linger() } else { end() }
        } else if !goesOn || !park() {
            end()
        }
    }

    /// The exchange for the client's next request: after a reload, another one with the new policy.
    private func renewed(_ run: Forwarding) -> Forwarding {
        if run.exchange.policy === host.policy.exchanges { return run }
        let (fresh, behind) = (lend(), run.exchange.inbound)
        fresh.exchange.inbound.append(behind.readable)
        host.give(run)
        return fresh
    }

    // MARK: - Reading

    func takeRequest(_ run: Forwarding) {
        let exchange = run.exchange
        exchange.times.start = downstream.loop.now
        do throws(ExchangeFailure) {
            switch try read(into: exchange) {
            case .complete: try carryOut(run)
            case .incomplete: awaitRest(of: run)
            case .nothing:
                host.give(run)
                awaitRequest()
            case .ended:
                giveBack(run)
                end()
            }
        } catch { conclude(unread: run, after: error) }
    }

    /// Returns the exchange. It is cleared first, because it may hold a part of a head and another client uses it next.
    func giveBack(_ run: Forwarding) {
        run.reset()
        host.give(run)
    }

    private func awaitRest(of run: Forwarding) {
        let exchange = run.exchange
        let inbound = exchange.inbound
        let head = PartialHead(
            inbound.readable, startedAt: exchange.times.start, limits: exchange.policy.limits.request)
        giveBack(run)
        phase = .receiving(head)
        stream.rest(telling: self)
        stream.setDeadline(after: host.timeouts.head)
        if stream.isReadable { receive(head) }
    }

    func receive(_ head: PartialHead) {
        while true {
            switch head.read(from: stream) {
            case .moved: break
            case .wouldBlock: return
            case .endOfStream, .failed: return end()
            }
            guard head.isDue else { continue }
            let run = run(for: head)
            do throws(ExchangeFailure) {
                if try Self.parse(run.exchange) { return try carryOut(run) }
            } catch { return conclude(unread: run, after: error) }
            giveBack(run)
            head.noteParsing()
        }
    }

    /// Refuses a head that was not complete in time.
    func refuse(_ head: PartialHead) {
        let run = run(for: head)
        _ = ProxyResponse(downstream: downstream, exchange: run.exchange).write(.lateHead)
        send(run, keepingConnection: false)
    }

    private func run(for head: PartialHead) -> Forwarding {
        let (run, bytes) = (lend(), head.bytes)
        run.exchange.times.start = head.startedAt
        run.exchange.inbound.append(bytes.readable)
        return run
    }

    private enum Reading {
        case complete
        case incomplete
        /// No byte of a request has arrived.
        case nothing
        /// The client has ended, with or without a part of a request.
        case ended
    }

    /// Reads a request's head, without waiting. Most heads arrive whole, in one piece or together with the previous
    /// request.
    private func read(into exchange: Exchange) throws(ExchangeFailure) -> Reading {
        let inbound = exchange.inbound
        if !inbound.isEmpty {
            if try Self.parse(exchange) { return .complete }
            // After many requests, the beginning of the last one may fill the buffer to its end.
            if inbound.writableCount == 0 { inbound.reserve(1) }
        }
        switch stream.tryRead(into: inbound) {
        case .moved: return try Self.parse(exchange) ? .complete : .incomplete
        case .wouldBlock: return inbound.isEmpty ? .nothing : .incomplete
        case .endOfStream, .failed: return .ended
        }
    }

    /// Whether the head is complete; it has then been moved to `headBytes`.
    private static func parse(_ exchange: Exchange) throws(ExchangeFailure) -> Bool {
        let inbound = exchange.inbound
        do throws(HTTPError) {
            guard case .complete(let length) = try exchange.request.parse(inbound) else { return false }
            exchange.headBytes.append(inbound.readable.extracting(first: length))
            inbound.consume(length)
            return true
        } catch { throw .refused(SpokenProtocol.beginsTLS(inbound.readable) ? .tlsOnPlainListener : Refusal(error)) }
    }

    // MARK: - Deciding

    /// Takes note of the request, and sends clients away that are not served.
    private func admit(_ exchange: Exchange) throws(ExchangeFailure) {
        if downstream.isMultiplexed { noteStream(exchange) }
        exchange.body.begin(exchange.request.framing, limits: exchange.policy.limits.request)
        if let user = login.user { exchange.record.facts.user = user }
        downstream.record(exchange)
        // When the client connected, other rules may have been in force.
        guard exchange.policy.rules.clients.permits(downstream.address) else {
            throw .refused(.client(at: downstream.address, by: exchange.policy.rules.clients))
        }
        guard login.isStillAdmitted(by: policy.clientAuthentication) else {
            throw .refused(
                Refusal(
                    .forbidden, .httpRequestDenied,
                    "the user who opened this tunnel may no longer use the proxy: open another",
                    keepsConnection: false))
        }
    }

    func plan(_ exchange: Exchange) throws(ExchangeFailure) -> Downstream.Plan {
        if exchange.policy.rules.speaks(of: .clientLimits) {
            place = try host.requests.enter(exchange, of: downstream)
        }
        let purpose = try downstream.purpose(of: exchange)
        if case .answerOptions = purpose { return .answerOptions }
        let destination = try downstream.destination(of: exchange)
        if let rule = destination.route.rule { exchange.record.facts.route = rule.name }
        if destination.isTraced { downstream.trace(exchange, to: destination, for: policy.collector) }
        try downstream.permit(exchange, to: destination)
        if case .tunnel = purpose { return .tunnel(destination) }
        exchange.destination = destination
        return .forward
    }

    // MARK: - The plain exchange

    /// The request's head is there.
    func carryOut(_ run: Forwarding) throws(ExchangeFailure) {
        let exchange = run.exchange
        noteRequest()
        try admit(exchange)
        if let authentication {
            switch authentication.judge(exchange, of: downstream, with: &login) {
            case .proved: shareLogin()
            case .refused(let refusal): throw .refused(refusal)
            case .undecided: return serve(run, from: .admitted)
            }
        }
        if downstream.tunnel?.awaitsName == true { return serve(run, from: .admitted) }
        let plan = try plan(exchange)
        switch plan {
        case .forward: break
        case .tunnel: return serve(run, from: .planned(plan))
        case .answerOptions:
            return send(
                run, keepingConnection: ProxyResponse(downstream: downstream, exchange: exchange).writeOptions())
        }
        downstream.leaves(by: .end, in: exchange)
        stream.setDeadline(after: nil)
        run.begin()
        advance(run)
    }

    /// Handles an event of either channel, or the end of a time that the exchange waits for.
    func wakeupSignalled() {
        guard !isAdvancing, case .exchanging(let run) = phase else { return }
        advance(run)
    }

    /// Advances the exchange as far as possible without waiting.
    private func advance(_ run: Forwarding) {
        isAdvancing = true
        defer { isAdvancing = false }
        do throws(ExchangeFailure) {
            switch try run.advance(for: downstream) {
            case .awaitsEvent: watch(run)
            case .awaitsWork: serve(run, from: .forwarded)
            case .upgraded(let tunnel): relay(BlindTunnel(tunnel, of: run.exchange, for: downstream), openedBy: run)
            case .ended(let keeps): end(run, keeps: keeps)
            }
        } catch { conclude(run, after: error) }
    }

    /// Ends an exchange that failed. The client gets a response, unless its response has begun or its handshake failed.
    func conclude(_ run: Forwarding, after failure: ExchangeFailure) {
        let exchange = run.exchange
        // The client may have left in the meantime.
        if case .cutShort = failure { downstream.leaves(by: .reset, in: exchange) }
        switch failure {
        case .handshakeFailed(let error, let sentence):
            exchange.record.facts.error = error
            exchange.record.facts.details = sentence
            finish(run, goesOn: false, lingers: true)
        case .clientLost,
            _ where downstream.presence.hasLeft:
            exchange.upstream.reset()
            if isLate(exchange) {
                let response = ProxyResponse(downstream: downstream, exchange: exchange)
                return send(run, keepingConnection: response.write(.lateCall))
            }
            if !exchange.headBytes.isEmpty { exchange.record.noteDeparture() }
            stream.abort()
            finish(run, goesOn: false)
        case .cutShort(let error, let sentence):
            exchange.record.facts.error = error
            exchange.record.facts.details = sentence
            if let reset = passedReset(of: exchange) { refuse(by: reset) }
            stream.abort()
            finish(run, goesOn: false)
        case .upstreamFailed(let failure):
            let refusal = Refusal(failure, of: exchange.way.relay?.origin.title ?? "the origin")
            let isPassed = passedReset(of: exchange) != nil
            conclude(run, after: isPassed ? .cutShort(refusal.error, refusal.sentence) : .refused(refusal))
        case .refused(let refusal):
            send(run, keepingConnection: ProxyResponse(downstream: downstream, exchange: exchange).write(refusal))
        case .needsHTTP11: refuseStream(of: run)
        }
    }

    /// Sends the response in `outbound`. A task is started only if the client does not take it at once, or has
    /// pipelined more than a few requests: each is read from within the previous one.
    private func send(_ run: Forwarding, keepingConnection keeps: Bool) {
        if stream.isClosed { return finish(run, goesOn: false) }
        let exchange = run.exchange
        let isLast = !keeps || exchange.body.isRead && exchange.inbound.isEmpty && !stream.isReadable
        let mayGoOn = exchange.body.isRead && !isAdvancing && nestedAnswers < Self.nestedLimit
        guard isLast || mayGoOn, stream.writeAtOnce(exchange.outbound) else {
            return serve(run, from: .answered(keepsConnection: keeps))
        }
        nestedAnswers += 1
        defer { nestedAnswers -= 1 }
        finish(run, goesOn: keeps, lingers: !keeps)
    }

    /// Lets the events of both channels advance the exchange.
    func watch(_ run: Forwarding) {
        phase = .exchanging(run)
        hear(stream.channel)
        if let upstream = run.exchange.upstream.stream { hear(upstream.channel) }
    }

    /// Makes the session the observer of the channel, in the place of a waiting task. Mostly it already is.
    @inline(__always)
    private func hear(_ channel: Channel) {
        if channel.observer !== self || channel.wakeup != nil { channel.rest(telling: self) }
    }

    /// Turns the connection into a tunnel, which needs only the record of the exchange.
    func relay(_ tunnel: BlindTunnel, openedBy run: Forwarding) {
        if run.exchange.record.hasWeakMechanisms { downstream.noteWeakMechanisms(of: run.exchange, after: &datedNote) }
        run.dissolve(into: downstream.loop.buffers)
        phase = .tunnelling(tunnel)
        for stream in [stream, tunnel.upstream] {
            stream.wakeup = nil
            stream.channel.observer = self
        }
        advance(tunnel)
    }

    private func advance(_ tunnel: BlindTunnel) {
        let wasAdvancing = isAdvancing
        isAdvancing = true
        defer { isAdvancing = wasAdvancing }
        if tunnel.advance() { return }
        host.close(tunnel.record)
        end()
    }

    /// Ends an exchange whose response the client has.
    /// - Parameter keeps: whether the connection can carry another request.
    func end(_ run: Forwarding, keeps: Bool) {
        // Closing while the client still sends would reset the connection.
        finish(run, goesOn: keeps, lingers: !keeps && (stream.isReadable || !run.exchange.body.isRead))
    }

    // MARK: - All others

    /// The task is done: events carry on what follows.
    private func takeBack() {
        downstream.presence.finish()
        if case .ended = phase { return }
        downstream.observer = self
    }

    /// Hands the exchange to a task, which continues it from `stage`.
    func serve(_ run: Forwarding, from stage: RequestService.Stage) {
        phase = .served(run)
        downstream.observer = nil
        stream.wakeup = downstream.wakeup
        if let upstream = run.exchange.upstream.stream {
            upstream.forgetObserver()
            upstream.wakeup = downstream.wakeup
        }
        let service = LoopBound(RequestService(session: self, run: run), to: downstream.loop)
        let bound = LoopBound(stage, to: downstream.loop)
        let task = downstream.loop.spawn {
            let (session, run) = (service.value.session, service.value.run)
            let outcome = await service.value.serve(from: bound.value)
            session.takeBack()
            switch outcome {
            case .ended(let goesOn): session.finish(run, goesOn: goesOn, lingers: !goesOn)
            case .failed(let failure): session.conclude(run, after: failure)
            case .awaitsEvent: session.watch(run)
            case .greets(let greeting): session.resume(greeting, after: run)
            case .tunnels(let tunnel): session.relay(tunnel, openedBy: run)
            }
        }
        downstream.presence.begin(task)
        downstream.leaves(by: stage.departure, in: run.exchange)
    }
}
