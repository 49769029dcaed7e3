import Authentication
import Bytes
import HTTP
import IO
import Model
import Rules
import Telemetry
import Transport

/// Takes one request to its server and the response back, through as many challenges as it takes: a machine that goes on at
/// each event of the exchange's two channels. Only what is no event of theirs is waited for by a task: a name, a ticket, a
/// token, a file, another request.
///
///     planned ─▶ prepared ─▶ connected ─▶ sending ─▶ arrived ─▶ judged ─▶ relaying ─▶ over
///                   ▲                                             │
///                   └──────────────── disposing ◀─────────────────┘  another answer is due
struct Forwarding: ~Copyable {
    /// How far it came.
    enum Progress {
        /// There is nothing to do until an event of either channel, or the end of a deadline of theirs.
        case awaitsEvent
        /// There is nothing to do until a task has done `work`.
        case awaitsWork
        /// The client was told that another protocol is spoken from here on, with that server.
        case upgraded(OpenedTunnel)
        /// - Parameter keeps: whether the client's connection can carry another request.
        case ended(keeps: Bool)
    }

    private enum Stage {
        /// Becomes `.prepared`.
        case planned
        /// It is known what answers. Becomes `.connected`.
        case prepared
        /// A connection is there. Becomes `.sending`.
        case connected
        /// Becomes `.arrived`, or `.prepared` where the connection turned out to be dead.
        case sending
        /// The response's head is there. Becomes `.judged`.
        case arrived
        /// Becomes `.relaying`, `.disposing` or `.over`.
        case judged
        /// The rest of a challenge is read, so that its connection can be used again. Becomes `.prepared`.
        case disposing
        /// Becomes `.over`.
        case relaying
        case over
    }

    /// What a task has to do.
    private enum Work {
        case ways
        case preparation(origin: Bool, parent: Bool)
        case connection
        case answers
        case copy
        case verdict
        case uploadEnd(ExchangeFailure?)
        case disposal
        case relayCopy
    }

    var sending: RequestSending
    let destination: Destination
    /// Whether the request names its origin as the clients of an upgrade route do.
    private let isUpgraded: Bool
    /// Whether the response is relayed to the client; else it is read by the one who asked.
    private let isRelayed: Bool
    private var stage = Stage.planned
    private var verdict: ResponseVerdict?
    private var disposal: BodyDisposal?
    private var work: Work?
    private var relay: ResponseRelay?
    private var upload: ConcurrentUpload?
    /// Whether a connection that was kept will do.
    private var mayReuse = true
    var requester: Requester { sending.requester }
    var exchange: Exchange { sending.exchange }
    private var policy: Policy { exchange.policy }
    private var path: ForwardingPath {
        ForwardingPath(requester: requester, exchange: exchange, destination: destination)
    }

    private var answers: RequestAnswers {
        RequestAnswers(requester: requester, exchange: exchange, destination: destination)
    }

    /// How much of a challenge's body is read so that its connection can be kept, and for how long.
    static let discardLimit = 256 * 1024
    static let discardMilliseconds = 5000

    init(requester: Requester, exchange: Exchange, destination: Destination) {
        self.init(
            requester: requester, exchange: exchange, destination: destination, upgrade: destination.upgrade,
            isRelayed: true)
    }

    /// For a request of our own, whose response stays with the caller.
    /// - Parameter upgrade: nil where the request speaks of its origin as that does itself.
    init(asking destination: Destination, upgrade: UpgradedOrigin?, requester: Requester, exchange: Exchange) {
        self.init(
            requester: requester, exchange: exchange, destination: destination, upgrade: upgrade, isRelayed: false)
    }

    private init(
        requester: Requester, exchange: Exchange, destination: Destination, upgrade: UpgradedOrigin?, isRelayed: Bool
    ) {
        sending = RequestSending(
            requester: requester, exchange: exchange, origin: destination.origin, upgrade: upgrade)
        isUpgraded = upgrade != nil
        self.isRelayed = isRelayed
        self.destination = destination
    }

    // MARK: - The machine

    /// Sends a request of our own, up to the response's head. What the origin says of it is nobody's affair but the caller's.
    mutating func ask() async throws(ExchangeFailure) {
        while true {
            switch try advance() {
            case .awaitsEvent: await requester.wakeup.wait()
            case .awaitsWork: try await performWork()
            case .upgraded, .ended: return
            }
        }
    }

