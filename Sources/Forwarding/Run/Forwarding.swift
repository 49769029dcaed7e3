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

/// Forwards one request to its server and the response back, through all challenges. It is a state machine, advanced at
/// each event of the exchange's two channels. Tasks wait only for other things: a name, a ticket, a token, a file,
/// another request.
///
///                  ┌─ connecting ┐                                ┌────────────────────────────────────┐ as the known answers led to expect
///                  │           ▼                                  │                                    ▼
///     planned ─▶ prepared ─▶ connected ─▶ sending ─▶ arrived ─▶ looked ─▶ met ─▶ passed ─▶ judged ─▶ relaying ─▶ over
///                  ▲                        │          │                                     │ another answer is due
///                  ├────────────────────────┘          │                                     ▼
///                  ├───────────────────────────────────┘                                   disposing
///                  └─────────────────────────────────────────────────────────────────────────┘
///
/// A loop keeps a few of them, each with its exchange, so that the next request allocates nothing.
public final class Forwarding {
    /// The result of one step.
    public enum Progress {
        /// The next event of either channel, or one of their deadlines, continues the work.
        case awaitsEvent
        /// A task must first do `work`.
        case awaitsWork
        /// The client has the response that switches to another protocol, with this server.
        case upgraded(OpenedTunnel)
        /// - Parameter keeps: whether the client's connection can carry another request.
        case ended(keeps: Bool)
    }

    /// The party that gets the response.
    public enum Purpose: Sendable {
        /// A client's request; the client gets the response.
        case client
        /// The proxy's own request; the caller gets the response, and the origin's challenges unanswered.
        case own
        /// The proxy's own request, but the origin's challenges are answered as for a client.
        case trial
        /// The CONNECT by which a parent opens a tunnel, always on a new connection.
        /// - Parameter resuming: whether TLS with the parent may resume a session.
        case tunnel(resuming: Bool)
    }

    private enum Stage {
        /// The destination is known. Becomes `.prepared`.
        case planned
        /// The answer is known. Becomes `.connected`, or `.connecting` if that needs no task.
        case prepared
        /// A connection is being made. Becomes `.connected`.
        case connecting
        /// The connection is ready. Becomes `.sending`.
        case connected
        /// The request is being sent. Becomes `.arrived`, or `.prepared` if the connection turns out to be dead.
        case sending
        /// The response's head is there. Becomes `.looked`, or `.prepared` if the origin refuses a certificate.
        case arrived
        /// The response was checked for a refused certificate. Becomes `.met`, or `.relaying`.
        case looked
        /// The loops have seen the response. Becomes `.passed`, or `.judged` by the parent that makes the request.
        case met
        /// The parent that makes the request, if any, let the response pass. Becomes `.judged`.
        case passed
        /// The verdict is known. Becomes `.relaying`, `.disposing` or `.over`.
        case judged
        /// The rest of a challenge is read, so that its connection can be used again. Becomes `.prepared`.
        case disposing
        /// The response is relayed. Becomes `.over`.
        case relaying
        case over
    }

    /// The work of a task.
    private enum Work {
        case ways
        case signingKey(HelperQuestion)
        case preparation(origin: Bool, parent: Bool)
        case connection
        case identity
        case identityPage
        case answers
        case copy
        case verdict
        case storage
        case uploadEnd(ExchangeFailure?)
        case disposal
        case relayCopy
    }

    /// The request and its response.
    public let exchange: Exchange
    private var sending = RequestSending()
    private var relay = ResponseRelay()
    /// Whether the request names its origin as clients of an upgrade route do, if it is one.
    private var isUpgraded = true
    private var purpose = Purpose.client
    /// Whether the response is relayed to the client.
    private var isRelayed: Bool { if case .client = purpose { true } else { false } }
    private var opensTunnel: Bool { if case .tunnel = purpose { true } else { false } }
    private var stage = Stage.over
    private var verdict: ForwardingContext.Verdict?
    private var disposal: UpstreamConnection.Disposal?
    private var work: Work?
    private var upload: ConcurrentUpload?
    /// Whether an idle connection may be used.
    private var mayReuse = true
    /// How many more connections may replace one that a parent closed between two requests for a tunnel, or on which a server
    /// has not processed the request.
    private var redials = 0

    /// The limits, of bytes and time, of reading a challenge's body to keep its connection.
    public static let discardLimit = 256 * 1024
    static let discardTime: Milliseconds = 5000
    /// The limit for a stream, whose connection can be used again in any case.
    static let streamDiscardLimit = 64 * 1024

    init(policy: Policy, on loop: EventLoop, answering requests: any AnswerRequests.Type) {
        exchange = Exchange(policy: policy, on: loop, answering: requests)
    }

