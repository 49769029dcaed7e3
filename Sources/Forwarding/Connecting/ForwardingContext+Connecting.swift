import Authentication
import Bytes
import Challenges
import Gateway
import HTTP
import IO
import Model
import Rules
import Telemetry
import Transport
import Upstream

/// Makes the connection of a request: to its origin, directly or through a parent, or to the parent that makes the
/// request; with TLS wherever it is used.
extension ForwardingContext {
    /// The terms of this exchange's connection; a kept one must meet them too.
    public var terms: ConnectionTerms {
        destination.terms(
            by: exchange.way,
            for: downstream.identity(in: exchange),
            tlsPolicyEpoch: downstream.shared.tlsPolicyEpoch.number)
    }

    /// Begins a connection that needs no task: a direct one to an origin without TLS, see `Dialer.begin`.
    ///
    /// - Returns: whether the connection is being made; `hasConnected` then says when it is there. If false, `connect`
    ///   must make one.
    /// - Throws: the refusal for the client.
    func beginConnection() throws(ExchangeFailure) -> Bool {
        guard destination.hops.isEmpty, origin.scheme == .http, exchange.own != nil || !exchange.asksForPractice,
            !(hasPriorKnowledge && offersHTTP2)
        else { return false }
        let isJudged = exchange.own == nil || destination.address != nil
        do throws(Refusal) {
            guard
                let stream = try dialer.begin(
                    host: destination.dialledHost, port: origin.port, isJudged: isJudged)
            else { return false }
            let terms = destination.address == nil ? .plain : terms
            attach(OriginConnection(stream: stream, to: origin, under: terms), isReused: false)
        } catch { throw .refused(error) }
        exchange.times.connecting = downstream.loop.now
        return true
    }

    /// Whether the connection begun by `beginConnection` is there. If not, wait for an event of its stream.
    ///
    /// - Throws: the refusal for the client.
    func hasConnected() throws(ExchangeFailure) -> Bool {
        guard let stream = exchange.upstream.stream else { return true }
        let started = exchange.times.connecting
        do throws(Refusal) {
            guard try dialer.hasArrived(stream, at: origin.hostText, port: origin.port, since: started) else {
                return false
            }
        } catch {
            exchange.record.facts.connecting = downstream.loop.now.nanoseconds(since: started)
            exchange.upstream.reset()
            throw .refused(error)
        }
        exchange.record.facts.connecting = downstream.loop.now.nanoseconds(since: started)
        exchange.record.facts.upstream = .opened
        return true
    }

    private var dialer: Dialer { downstream.dialer(for: policy, in: exchange.record.facts.trace) }

    /// - Parameter offeringHTTP2: whether the server that gets the request may choose HTTP/2. The caller then shares the
    ///   connection.
    /// - Throws: the refusal for the client; the record then has the problems that were found.
    public func openConnection(offeringHTTP2: Bool = false) async throws(Refusal) -> OriginConnection {
        let started = downstream.loop.now
        defer { exchange.record.facts.connecting = downstream.loop.now.nanoseconds(since: started) }
        if origin.scheme == .ftp, exchange.way.relay == nil || destination.route.upgrade != nil {
            let connection = try await GatewayConnector.connect(
                downstream, to: destination, through: exchange.way.parent, by: policy,
                as: downstream.identity(in: exchange), in: exchange.record.facts.trace)
            exchange.record.facts.upstream = .opened
            return connection
        }
        let connection = try await openAsked(offeringHTTP2)
        exchange.record.facts.upstream = .opened
        exchange.record.facts.isResumed = connection.security?.isResumed ?? false
        return connection
    }

    /// Connects, again after each TLS challenge that an operator answers.
    private func openAsked(_ offersHTTP2: Bool) async throws(Refusal) -> OriginConnection {
        let identities = exchange.credentials.beginIdentities()
        while true {
            do throws(Refusal) {
                return try await identities.connect(for: downstream) { () async throws(Refusal) in
                    let connection = try await openConnection(resuming: true, offersHTTP2)
                    // The trust of a resumed session may have ended since the session began.
                    if connection.isStillTrusted { return connection }
                    connection.stream.close()
                    return try await openConnection(resuming: false, offersHTTP2)
                }
            } catch { try await follow(error) }
        }
    }