    /// Goes on as far as that is possible without waiting.
    mutating func advance() throws(ExchangeFailure) -> Progress {
        guard requester.presence.isWanted else { throw .clientLost }
        if work != nil { return .awaitsWork }
        do throws(ExchangeFailure) {
            while true {
                if let progress = try go() { return progress }
            }
        } catch {
            guard let upload, !upload.endAtOnce() else { throw error }
            return wait(for: .uploadEnd(error))
        }
    }

    private mutating func wait(for work: Work) -> Progress {
        self.work = work
        return .awaitsWork
    }

    /// - Returns: nil where another stage follows at once.
    private mutating func go() throws(ExchangeFailure) -> Progress? {
        switch stage {
        case .planned: return try prepare()
        case .prepared:
            guard path.takeKept(mayReuse) else { return wait(for: .connection) }
            stage = .connected
        case .connected: return try beginLeg()
        case .sending: return try send()
        case .arrived: return judge()
        case .judged: return try carryOut(verdict)
        case .disposing: return dispose()
        case .relaying:
            switch try relay?.advance() {
            case .awaitsEvent: return .awaitsEvent
            case .awaitsCopy: return wait(for: .relayCopy)
            case .awaitsUpload: return wait(for: .uploadEnd(nil))
            case .upgraded:
                stage = .over
                return upgraded()
            case .ended(let keeps):
                stage = .over
                return .ended(keeps: keeps)
            case nil: return .ended(keeps: false)
            }
        case .over: return .ended(keeps: false)
        }
        return nil
    }

    /// Does what the machine waits for.
    mutating func performWork() async throws(ExchangeFailure) {
        guard let work else { return }
        self.work = nil
        switch work {
        case .ways:
            try await requester.upstreams.renewWays(to: destination, by: policy, for: requester.waiting(on: exchange))
        case .preparation(let origin, let parent):
            // What the origin's answer waits for, a token or a login, may itself go through the parent, and nobody waits
            // for another request while one of his is the first there.
            if origin { await exchange.challenges?.origin.loop?.prepare() }
            if parent { await exchange.challenges?.parent.loop?.prepare() }
        case .connection: try await connect()
        case .answers:
            answers.meetChallenges()
            try await sending.prepareAndBegin()
            stage = .sending
        case .copy: try await sending.workOnCopy()
        case .verdict:
            answers.meetChallenges()
            verdict = await exchange.judge()
            stage = .judged
        case .uploadEnd(let failure):
            await upload?.end()
            if let failure { throw failure }
        case .disposal:
            await exchange.upstream.readBack(within: Self.discardMilliseconds)
        case .relayCopy: try await relay?.readBack()
        }
        guard requester.presence.isWanted else { throw .clientLost }
    }

    /// Finds the way, and what answers there if that needs no waiting.
    private mutating func prepare() throws(ExchangeFailure) -> Progress? {
        guard destination.knowsWays(at: requester.loop.now) else { return wait(for: .ways) }
        try requester.confirm(destination, for: exchange, isUpgraded: isUpgraded)
        if !destination.hops.isEmpty { path.take(destination.way(isRelayed: path.mayBeRelayed)) }
        var (waitsForOrigin, waitsForParent) = (false, false)
        if isRelayed {
            if answers.mayAnswer {
                do throws(Refusal) {
                    exchange.signing = try answers.signing()
                } catch { throw .refused(error) }
                if exchange.signing != nil {
                    sending.prepareForSignature()
                } else {
                    waitsForOrigin = !answers.beginAtOnce()
                    sending.prepareForChallenge()
                }
            }
            if let answer = answers.learnableAnswer { exchange.learnableAnswer = answer }
        }
        if exchange.way.relay != nil, let parent = answers.answerableParent {
            waitsForParent = !answers.beginAtOnce(at: parent)
            sending.prepareForParent()
        }
        stage = .prepared
        guard waitsForOrigin || waitsForParent else { return nil }
        return wait(for: .preparation(origin: waitsForOrigin, parent: waitsForParent))
    }

    private mutating func beginLeg() throws(ExchangeFailure) -> Progress? {
        try requester.confirm(connectionOf: exchange, to: exchange.way.peer(of: destination.origin))
        path.claimOwnLogin()
        if destination.origin.maySeeIdentity(by: policy.rules) { sending.prepareForIdentity() }
        if exchange.upstream.isReused, mayReuse { sending.prepareForReuse() }
        if sending.wantsPreparation { return wait(for: .answers) }
        sending.begin()
        stage = .sending
        return nil
    }

