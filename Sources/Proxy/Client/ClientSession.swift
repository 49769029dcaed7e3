import Bytes
import Forwarding
import HTTP
import IO
import Telemetry
import Transport
import Upstream

/// One client's connection: requests are read from it one after the other, and each is answered before the next is
/// looked at, so that pipelined ones are answered in their order. What they are about is the session's role: it begins
/// as the proxy's client, and a CONNECT that is looked into turns it into that of the tunnel's origin.
///
/// An exchange is carried on by the events of its two channels. Only for what is no event of theirs (a name, a ticket, a
/// token, a file, a tunnel) there is a task, which takes the exchange from where it stands. So a silent connection holds
/// neither task nor buffers, and a busy one allocates nothing.
final class ClientSession: ChannelObserver, WakeupCompanion {
    /// How a session waits for its client.
    struct Rest: Equatable {
        /// Whether no request has come on the connection.
        let isSilent: Bool
        /// As `SessionHost.takeRestNumber`.
        let number: UInt64
    }

    enum Phase {
        /// Awaiting the first record of a TLS handshake, of which a part may be there; becomes `.served` or `.ended`.
        case arriving(ListenerIdentity, hello: ByteBuffer?)
        /// Awaiting a request; becomes `.receiving`, `.exchanging`, `.served` or `.ended`.
        case idle
        /// Awaiting the rest of a request's head; becomes `.exchanging`, `.served` or `.ended`.
        case receiving(PartialHead)
        /// Awaiting an event of either channel; becomes `.idle`, `.served`, `.lingering` or `.ended`.
        case exchanging(Exchange)
        /// A task does what the exchange waits for; becomes `.exchanging`, `.idle`, `.lingering` or `.ended`.
        case served(Exchange)
        /// Awaiting events of a tunnel whose bytes are not looked at; becomes `.ended`.
        case tunnelling(BlindTunnel)
        /// The last answer is out. Awaiting the client's end, with so many bytes still read and thrown away; becomes
        /// `.ended`.
        case lingering(rest: Int)
        /// The connection is closed. Stays.
        case ended
    }

    let host: any SessionHost
    /// The policy of the exchange in hand, beside its own.
    private(set) var policy: ServicePolicy
    let requester: Requester
    let stream: ByteStream
    /// The user of all requests of this session, as was proved by a certificate, or when its tunnel was opened. Nil where
    /// nobody did, or each request says so itself.
    private(set) var user: String?
    /// Until when that holds, where it was a list that said so.
    private var admission: ClientAdmission?
    /// How far a login by Negotiate has come, which belongs to the connection; nil: it was not begun.
    var negotiation: ClientNegotiation?
    /// The authorization that the client proved itself with last.
    var acceptedAuthorization: AcceptedAuthorization?
    /// The way that should be given up which was noted last.
    private var datedNote = DatedNote()
    var phase = Phase.idle
    /// Whether an exchange is being carried on at this moment: what it closes tells of that.
    private var isAdvancing = false
    /// Answers of the proxy's own that are being sent, each from within the one before.
    private var nestedAnswers = 0
    private static let nestedLimit = 8
    /// Whether no request's head has come.
    private(set) var isSilent = true
    /// As `Worker.takeRestNumber`, of when it began to wait for its client: for the first request, or the one after the last.
    private var restNumber: UInt64
    /// Among those of its host.
    let number: Int

    init(_ socket: Socket, at address: IPAddress, number: Int, of host: any SessionHost) {
        self.host = host
        policy = host.policy
        self.number = number
        stream = ByteStream(socket)
        requester = Requester(stream, at: address, over: host.upstreams)
        restNumber = host.takeRestNumber()
        requester.wakeup.driver = self
        requester.observer = self
    }

    /// Waits for the first request, behind a handshake if the listener speaks TLS.
    func begin(as identity: ListenerIdentity?) {
        if let identity {
            phase = .arriving(identity, hello: nil)
            stream.socket.observer = self
            stream.setDeadline(after: host.policy.exchanges.timeouts.head)
        } else {
            awaitRequest()
        }
        // Of one that has waited for room this is old news.
        if stream.socket.isReadable { channelChanged(stream.socket) }
    }

    /// Whether nothing is under way that should be finished.
    var isIdle: Bool {
        switch phase {
        case .arriving, .idle: true
        case .receiving, .exchanging, .served, .tunnelling, .lingering, .ended: false
        }
    }

    /// Ends an idle connection.
    func close() { end() }

    /// How it waits for its client; nil while the proxy works for it.
    var rest: Rest? {
        switch phase {
        case .arriving, .idle, .receiving, .lingering: break
        // A handshake, or the answer to half a head.
        case .served where isSilent && !stream.isClosed: break
        case .exchanging, .served, .tunnelling, .ended: return nil
        }
        return Rest(isSilent: isSilent, number: restNumber)
    }

    /// Ends the connection, which waits for its client, so that another has room.
    /// - Returns: whether it has ended; if not, its task ends it soon.
    func displace() -> Bool {
        guard case .served = phase else {
            end()
            return true
        }
        stream.close()
        return false
    }

