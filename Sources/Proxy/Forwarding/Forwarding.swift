import Authentication
import Bytes
import HTTP
import IO
import Rules
import Telemetry
import Transport

/// Sends one request to its origin and the response back, through as many challenges as it takes.
struct Forwarding: ~Copyable {
    var sending: RequestSending
    let destination: Destination
    /// Whether the request names its origin as the clients of an upgrade route do.
    private let isUpgraded: Bool
    var requester: Requester { sending.requester }
    var exchange: Exchange { sending.exchange }
    private var policy: Policy { exchange.policy }

    /// How much of a challenge's body is read so that its connection can be kept, and for how long.
    static let discardLimit = 256 * 1024
    static let discardMilliseconds = 5000
    /// Bytes of a body that squid reads although it has answered already.
    private static let wedgeLimit = 64 * 1024

    init(requester: Requester, exchange: Exchange, destination: Destination) {
        self.init(requester: requester, exchange: exchange, destination: destination, upgrade: destination.upgrade)
    }

    /// - Parameter upgrade: nil where the request speaks of its origin as that does itself.
    init(requester: Requester, exchange: Exchange, destination: Destination, upgrade: UpgradedOrigin?) {
        sending = RequestSending(requester: requester, exchange: exchange, origin: destination.origin, upgrade: upgrade)
        isUpgraded = upgrade != nil
        self.destination = destination
    }

    /// Chooses the way, and takes note of what is asked for on it.
    private mutating func begin() {
        if !destination.hops.isEmpty {
            take(destination.way(isRelayed: mayBeRelayed))
        }
        let head = exchange.headBytes
        exchange.target.clear()
        exchange.request.target.appendOriginForm(head.readable, to: exchange.target)
    }

    /// Sends a request that has no body on a kept connection, if that takes no waiting, not even for what answers its
    /// challenges. False: nothing was done.
    mutating func sendAtOnce() -> Bool {
        guard exchange.body.isEmpty, exchange.request.upgrade == nil,
            requester.asks(exchange, for: destination, isUpgraded: isUpgraded),
            destination.knowsWays(at: requester.loop.now)
        else { return false }
        begin()
        if mayAnswer {
            do throws(Refusal) { try beginSigning() } catch { return false }
            if exchange.signing == nil {
                var challenges = originChallenges
                guard challenges.prepareAtOnce(), challenges.bodyDigest == nil else { return false }
                sending.prepareForChallenge()
                exchange.begin(challenges)
            }
        }
        beginLesson()
        // Of a login, only what has come to its end needs no waiting.
        guard prepareParentAtOnce(), takeKept(true), exchange.upstream.needsNoLogin,
            exchange.upstream.leads(to: exchange.way.peer(of: destination.origin))
        else {
            exchange.endChallenges()
            return false
        }
        claimOwnLogin()
        exchange.upstream.stream?.wakeup = nil
        sending.sendAtOnce()
        return true
    }

    /// - Parameter isSent: the request went out by `sendAtOnce`.
    /// - Returns: whether the client's connection can carry another request.
    mutating func run(isSent: Bool) async throws(ExchangeFailure) -> Bool {
        var isSent = isSent
        if !isSent {
            try confirmDestination()
            begin()
            if mayAnswer {
                do throws(Refusal) { try beginSigning() } catch { throw .refused(error) }
                if exchange.signing == nil { await beginChallenges() }
            }
            // What the origin's answer waits for, a token or a login, may itself go through the parent, and nobody waits
            // for another request while one of his is the first there.
            await beginParentChallenges()
            beginLesson()
        } else if exchange.challengers?.hasOrigin == true {
            // Should it go out again, then as it went out at first.
            sending.prepareForChallenge()
        }
        while true {
            try await send(isSent: isSent)
            isSent = false
            learn()
            let upload = mayReadAhead ? beginUpload() : nil
            let verdict = await exchange.judge()
            guard requester.presence.isWanted else {
                await upload?.end()
                throw .clientLost
            }
            switch verdict {
            case .pass(let note): return try await relay(note: note, beside: upload)
            case .cancel(let refusal):
                await upload?.end()
                throw .refused(refusal)
            case .again:
                await upload?.end()
                guard exchange.body.canBeSent else { return try await relay(note: Self.bodyTooLarge) }
                await disposeOfResponse()
            }
        }
    }

    /// Sends a request of our own, up to the response's head. What the origin says of it is nobody's affair but the caller's.
    mutating func ask() async throws(ExchangeFailure) {
        try confirmDestination()
        begin()
        await beginParentChallenges()
        while true {
            try await send(isSent: false, mayReuse: exchange.request.method.isIdempotent)
            switch await exchange.judge() {
            case .pass: return
            case .cancel(let refusal): throw .refused(refusal)
            case .again:
                guard exchange.body.canBeSent else {
                    throw .refused(Refusal(.badGateway, .httpRequestError, Self.bodyTooLarge))
                }
                await disposeOfResponse()
            }
        }
    }

