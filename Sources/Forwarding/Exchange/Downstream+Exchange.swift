import Authentication
import Bytes
import Challenges
import Credentials
import HTTP
import IO
import Model
import Rules
import Telemetry
import Transport
import Upstream

extension Downstream {
    /// This client as it waits for slow work that the request in `exchange` needs. Call it in the task that carries the
    /// request out.
    public func waiting(on exchange: Exchange) -> WaitingClient {
        stream.setDeadline(after: nil)
        return WaitingClient(address: address, wakeup: wakeup, on: loop) { self.hasLeft(exchange) }
    }

    /// Writes the bytes of `buffer` that the client takes at once.
    /// - Returns: whether the client took all. If false, wait for an event of its stream or its deadline.
    public func flush(_ buffer: ByteBuffer) throws(ExchangeFailure) -> Bool {
        while !buffer.isEmpty {
            switch stream.tryWrite(from: buffer) {
            case .moved, .endOfStream: continue
            case .failed: throw .clientLost
            case .wouldBlock:
                do throws(IOError) { try stream.check() } catch { throw .clientLost }
                stream.setDeadline(after: upstreams.policy.timeouts.idle)
                return false
            }
        }
        return true
    }

    /// The client of this exchange, as rules see it.
    public func identity(in exchange: Exchange) -> ClientIdentity {
        ClientIdentity(address: address, user: exchange.record.facts.user)
    }

    /// The rules as they apply to this client.
    /// - Parameter path: the path of the request, for helpers that are asked for it.
    public func delegate(in exchange: Exchange, path: String? = nil) -> RuleDelegate {
        RuleDelegate(
            policy: exchange.policy.challenges, state: shared.challenges, client: identity(in: exchange), path: path)
    }

    /// The answer to the challenger's previous request, if it also fits this one.
    /// - Parameter target: the request target as the challenger sees it.
    func latestAnswer(of challenger: Challenger, in exchange: Exchange, at target: ByteBuffer) -> PreemptiveAnswer? {
        PreemptiveAnswer.again(
            target.readable, of: { identity(in: exchange) }, to: challenger, by: exchange.policy.challenges,
            in: shared.challenges, noting: exchange.record)
    }

    // MARK: - A client that leaves

    /// Sets the sign by which the client leaves. It counts also if it is there already.
    public func leaves(by sign: Departure, in exchange: Exchange) {
        self.sign = sign
        notice(exchange)
    }

    /// Checks whether the client of the task that carries out the exchange has left.
    public func notice(_ exchange: Exchange) {
        guard stream.channel.hasPeerEnded || stream.tls != nil, hasLeft(exchange) else { return }
        presence.leave(awaitingVerdict: exchange.policy.timeouts.connect / 2, on: loop)
    }

    /// Whether the client has left, by its sign. The proxy itself never leaves its own request.
    public func hasLeft(_ exchange: Exchange) -> Bool {
        let isGone = stream.isClosed || stream.channel.isBroken
        switch sign {
        case .none: return false
        case .reset: return isGone
        case .end:
            if isGone { return true }
            // A client that pipelines requests may have announced its end in the last one.
            let request = exchange.asked.request
            guard exchange.inbound.isEmpty, request.version >= .http11, request.keepAlive else { return false }
            return stream.isAtEnd()
        }
    }
}

/// The last check before anything is sent. Caches may be wrong, and a request that went to another server would take
/// its credentials along.
extension Downstream {
    /// Confirms that the destination is the server that the request asks for: its scheme, host and port. Call it each
    /// time before sending.
    ///
    /// - Parameter isUpgraded: false if the request names its origin as the origin itself does, also on an upgrade
    ///   route.
    /// - Throws: the response for the client; nothing may be sent then.
    public func confirm(
        _ destination: Destination, for exchange: Exchange, isUpgraded: Bool = true
    ) throws(ExchangeFailure) {
        guard asks(exchange, for: destination, isUpgraded: isUpgraded) else { throw stop(destination.origin) }
    }

    /// Confirms that the exchange's connection leads to this server.
    public func confirm(connectionOf exchange: Exchange, to peer: UpstreamServer) throws(ExchangeFailure) {
        guard exchange.upstream.leads(to: peer) else {
            exchange.upstream.reset()
            throw stop(peer)
        }
    }

    /// Whether the request is for the server of the destination.
    public func asks(_ exchange: Exchange, for destination: Destination, isUpgraded: Bool = true) -> Bool {
        let request = exchange.request
        guard let authority = request.target.authority else {
            // A request in origin-form is for the server that its tunnel was opened to.
            guard let tunnel else { return false }
            let host = tunnel.host
            return destination.address == tunnel.address
                && destination.isFor(tunnel.scheme, host: host.span, port: tunnel.port, isUpgraded: isUpgraded)
        }
        let head = exchange.headBytes
        return destination.isFor(
            request.target.scheme ?? .https, host: head.readable.extracting(authority.host),
            port: authority.explicitPort ?? request.target.scheme?.defaultPort ?? 80, isUpgraded: isUpgraded)
    }

    private func stop(_ origin: UpstreamServer) -> ExchangeFailure {
        metrics.add(to: .requestsMisdirected)
        shared.report(
            "a request was stopped that was about to go to \(origin.hostText) port \(origin.port), which it is not for: "
                + "this is a bug, please report it")
        return .refused(
            Refusal(
                .badGateway, .proxyInternalError,
                "this proxy was about to send the request to another server than it is for, and has sent nothing"))
    }
}

extension AnswerSource {
    public convenience init(of challenger: Challenger, for exchange: Exchange, of downstream: Downstream) {
        let head = exchange.headBytes
        let learns = challenger.mayLearn(by: exchange.policy.rules)
        let asksForPath = !challenger.isProxy && exchange.policy.credentials.asksForPaths
        self.init(
            delegate: downstream.delegate(in: exchange, path: asksForPath ? exchange.helperPath : nil),
            challenger: challenger,
            urlCredential: challenger.isProxy ? nil : Credential.inURL(of: exchange.request, in: head.readable),
            learning: learns ? Learning(from: exchange, of: downstream, at: challenger) : nil, loop: downstream.loop,
            storage: exchange.storage)
        terms.method = exchange.request.method
    }
}

extension Exchange {
    /// The path of the request for helpers that a rule file gives it to; nil if it is too long.
    fileprivate var helperPath: String? {
        let target = target
        let end = target.readable.firstIndex(of: .question, in: 0..<target.count) ?? target.count
        return end <= 2048 ? target.readable.extracting(first: end).text : nil
    }
}

extension Learning {
    public init(from exchange: Exchange, of downstream: Downstream, at challenger: Challenger) {
        let head = exchange.headBytes
        let target = exchange.target
        self.init(
            delegate: downstream.delegate(in: exchange), origin: challenger.origin,
            request: LearningEvidence.Request(
                challenger.origin, method: head.readable.extracting(exchange.request.methodName),
                target: target.readable),
            loop: downstream.loop, storage: exchange.storage)
    }
}

extension Downstream.ClientPresence: RequestPresence {}