    /// From the next request on the client speaks to the origin of `tunnel`.
    /// - Parameter user: who opened it.
    func enter(_ tunnel: InterceptedTunnel, as user: String?) {
        requester.tunnel = tunnel
        acceptedAuthorization = nil
        let isPrincipal =
            if case .established(let principal, _, _) = negotiation { user?.hasSameBytes(as: principal) == true } else {
                false
            }
        negotiation = nil
        // A user who has shown a certificate stands in no list.
        if let user, self.user == nil, let authentication = host.policy.clientAuthentication {
            admission = ClientAdmission(user, isPrincipal: isPrincipal, by: authentication)
        }
        self.user = user
    }

    /// Whether who opened the tunnel that the session is in may still use the proxy.
    func isStillAdmitted() -> Bool {
        guard admission != nil, let authentication = policy.clientAuthentication else { return true }
        return admission?.holds(by: authentication) ?? true
    }

    /// The client has proved by a certificate who it is.
    func recognise(_ user: String) { self.user = user }

    /// How the request in hand is to say who asks. Nil when nobody wants to know, or it is known.
    var authentication: ClientAuthentication? {
        guard requester.isProxy, user == nil else { return nil }
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
        case .idle:
            // Of TLS not everything that comes is a request's.
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
        case .exchanging(let exchange):
            guard channel === stream.socket else {
                if !isAdvancing { advance(exchange) }
                return
            }
            // A client that has left has ended the exchange by then.
            requester.notice(exchange)
            wakeupSignalled()
        case .served(let exchange): requester.notice(exchange)
        case .tunnelling(let tunnel): if !isAdvancing { advance(tunnel) }
        case .lingering(let rest):
            if channel.isOpen { discard(rest) } else { end() }
        case .ended: break
        }
    }

    // MARK: - Between requests

    /// Only a client that has made a request may be silent for the longer time.
    func awaitRequest() {
        phase = .idle
        hear(stream.socket)
        if isSilent { return stream.setDeadline(after: host.policy.exchanges.timeouts.head) }
        restNumber = host.takeRestNumber()
        stream.setDeadline(after: host.policy.exchanges.timeouts.idle)
    }

    func lend() -> Exchange {
        let exchange = host.takeExchange()
        if policy.exchanges !== exchange.policy { policy = host.policy }
        exchange.record.setClient(requester.address)
        return exchange
    }

    func end() {
        if case .ended = phase { return }
        phase = .ended
        stream.close()
        requester.logins.closeAll()
        requester.wakeup.driver = nil
        requester.observer = nil
        host.forget(self)
    }

    /// An exchange is over. What the client has sent behind it is taken at once.
    /// - Parameter lingers: whether the client may still be sending when the connection does not go on.
    func finish(_ exchange: Exchange, goesOn: Bool, lingers: Bool = false) {
        exchange.record.duration = requester.loop.nanoseconds &- exchange.times.start
        let record = exchange.record
        record.bytesIn = exchange.body.count
        // A client that left before its request was whole made none.
        if record.status > 0 || record.error != nil || !exchange.headBytes.isEmpty { host.close(record) }
        if record.hasDatedWays { requester.noteDatedWays(of: exchange, after: &datedNote) }
        requester.forgetLogins()
        exchange.reset()
        let mayGoOn = goesOn && !requester.upstreams.isDraining && !stream.isClosed
        if mayGoOn, !exchange.inbound.isEmpty || stream.isReadable { return takeRequest(renewed(exchange)) }
        host.give(exchange)
        if mayGoOn { awaitRequest() } else if lingers { linger() } else { end() }
    }

    /// The exchange for the client's next request: after a reload another, which follows the new policy.
    private func renewed(_ exchange: Exchange) -> Exchange {
        if exchange.policy === host.policy.exchanges { return exchange }
        let (fresh, behind) = (lend(), exchange.inbound)
        fresh.inbound.append(behind.readable)
        host.give(exchange)
        return fresh
    }

    // MARK: - The plain exchange

    /// The request's head is there.
    func carryOut(_ exchange: Exchange) throws(ExchangeFailure) {
        if isSilent {
            isSilent = false
            host.noteFirstRequest()
        }
        try admit(exchange)
        if let authentication {
            switch authentication.judge(exchange, of: self) {
            case .proved: break
            case .refused(let refusal): return answer(exchange, with: refusal)
            case .undecided: return serve(exchange, from: .admitted)
            }
        }
        let plan = try plan(exchange)
        switch plan {
        case .forward: break
        case .tunnel: return serve(exchange, from: .planned(plan))
        case .answerOptions:
            return send(
                exchange, keepingConnection: OwnResponse(session: self, exchange: exchange).writeOptions())
        }
        requester.leaves(by: .end, in: exchange)
        stream.setDeadline(after: nil)
        exchange.forward()
        advance(exchange)
    }

    /// An event of either channel has come, or a time is over that the exchange waits for.
    func wakeupSignalled() {
        guard !isAdvancing, case .exchanging(let exchange) = phase else { return }
        advance(exchange)
    }

    /// Takes the exchange as far as it goes without waiting.
    private func advance(_ exchange: Exchange) {
        isAdvancing = true
        defer { isAdvancing = false }
        do throws(ExchangeFailure) {
            switch try exchange.advance(for: requester) {
            case .awaitsEvent: watch(exchange)
            case .awaitsWork: serve(exchange, from: .forwarded)
            case .upgraded(let tunnel): relay(BlindTunnel(tunnel, of: exchange, for: requester), openedBy: exchange)
            case .ended(let keeps): end(exchange, keeps: keeps)
            }
        } catch {
            if case .clientLost = error { return abandon(exchange) }
            if requester.presence.hasLeft { return abandon(exchange) }
            fail(exchange, error)
        }
    }

    /// Tells the client why its request was not carried out.
    func fail(_ exchange: Exchange, _ failure: ExchangeFailure) {
        guard let refusal = exchange.refusal(for: failure) else { return serve(exchange, from: .failed(failure)) }
        answer(exchange, with: refusal)
    }

    /// Answers in the proxy's own name.
    private func answer(_ exchange: Exchange, with refusal: Refusal) {
        send(exchange, keepingConnection: OwnResponse(session: self, exchange: exchange).write(refusal))
    }

    /// Sends the answer in `outbound`. A task is started only where the client does not take it at once, or has sent more than
    /// a few requests behind it: each is read from within the one before.
    private func send(_ exchange: Exchange, keepingConnection keeps: Bool) {
        let isLast = !keeps || exchange.body.isRead && exchange.inbound.isEmpty && !stream.isReadable
        let mayGoOn = exchange.body.isRead && !isAdvancing && nestedAnswers < Self.nestedLimit
        guard isLast || mayGoOn, stream.writeAtOnce(exchange.outbound) else {
            return serve(exchange, from: .answered(keepsConnection: keeps))
        }
        nestedAnswers += 1
        defer { nestedAnswers -= 1 }
        finish(exchange, goesOn: keeps, lingers: !keeps)
    }

    /// Ends the exchange of a client that has left, with its connection to the origin.
    private func abandon(_ exchange: Exchange) {
        exchange.upstream.reset()
        exchange.record.noteDeparture()
        stream.abort()
        finish(exchange, goesOn: false)
    }

    /// From now on the events of both channels carry the exchange on.
    func watch(_ exchange: Exchange) {
        phase = .exchanging(exchange)
        hear(stream.socket)
        if let upstream = exchange.upstream.stream { hear(upstream.socket) }
    }

    /// From now on no task waits for the channel: its news is for the session. Mostly that is so already.
    @inline(__always)
    private func hear(_ channel: Channel) {
        if channel.observer !== self || channel.wakeup != nil { channel.rest(telling: self) }
    }

    /// From now on the connection is a tunnel's, which needs of the exchange no more than its record.
    func relay(_ tunnel: BlindTunnel, openedBy exchange: Exchange) {
        if exchange.record.hasDatedWays { requester.noteDatedWays(of: exchange, after: &datedNote) }
        exchange.dissolve(into: requester.loop.buffers)
        phase = .tunnelling(tunnel)
        for stream in [stream, tunnel.upstream] {
            stream.wakeup = nil
            stream.socket.observer = self
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

    /// The client has its response.
    /// - Parameter keeps: whether its connection can carry another request.
    func end(_ exchange: Exchange, keeps: Bool) {
        // Closing what is still being sent would reset the connection.
        finish(exchange, goesOn: keeps, lingers: !keeps && (stream.isReadable || !exchange.body.isRead))
    }

    // MARK: - All others

    /// The task is done: events carry on what follows.
    private func takeBack() {
        requester.presence.finish()
        if case .ended = phase { return }
        requester.observer = self
    }

    /// Hands the exchange to a task, which takes it from `stage` to its end.
    func serve(_ exchange: Exchange, from stage: RequestService.Stage) {
        phase = .served(exchange)
        requester.observer = nil
        stream.wakeup = requester.wakeup
        if let upstream = exchange.upstream.stream {
            upstream.forgetObserver()
            upstream.wakeup = requester.wakeup
        }
        let service = LoopBound(RequestService(session: self, exchange: exchange), to: requester.loop)
        let bound = LoopBound(stage, to: requester.loop)
        let task = requester.loop.spawn {
            let (session, exchange) = (service.value.session, service.value.exchange)
            let outcome = await service.value.serve(from: bound.value)
            session.takeBack()
            switch outcome {
            case .ended(let goesOn): session.finish(exchange, goesOn: goesOn, lingers: !goesOn)
            case .awaitsEvent: session.watch(exchange)
            case .tunnels(let tunnel): session.relay(tunnel, openedBy: exchange)
            }
        }
        requester.presence.begin(task)
        requester.leaves(by: stage.departure, in: exchange)
    }
}