    /// Gets a tunnel for another exchange.
    init(openingTunnelFor other: Exchange, by parent: Parent, on loop: EventLoop) {
        exchange = Exchange(openingTunnelFor: other, by: parent, on: loop)
    }

    /// Starts with the request whose head was read.
    /// - Parameter isUpgraded: false if the request names its origin as the origin itself does, also on an upgrade
    ///   route.
    public func begin(isUpgraded: Bool = true, for purpose: Purpose = .client) {
        sending.begin(isUpgraded: isUpgraded)
        self.isUpgraded = isUpgraded
        self.purpose = purpose
        mayReuse = !opensTunnel
        redials = 3
        stage = .planned
    }

    /// Clears the request; bytes of the client's next one stay.
    public func reset() {
        forget()
        exchange.reset()
    }

    /// Returns the buffers to the loop. The run is not used again; the exchange's record stays as it is.
    public func dissolve(into pool: BufferPool) {
        forget()
        exchange.dissolve(into: pool)
    }

    private func forget() {
        stage = .over
        verdict.forget()
        disposal.forget()
        work.forget()
        upload?.abandon()
        upload.forget()
        sending.reset()
        relay.reset()
    }

    /// Sends the proxy's own request, and reads up to the response's head. Only the caller judges the response.
    /// - Parameters:
    ///   - isUpgraded: see `begin`.
    ///   - purpose: any purpose but a client's.
    public func ask(
        _ destination: Destination, isUpgraded: Bool = true, for downstream: Downstream, purpose: Purpose = .own
    ) async throws(ExchangeFailure) {
        exchange.destination = destination
        begin(isUpgraded: isUpgraded, for: purpose)
        while true {
            switch try advance(for: downstream) {
            case .awaitsEvent: await downstream.wakeup.wait()
            case .awaitsWork: try await performWork(for: downstream)
            case .upgraded, .ended: return
            }
        }
    }

    // MARK: - The machine

    /// Advances the exchange until it must wait for an event, or is over.
    public func advance(for downstream: Downstream) throws(ExchangeFailure) -> Progress {
        let exchange = exchange
        guard let destination = exchange.destination else { throw .clientLost }
        return try advance(exchange, for: downstream, to: destination)
    }

    /// Advances with a known destination. It is a function of its own so that no part of the context is reference-counted.
    @inline(never)
    private func advance(
        _ exchange: Exchange, for downstream: Downstream, to destination: Destination
    ) throws(ExchangeFailure) -> Progress {
        try advance(ForwardingContext(downstream: downstream, exchange: exchange, destination: destination))
    }

    @inline(__always)
    private func advance(_ context: ForwardingContext) throws(ExchangeFailure) -> Progress {
        do throws(ExchangeFailure) {
            guard context.downstream.presence.isWanted else { throw .clientLost }
            if work != nil { return .awaitsWork }
            while true {
                if let progress = try go(context) { return progress }
            }
        } catch {
            guard let upload, !upload.endAtOnce() else { throw error }
            return wait(for: .uploadEnd(error))
        }
    }

    private func wait(for work: Work) -> Progress {
        self.work = work
        return .awaitsWork
    }

    /// - Returns: nil if another stage follows at once.
    private func go(_ context: ForwardingContext) throws(ExchangeFailure) -> Progress? {
        switch stage {
        case .planned:
            if let progress = try prepare(context) { return progress }
            fallthrough
        case .prepared:
            guard context.takeKept(mayReuse) else {
                guard try context.beginConnection() else { return wait(for: .connection) }
                stage = .connecting
                return .awaitsEvent
            }
            stage = .connected
            fallthrough
        case .connected:
            if let progress = try beginLeg(context) { return progress }
            fallthrough
        case .sending: return try send(context)
        case .connecting:
            guard try context.hasConnected() else { return .awaitsEvent }
            stage = .connected
            return nil
        case .arrived:
            if context.mayRefuseIdentity { return wait(for: .identityPage) }
            fallthrough
        case .looked: return judge(context)
        case .met: return judgeByParent(context)
        case .passed: return judgeByOrigin(context)
        case .judged: return try carryOut(context, verdict)
        case .disposing: return dispose(context)
        case .relaying:
            switch try relay.advance(context) {
            case .awaitsEvent: return .awaitsEvent
            case .awaitsCopy: return wait(for: .relayCopy)
            case .awaitsUpload: return wait(for: .uploadEnd(nil))
            case .upgraded:
                stage = .over
                return OpenedTunnel(from: context.exchange.upstream).map { .upgraded($0) } ?? .ended(keeps: false)
            case .ended(let keeps):
                stage = .over
                return .ended(keeps: keeps)
            }
        case .over: return .ended(keeps: false)
        }
    }