    /// Has an operator answer the question in a refusal, so that another connection may succeed.
    ///
    /// - Throws: the refusal for the client.
    func follow(_ refusal: Refusal) async throws(Refusal) {
        guard var question = refusal.question, exchange.own == nil, !downstream.presence.isOver else { throw refusal }
        question.note(exchange.target.readable, by: exchange.application)
        let reason: String
        let delegate = downstream.delegate(in: exchange)
        let started = downstream.loop.now
        do throws(OperatorQuestion.Unanswered) {
            let answer = try await delegate.ask(question, at: downstream.loop.wallTime)
            exchange.record.facts.trace?.note("question", from: started)
            switch (answer.act, question.space.authenticationMethod) {
            case (.trust, .serverTrust): return
            case (.use, .clientCertificate), (.reject, .clientCertificate):
                return exchange.credentials.beginIdentities().take(answer.act, on: question.space)
            default: reason = "the operator said \(answer.words)"
            }
        } catch {
            reason = error.reason
            exchange.record.facts.trace?.note("question", from: started, error: reason)
        }
        var refusal = refusal
        refusal.sentence += ": \(reason)"
        refusal.details += ": \(reason)"
        throw refusal
    }

    private func openConnection(resuming: Bool, _ offersHTTP2: Bool) async throws(Refusal) -> OriginConnection {
        switch exchange.way {
        case .direct:
            let isForPractice = origin.scheme == .http && exchange.own == nil && exchange.asksForPractice
            let stream = try await dialer.connect(
                host: destination.dialledHost, port: origin.port,
                isJudged: exchange.own == nil || destination.address != nil, isForPractice: isForPractice)
            stream.wakeup = downstream.wakeup
            if isForPractice, let peer = stream.peerAddress,
                downstream.shared.ownListeners.kind(at: peer.address, port: peer.port) != nil
            {
                // The next request could ask for another page there.
                return OriginConnection(stream: stream, to: origin, under: terms, kind: .forOneRequest)
            }
            return try await secure(stream, resuming: resuming, offersHTTP2)
        case .relayed(let parent):
            // The parent may refuse a certificate when the request has already been sent.
            if parent.origin.maySeeIdentity(by: policy.rules) { exchange.body.keepCopy(in: room) }
            return try await ParentConnector(downstream: downstream, exchange: exchange, parent: parent)
                .connect(under: terms, resuming: resuming, offeringHTTP2: offersHTTP2)
        case .tunnelled(let parent):
            let tunnel = try await ParentConnector(downstream: downstream, exchange: exchange, parent: parent)
                .openTunnel(to: destination, resuming: resuming)
            // A server of HTTP/2 may speak first.
            guard tunnel.early == nil || offersHTTP2 && !origin.isSecure else {
                tunnel.connection.stream.close()
                throw Refusal(
                    .badGateway, .httpProtocolError,
                    "\(origin.hostText) port \(origin.port) said something before it was asked")
            }
            return try await secure(
                tunnel.connection.stream, resuming: resuming, offersHTTP2,
                parentSecurity: tunnel.connection.parentSecurity, early: tunnel.early)
        }
    }

    private func secure(
        _ stream: ByteStream, resuming: Bool, _ offersHTTP2: Bool, parentSecurity: ConnectionSecurity? = nil,
        early: ByteBuffer? = nil
    ) async throws(Refusal) -> OriginConnection {
        let terms = terms
        guard origin.isSecure else {
            return OriginConnection(
                stream: stream, to: origin, under: terms, parentSecurity: parentSecurity,
                kind: offersHTTP2 ? .http2(early: early) : .ordinary)
        }
        var handshake = OriginHandshake(
            downstream: downstream, policy: policy, client: downstream.identity(in: exchange), own: exchange.own,
            origin: origin, terms: terms)
        handshake.identities = exchange.credentials.identities
        handshake.trace = exchange.record.facts.trace
        let servers = [origin] + (exchange.way.parent.map { [$0.origin] } ?? [])
        let isApart = servers.contains { exchange.credentials.identities?.isApart($0) ?? false }
        handshake.offersHTTP2 = offersHTTP2 && !isApart
        let security = try await handshake.secure(stream, resuming: resuming)
        return OriginConnection(
            stream: stream, to: origin, under: terms, security: security, parentSecurity: parentSecurity,
            kind: isApart ? .forOneRequest : .ordinary)
    }

    // MARK: - HTTP/2

    /// Whether the exchange may use HTTP/2 with the server that gets its requests: the origin, or a parent. Not for a login,
    /// which belongs to a connection, and not for an upgrade. Of the proxy's own requests only a try of a credential may, and
    /// the others may use the tunnels.
    /// Without TLS, the origin must be known to speak it.
    public var offersHTTP2: Bool { offersHTTP2(to: exchange.way.peer(of: origin)) }