    private static let bodyTooLarge =
        "the challenge could be answered, but the request body is larger than this proxy keeps for sending it again "
        + "(limits replay-memory, replay-disk and replay-disk-total)"

    // MARK: - Challenges

    /// Whether a challenge of this origin is ours to answer: a rule speaks of it, or the URL or the storage has a
    /// credential, and the client brings no `Authorization` of its own that is to be kept. A TRACE response would show the credential.
    private var mayAnswer: Bool {
        guard
            destination.origin.mayBeAnswered(by: policy.rules, in: requester.shared)
                || exchange.request.target.userinfo != nil || destination.origin.mayLearn(by: policy.rules)
        else { return false }
        let (request, origin) = (exchange.request, destination.origin)
        guard request.method != .trace else { return false }
        guard request.fields.present.contains(.authorization) else { return true }
        let host = origin.host
        return policy.rules.authorization(
            host: host.span, port: origin.port, protocol: ChallengeProtocol(origin.authority.protocol),
            isSecure: origin.isSecure,
            client: requester.identity(in: exchange)) == .replace
    }

    /// The client's own answer goes to the origin, and a rule wants to know what becomes of it.
    private func beginLesson() {
        guard exchange.request.fields.present.contains(.authorization), exchange.challengers?.hasOrigin != true,
            exchange.signing == nil, destination.origin.mayLearn(by: policy.rules)
        else { return }
        exchange.lesson = Lesson(exchange, to: destination.origin)
    }

    private func learn() {
        guard let lesson = exchange.lesson else { return }
        lesson.judge(exchange, by: Learning(requester: requester, exchange: exchange, origin: destination.origin))
    }

    private mutating func beginSigning() throws(Refusal) {
        exchange.signing = try RequestSigning(
            exchange, to: destination.origin,
            from: requester.identity(in: exchange), requester.shared)
        if exchange.signing != nil { sending.prepareForSignature() }
    }

    private mutating func beginChallenges() async {
        exchange.begin(originChallenges)
        await exchange.challengers?.origin?.prepare()
        sending.prepareForChallenge()
    }

    private var originChallenges: ChallengeLoop {
        let head = exchange.headBytes
        return ChallengeLoop(
            requester: requester, exchange: exchange, origin: destination.origin, over: exchange.upstream,
            target: exchange.target, hasBody: !exchange.body.isEmpty,
            urlCredential: URLCredential.of(exchange.request, in: head.readable),
            forms: LoginForms.of(requester: requester, exchange: exchange, destination: destination))
    }

    /// Frees the connection of the challenge's body, or gives the connection up.
    private func disposeOfResponse() async {
        let upstream = exchange.upstream
        guard !exchange.body.isOwed, upstream.head.keepAlive, !mayBeWedged else { return upstream.reset() }
        await upstream.discardBody(
            upTo: Self.discardLimit, limits: policy.limits.response, within: Self.discardMilliseconds)
    }

    /// Whether a parent may have stopped reading: squid says that it keeps the connection of a `407`, and never reads on
    /// where the request had a large body, even one that it had not asked for yet.
    private var mayBeWedged: Bool {
        guard exchange.way.relay != nil, !exchange.omitsBody else { return false }
        guard case .length(let length) = exchange.body.framing else { return exchange.body.framing == .chunked }
        return length > Self.wedgeLimit
    }

    // MARK: - One way there

    private func confirmDestination() throws(ExchangeFailure) {
        do throws(Refusal) { try requester.confirm(destination, for: exchange, isUpgraded: isUpgraded) } catch {
            throw .refused(error)
        }
    }

    private func confirmConnection() throws(ExchangeFailure) {
        do throws(Refusal) {
            try requester.confirm(connectionOf: exchange, to: exchange.way.peer(of: destination.origin))
        } catch { throw .refused(error) }
    }

    /// Sends the request and reads the response's head; on a new connection if the kept one turns out to be dead.
    private mutating func send(isSent: Bool, mayReuse: Bool = true) async throws(ExchangeFailure) {
        var mayReuse = mayReuse
        var isSent = isSent
        while true {
            guard requester.presence.isWanted else { throw .clientLost }
            // What was sent is answered where it went, whoever the connection belongs to.
            if !isSent {
                if !takeKept(mayReuse) { try await connect() }
                try confirmConnection()
            }
            claimOwnLogin()
            if destination.origin.maySeeIdentity(by: policy.rules) { sending.prepareForIdentity() }
            if exchange.upstream.isReused, mayReuse { sending.prepareForReuse() }
            do throws(ExchangeFailure) {
                try await isSent ? sending.receive() : sending.send()
                guard sending.dropsRefusedExpectation() else { return }
                isSent = false
                exchange.upstream.reset()
            } catch {
                isSent = false
                if case .upstreamFailed = error, let refusal = exchange.upstream.gatewayRefusal {
                    throw .refused(refusal)
                }
                guard case .upstreamFailed(.died) = error, exchange.upstream.isReused, mayReuse,
                    exchange.request.method.isIdempotent, exchange.body.canBeSent
                else { throw error }
                exchange.upstream.reset()
                mayReuse = false
            }
        }
    }