    /// Does the work that the machine waits for.
    public func performWork(for downstream: Downstream) async throws(ExchangeFailure) {
        guard let destination = exchange.destination else { throw .clientLost }
        let context = ForwardingContext(downstream: downstream, exchange: exchange, destination: destination)
        guard let work else { return }
        self.work = nil
        do throws(ExchangeFailure) {
            try await perform(work, context)
            guard context.downstream.presence.isWanted else { throw .clientLost }
        } catch {
            await upload?.end()
            throw error
        }
    }

    private func perform(_ work: Work, _ context: ForwardingContext) async throws(ExchangeFailure) {
        switch work {
        case .ways:
            try await context.downstream.upstreams.renewWays(
                to: context.destination, by: context.policy, for: context.downstream.waiting(on: context.exchange))
        case .signingKey(let question):
            context.exchange.credentials.hasSoughtKey = true
            _ = await context.downstream.shared.challenges.ask(question, of: context.policy.credentials)
        case .preparation(let origin, let parent):
            // The token or login for the origin's answer may itself go through the parent. A request that leads a
            // single flight must not wait for another request.
            if origin { await context.exchange.credentials.challenges?.origin.loop?.prepared() }
            if parent { await context.exchange.credentials.challenges?.parent.loop?.prepared() }
        case .connection: try await connect(context)
        case .identity:
            try await context.followIdentity()
            (mayReuse, stage) = (false, .prepared)
        case .identityPage:
            (mayReuse, stage) = try await context.followIdentityPage() ? (false, .prepared) : (mayReuse, .looked)
        case .answers:
            context.meetChallenges()
            try await sending.prepareAndBegin(context)
            stage = .sending
        case .copy: try await context.workOnCopy()
        case .verdict:
            await context.exchange.credentials.challenges?.performWork()
        case .storage: await context.exchange.storage.wait(on: context.downstream.loop)
        case .uploadEnd(let failure):
            await upload?.end()
            if let failure { throw failure }
        case .disposal:
            await context.exchange.upstream.readBack(within: Self.discardTime)
        case .relayCopy: try await relay.readBack(context)
        }
    }

    /// Finds the path, and the answer for it if that needs no waiting.
    private func prepare(_ context: ForwardingContext) throws(ExchangeFailure) -> Progress? {
        if opensTunnel { return prepareForParent(context, behindOrigin: false) }
        guard context.destination.knowsWays(at: context.downstream.loop.now) else { return wait(for: .ways) }
        try context.downstream.confirm(context.destination, for: context.exchange, isUpgraded: isUpgraded)
        if !context.destination.hops.isEmpty { context.take(context.destination.way(isRelayed: context.mayBeRelayed)) }
        var waitsForOrigin = false
        // Most requests have no credential, their client's or one of a rule.
        if answersOrigin, context.isConcerned || context.exchange.request.fields.present.contains(.authorization) {
            if let question = context.signingQuestion { return wait(for: .signingKey(question)) }
            do throws(Refusal) { waitsForOrigin = try !prepareForOrigin(context) } catch { throw .refused(error) }
            if context.exchange.request.fields.present.contains(.authorization), let answer = context.learnableAnswer {
                context.exchange.credentials.learnableAnswer = answer
            }
        }
        return prepareForParent(context, behindOrigin: waitsForOrigin)
    }

    private var answersOrigin: Bool { if case .own = purpose { false } else { true } }

    private func prepareForParent(_ context: ForwardingContext, behindOrigin waitsForOrigin: Bool) -> Progress? {
        var waitsForParent = false
        if context.exchange.way.relay != nil, let parent = context.answerableParent {
            waitsForParent = !context.beginAnswering(at: parent, behindOrigin: waitsForOrigin)
            sending.prepareForParent(context)
        }
        stage = .prepared
        guard waitsForOrigin || waitsForParent else { return nil }
        return wait(for: .preparation(origin: waitsForOrigin, parent: waitsForParent))
    }

    /// - Returns: whether the origin's answer is known.
    private func prepareForOrigin(_ context: ForwardingContext) throws(Refusal) -> Bool {
        if context.mayAnswer {
            if context.policy.rules.speaks(of: .signatures), let signing = try context.signing() {
                context.exchange.credentials.signing = signing
                if signing.usesAuthorization {
                    sending.prepareForSignature()
                    return true
                }
            }
            defer { sending.prepareForChallenge(context) }
            return try context.beginAnswering()
        }
        guard context.exchange.request.fields.present.contains(.authorization) else { return true }
        if context.policy.rules.speaks(of: .signatures), let signing = try context.signing(keepsAuthorization: true) {
            context.exchange.credentials.signing = signing
            sending.prepareForParent(context)
        }
        guard context.mayPlace else { return true }
        defer { sending.prepareForParent(context) }
        return try context.beginAnswering(keepsAuthorization: true)
    }