    /// Whether the exchange may use HTTP/2 with that server, which gets its requests.
    private func offersHTTP2(to peer: UpstreamServer) -> Bool {
        guard peer.isSecure || hasPriorKnowledge && !peer.isProxy,
            destination.route.http2.isForOrigins, !exchange.needsHTTP11,
            exchange.opensTunnel || mayBeStream
        else { return false }
        let (version, parentVersion) = exchange.credentials.challenges?.loginVersions ?? (nil, nil)
        return version == nil && parentVersion == nil && !peer.namesLogin(by: rules)
            && !peer.streams.needsHTTP11(at: downstream.loop.now)
    }

    /// Whether a stream can carry the request, which is no CONNECT of our own. A parent is asked for `ftp` by HTTP/1.1: few
    /// know that scheme on a stream, and this proxy does not.
    private var mayBeStream: Bool {
        exchange.own == nil && exchange.request.upgrade == nil && origin.scheme != .ftp && !exchange.bringsOwnLogin
            && !origin.namesLogin(by: rules)
    }

    /// Whether later requests may use a connection of this exchange.
    private var isCurrent: Bool { policy === downstream.upstreams.policy && !downstream.upstreams.isDraining }

    /// Takes an idle connection or a stream on a path with a parent.
    func takeByParent() -> Bool {
        let peer = exchange.way.peer(of: origin)
        if peer.isProxy, takeStream(of: peer) { return true }
        guard let connection = peer.takeIdle(under: terms) else { return false }
        attach(connection, isReused: true)
        return true
    }

    /// Takes a stream of a connection with that server, if the request goes to it.
    func takeStream(of server: UpstreamServer) -> Bool {
        guard server === exchange.way.peer(of: origin), server.mayShare, offersHTTP2(to: server),
            let stream = server.streams.take(under: terms)
        else { return false }
        attach(stream.connection, isReused: stream.isReused)
        noteClearHTTP2()
        return true
    }

    /// Connects by the path that the request takes.
    /// - Parameter isNew: whether an existing connection will not do.
    public func connect(isNew: Bool) async throws(Refusal) {
        try await connect(isNew: isNew) { (offersHTTP2: Bool) async throws(Refusal) in
            try await openConnection(offeringHTTP2: offersHTTP2)
        }
        if exchange.record.facts.upstream == .none { exchange.record.facts.upstream = .reused }
    }

    /// Connects to the parent that is to open a tunnel.
    func connectForTunnel(resuming: Bool) async throws(Refusal) {
        guard let parent = exchange.way.relay else { return }
        let connector = ParentConnector(downstream: downstream, exchange: exchange, parent: parent)
        let (identities, terms) = (exchange.credentials.beginIdentities(), terms)
        try await connect(isNew: false) { (offersHTTP2: Bool) async throws(Refusal) in
            try await identities.connect(for: downstream) { () async throws(Refusal) in
                try await connector.connect(under: terms, resuming: resuming, offeringHTTP2: offersHTTP2)
            }
        }
    }

    /// Makes a connection, or takes a stream of one that others use.
    /// - Parameter make: makes a connection. It gets whether the server may choose HTTP/2.
    private func connect(
        isNew: Bool, _ make: (Bool) async throws(Refusal) -> OriginConnection
    ) async throws(Refusal) {
        guard offersHTTP2 else { return attach(try await make(false), isReused: false) }
        let wish = SharedConnections.Wish(
            under: terms, isNew: isNew || !isCurrent, mayBeShared: isCurrent, within: policy.timeouts.connect,
            responses: policy.limits.response)
        let made = try await exchange.way.peer(of: origin).streams.connect(wish, on: downstream.loop) {
            () async throws(Refusal) in try await make(true)
        }
        attach(made.connection, isReused: made.isReused)
        noteClearHTTP2()
    }

    /// Keeps a connection that no request uses yet.
    public func keep(_ connection: OriginConnection) {
        guard connection.speaksHTTP2 else { return connection.rest(for: ResponseRelay.keptFor) }
        origin.streams.keep(
            connection, responses: policy.limits.response, isCurrent: isCurrent, on: downstream.loop)
    }
}

extension ParentConnector {
    /// Opens a tunnel to the origin of a destination.
    public func openTunnel(to destination: Destination, resuming: Bool) async throws(Refusal) -> Tunnel {
        exchange.record.facts.parent = parent.figures
        exchange.record.facts.asksParentByHTTP2 = false
        guard parent.speaksHTTP else {
            return try await SOCKSOpening(connector: self, origin: destination.origin).open()
        }
        let tunnel = try await TunnelRequest(connector: self, destination: destination).open(resuming: resuming)
        exchange.record.facts.asksParentByHTTP2 = tunnel.connection.parentSecurity?.speaksHTTP2 ?? false
        return tunnel
    }
}