    /// Sends the request and reads the response's head; on a new connection if the kept one turns out to be dead.
    private mutating func send() throws(ExchangeFailure) -> Progress? {
        do throws(ExchangeFailure) {
            switch try sending.advance() {
            case .awaitsEvent: return .awaitsEvent
            case .awaitsCopy: return wait(for: .copy)
            case .answered:
                if sending.dropsRefusedExpectation() {
                    exchange.upstream.reset()
                    stage = .prepared
                } else {
                    stage = .arrived
                }
            }
        } catch {
            if case .upstreamFailed = error, let refusal = exchange.upstream.gatewayRefusal {
                throw .refused(refusal)
            }
            guard case .upstreamFailed(.died) = error, exchange.upstream.isReused, mayReuse,
                exchange.request.method.isIdempotent, exchange.body.canBeSent
            else { throw error }
            exchange.upstream.reset()
            mayReuse = false
            stage = .prepared
        }
        return nil
    }

    private mutating func judge() -> Progress? {
        exchange.learnableAnswer?.judge(exchange.upstream)
        if isRelayed, mayReadAhead { upload = beginUpload() }
        if exchange.challenges == nil, exchange.way.relay == nil {
            return pass(note: nil)
        }
        guard let verdict = exchange.judgeAtOnce() else { return wait(for: .verdict) }
        self.verdict = verdict
        stage = .judged
        return nil
    }

    private mutating func carryOut(_ verdict: ResponseVerdict?) throws(ExchangeFailure) -> Progress? {
        switch verdict {
        case nil: return pass(note: nil)
        case .pass(let note): return pass(note: note)
        case .cancel(let refusal): throw .refused(refusal)
        case .again:
            guard exchange.body.canBeSent else {
                if isRelayed { return pass(note: Self.bodyTooLarge) }
                throw .refused(Refusal(.badGateway, .httpRequestError, Self.bodyTooLarge))
            }
            if let upload, !upload.endAtOnce() { return wait(for: .uploadEnd(nil)) }
            upload = nil
            disposeOfResponse()
        }
        return nil
    }

    private mutating func pass(note: String?) -> Progress? {
        guard isRelayed else {
            stage = .over
            return .ended(keeps: false)
        }
        upload = upload ?? beginUpload()
        upload?.settle()
        relay = ResponseRelay(
            requester: requester, exchange: exchange, destination: destination, note: note, upload: upload)
        stage = .relaying
        return nil
    }

    /// Connects by the first way that works. Nothing was sent yet, or may be sent again.
    private mutating func connect() async throws(ExchangeFailure) {
        var ways = destination.hopsWorthTrying[...]
        let isRelayed = path.mayBeRelayed
        while true {
            if let hop = ways.popFirst(), path.take(hop.way(isRelayed: isRelayed)),
                let parent = answers.answerableParent
            {
                await answers.begin(at: parent)
                sending.prepareForParent()
            }
            do throws(Refusal) { return try await path.connect() } catch {
                guard error.mayGoAnotherWay, !ways.isEmpty else { throw .refused(error) }
            }
        }
    }

    /// Frees the connection of the challenge's body, or gives the connection up.
    private mutating func disposeOfResponse() {
        let upstream = exchange.upstream
        guard !exchange.body.isOwed, upstream.head.keepAlive, !path.mayBeWedged else {
            upstream.reset()
            return beginAgain()
        }
        disposal = upstream.beginDisposal(
            upTo: Self.discardLimit, limits: policy.limits.response, within: Self.discardMilliseconds)
        stage = .disposing
    }

    private mutating func dispose() -> Progress? {
        let upstream = exchange.upstream
        switch disposal?.advance(on: upstream) ?? .ended {
        case .awaitsUpstream: return .awaitsEvent
        case .awaitsCopy: return wait(for: .disposal)
        case .ended:
            beginAgain()
            return nil
        }
    }

    private mutating func beginAgain() {
        disposal = nil
        verdict = nil
        mayReuse = true
        stage = .prepared
    }

    /// Gives away the connection on which another protocol is spoken now.
    private func upgraded() -> Progress {
        let inbound = exchange.upstream.inbound
        let early = ByteBuffer(capacity: max(1, inbound.count))
        early.append(inbound.readable)
        guard let connection = exchange.upstream.detach() else { return .ended(keeps: false) }
        return .upgraded(OpenedTunnel(stream: connection.stream, early: early))
    }

    private static let bodyTooLarge =
        "the challenge could be answered, but the request body is larger than this proxy keeps for sending it again "
        + "(limits replay-memory, replay-disk and replay-disk-total)"

    // MARK: - Upload beside the response

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
}