    private func beginLeg(_ context: ForwardingContext) throws(ExchangeFailure) -> Progress? {
        try context.downstream.confirm(
            connectionOf: context.exchange, to: context.exchange.way.peer(of: context.destination.origin))
        try context.claimOwnLogin()
        if context.destination.origin.maySeeIdentity(by: context.policy.rules) { sending.prepareForIdentity(context) }
        if context.exchange.upstream.isReused, mayReuse { context.keepSmallBody() }
        if context.exchange.upstream.isStream { context.keepBodyForStream() }
        if sending.wantsPreparation(context) { return wait(for: .answers) }
        sending.begin(context)
        stage = .sending
        return nil
    }

    /// Sends the request and reads the response's head. Uses a new connection if the kept one turns out to be dead.
    private func send(_ context: ForwardingContext) throws(ExchangeFailure) -> Progress? {
        do throws(ExchangeFailure) {
            switch try sending.advance(context) {
            case .awaitsEvent: return .awaitsEvent
            case .awaitsCopy: return wait(for: .copy)
            case .answered:
                if sending.dropsRefusedExpectation(context) {
                    context.exchange.upstream.reset()
                    stage = .prepared
                } else {
                    stage = .arrived
                }
            }
        } catch {
            if try context.hasRefusedIdentity(by: error) { return wait(for: .identity) }
            guard case .upstreamFailed(let failure) = error, let reason = reasonToRepeat(context, after: failure) else {
                throw error
            }
            repeatRequest(context, because: reason)
        }
        return nil
    }

    /// Sends the request again, on another connection or stream.
    private func repeatRequest(_ context: ForwardingContext, status: Int? = nil, because reason: String) {
        context.exchange.record.facts.trace?.endLeg(status: status, error: reason)
        context.exchange.upstream.reset()
        stage = .prepared
    }

    /// The reason to send a request again that got no response; nil if it may not be sent again.
    private func reasonToRepeat(_ context: ForwardingContext, after failure: UpstreamConnection.Failure) -> String? {
        switch failure {
        case .died:
            guard context.exchange.upstream.isReused, maySendAgain else { return nil }
            mayReuse = false
            return "the kept connection had ended"
        case .unprocessed, .needsHTTP11, .unspeakable:
            // The server has done nothing, so the method does not matter.
            guard redials > 0, exchange.body.canBeSent else { return nil }
            redials -= 1
            // The last time it is the first request of a connection. A server may end each connection after few requests.
            if redials == 0 { mayReuse = false }
            switch failure {
            case .needsHTTP11:
                context.exchange.way.peer(of: context.origin).streams
                    .noteNeedOfHTTP11(at: context.downstream.loop.now)
            case .unspeakable: exchange.needsHTTP11 = true
            default: return "the server had not processed the request"
            }
            return "the request needs HTTP/1.1"
        case .timedOut, .invalid, .insecure, .reset: return nil
        }
    }

    /// Whether the request goes out on another connection where a kept one was dead.
    private var maySendAgain: Bool {
        if opensTunnel {
            redials -= 1
            return redials >= 0
        }
        return mayReuse && exchange.request.method.isIdempotent && exchange.body.canBeSent
    }

    private func judge(_ context: ForwardingContext) -> Progress? {
        if context.exchange.upstream.head.status == .misdirectedRequest, context.exchange.upstream.isStream,
            context.exchange.upstream.isReused, mayReuse, exchange.body.canBeSent
        {
            // RFC 9110 section 15.5.20: any method may be tried on another connection.
            mayReuse = false
            repeatRequest(context, status: 421, because: "the connection is for other requests")
            return nil
        }
        context.exchange.credentials.learnableAnswer?.judge(context.exchange.upstream)
        if isRelayed, context.exchange.body.mayGoOn, context.exchange.mayReadAhead { beginRest(context) }
        if let signing = context.exchange.credentials.signing, answersOrigin,
            signing.isRequested(by: context.exchange)
        {
            (verdict, stage) = (.again, .judged)
            return nil
        }
        if context.passesAsKnown() { return pass(context, note: nil) }
        context.meetChallenges()
        stage = .met
        return nil
    }