    /// Whether a connection is there: from the leg before, or one that was kept.
    private func takeKept(_ mayReuse: Bool) -> Bool {
        let upstream = exchange.upstream
        let version = exchange.challengers?.origin?.loginVersion
        let parentVersion = exchange.challengers?.parent?.loginVersion
        if upstream.stream != nil {
            // A login of the client's own is good for all that goes out without one of ours.
            if upstream.serves(version, atParent: parentVersion) { return true }
            // Nothing goes on a connection that counts as somebody's but what is his.
            upstream.reset()
        }
        guard mayReuse, exchange.policy === requester.upstreams.policy else { return false }
        if takeLogin(version, atParent: parentVersion) { return true }
        if version != nil || parentVersion != nil { return false }
        let isDirect = destination.hops.isEmpty
        let terms = isDirect && !destination.origin.isSecure ? .plain : connector.terms
        let peer = isDirect ? destination.origin : exchange.way.peer(of: destination.origin)
        guard let connection = peer.takeIdle(under: terms, for: requester.wakeup) else { return false }
        attach(connection, isReused: true)
        exchange.record.upstream = .reused
        return true
    }

    /// Whether there is a connection on which this client is logged in so. A login is not begun on one that rested, and
    /// may be dead: the request that begins it cannot always be repeated.
    private func takeLogin(_ version: CredentialVersion?, atParent parentVersion: CredentialVersion?) -> Bool {
        guard !requester.logins.isEmpty else { return false }
        let origin = destination.origin
        let wanted = HeldConnections.Wanted(
            peer: exchange.way.peer(of: origin), origin: origin, version: version, parentVersion: parentVersion,
            terms: connector.terms)
        guard let held = requester.logins.take(wanted, for: requester.wakeup) else { return false }
        exchange.upstream.attach(held)
        note(held.connection)
        exchange.record.upstream = .reused
        return true
    }

    /// Makes the connection the client's on which it logs in itself.
    private func claimOwnLogin() {
        guard exchange.request.fields.present.contains(.authorization), exchange.upstream.login == nil,
            exchange.bringsOwnLogin
        else { return }
        exchange.upstream.claim(for: ConnectionLogin(to: destination.origin, heldBy: requester.logins))
    }

    private func attach(_ connection: OriginConnection, isReused: Bool) {
        exchange.upstream.attach(connection, isReused: isReused)
        note(connection)
    }

    private func note(_ connection: OriginConnection) {
        if let security = connection.security { exchange.record.security = security.record }
    }

    /// Connects by the first way that works. Nothing was sent yet, or may be sent again.
    private mutating func connect() async throws(ExchangeFailure) {
        var ways = destination.hopsWorthTrying[...]
        let isRelayed = mayBeRelayed
        while true {
            if let hop = ways.popFirst(), take(hop.way(isRelayed: isRelayed)) { await beginParentChallenges() }
            do throws(Refusal) { return attach(try await connector.connect(), isReused: false) } catch {
                guard error.mayGoAnotherWay, !ways.isEmpty else { throw .refused(error) }
            }
        }
    }

    private var connector: OriginConnector {
        OriginConnector(requester: requester, exchange: exchange, destination: destination)
    }

    /// What is read of a response before it is passed on must not wait for a body that does not go on. The body of a
    /// challenge is not read.
    private var mayReadAhead: Bool {
        let status = exchange.upstream.head.status
        return status != .unauthorized && status != .proxyAuthenticationRequired
    }

    /// Has the rest of the body go on beside the response, if there is any.
    private func beginUpload() -> ConcurrentUpload? {
        guard exchange.body.mayGoOn, exchange.upstream.head.status != .switchingProtocols,
            let stream = exchange.upstream.stream
        else { return nil }
        return ConcurrentUpload(
            of: exchange.body, from: requester.stream, inbound: exchange.inbound, to: stream,
            idle: policy.timeouts.idle, beside: requester.wakeup, on: requester.loop)
    }

    private func relay(note: String?, beside begun: ConcurrentUpload? = nil) async throws(ExchangeFailure) -> Bool {
        let upload = begun ?? beginUpload()
        upload?.settle()
        let relay = ResponseRelay(
            requester: requester, exchange: exchange, destination: destination, note: note, upload: upload)
        guard let keeps = relay.relayAtOnce() else { return try await relay.relay() }
        if !exchange.outbound.isEmpty { try await requester.write(exchange.outbound) }
        return keeps
    }
}