    /// The parent judges first: its refusal of the request says nothing about the origin's.
    private func judgeByParent(_ context: ForwardingContext) -> Progress? {
        guard let verdict = context.judgeByParent() else { return wait(for: .verdict) }
        self.verdict = verdict
        if case .pass = verdict { stage = .passed } else { stage = .judged }
        return nil
    }

    private func judgeByOrigin(_ context: ForwardingContext) -> Progress? {
        guard let verdict = context.judgeByOrigin() else { return wait(for: .verdict) }
        if case .pass(note: nil) = verdict {} else { self.verdict = verdict }
        stage = .judged
        return nil
    }

    private func carryOut(_ context: ForwardingContext, _ verdict: ForwardingContext.Verdict?) throws(ExchangeFailure)
        -> Progress?
    {
        switch verdict {
        case nil, .pass(note: nil): return pass(context, note: nil)
        // With the verdict, a client that left may now count as gone.
        case _ where !context.downstream.presence.isWanted: throw .clientLost
        case .pass(let note): return pass(context, note: note)
        case .cancel(let refusal): throw .refused(context.noted(refusal))
        case .again:
            guard context.exchange.body.canBeSent else {
                if isRelayed { return pass(context, note: Self.bodyTooLarge) }
                throw .refused(Refusal(.badGateway, .httpRequestError, Self.bodyTooLarge))
            }
            if let upload, !upload.endAtOnce() { return wait(for: .uploadEnd(nil)) }
            upload = nil
            context.noteChallenge()
            context.takeCookiesOfChallenge()
            disposeOfResponse(context)
        }
        return nil
    }

    private func pass(_ context: ForwardingContext, note: String?) -> Progress? {
        guard isRelayed else {
            stage = .over
            return .ended(keeps: false)
        }
        if context.exchange.storage.isPending {
            verdict = note.map { .pass(note: $0) }
            stage = .judged
            return wait(for: .storage)
        }
        if upload == nil { beginRest(context) }
        upload?.settle()
        context.notePassage()
        relay.begin(note: context.noted(note), upload: upload)
        stage = .relaying
        return nil
    }

    /// Starts to send the rest of the body beside the response, if there is a rest.
    @inline(__always)
    private func beginRest(_ context: ForwardingContext) {
        if context.exchange.body.mayGoOn { upload = ConcurrentUpload(of: context) }
    }

    /// Connects by the first path that works. Nothing was sent yet, or it may be sent again.
    private func connect(_ context: ForwardingContext) async throws(ExchangeFailure) {
        if case .tunnel(let resuming) = purpose {
            do throws(Refusal) { return try await context.connectForTunnel(resuming: resuming) } catch {
                throw .refused(error)
            }
        }
        var ways = context.destination.hopsWorthTrying[...]
        let isRelayed = context.mayBeRelayed
        while true {
            if let hop = ways.popFirst(), context.take(hop.way(isRelayed: isRelayed)),
                let parent = context.answerableParent
            {
                let isReady = context.beginAnswering(at: parent, behindOrigin: false)
                if !isReady { await context.exchange.credentials.challenges?.parent.loop?.prepared() }
                sending.prepareForParent(context)
            }
            do throws(Refusal) { return try await context.connect(isNew: !mayReuse) } catch {
                guard error.mayGoAnotherWay, !ways.isEmpty else { throw .refused(error) }
            }
        }
    }

    /// Frees the connection of the challenge's body, or closes it.
    private func disposeOfResponse(_ context: ForwardingContext) {
        let upstream = context.exchange.upstream
        guard !context.exchange.body.isOwed, upstream.head.keepAlive, !context.mayBeWedged else {
            upstream.reset()
            return beginAgain()
        }
        disposal = upstream.beginDisposal(
            upTo: upstream.isStream ? Self.streamDiscardLimit : Self.discardLimit,
            limits: context.policy.limits.response, within: Self.discardTime)
        stage = .disposing
    }

    private func dispose(_ context: ForwardingContext) -> Progress? {
        let upstream = context.exchange.upstream
        switch disposal?.advance(on: upstream) ?? .ended {
        case .awaitsUpstream: return .awaitsEvent
        case .awaitsCopy: return wait(for: .disposal)
        case .ended:
            beginAgain()
            return nil
        }
    }

    private func beginAgain() {
        // A stream serves one request.
        if exchange.upstream.isStream { exchange.upstream.reset() }
        (disposal, verdict) = (nil, nil)
        (mayReuse, stage) = (!opensTunnel, .prepared)
    }

    private static let bodyTooLarge =
        "the challenge could be answered, but the request body is larger than this proxy keeps for sending it again "
        + "(limits replay-memory, replay-disk and replay-disk-total)"
}
