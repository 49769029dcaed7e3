import Authentication
import Bytes
import Credentials
import Crypto
import HTTP
import IO
import Rules
import Telemetry

/// Takes one request through its challenges: finds what answers it before it is sent, and decides about each response.
///
/// What is to be done is `ChallengeTask`'s to say; here it is carried out: the rules and the storage are asked, the
/// refusal is made known, other requests to the same space are waited for.
struct ChallengeLoop: ~Copyable {
    /// What becomes of a response.
    enum Verdict {
        /// The client gets it; with a word in `Proxy-Status` where the challenge was ours to answer and was not, or where
        /// the origin's proof could not be checked.
        case pass(note: String?)
        /// The request goes out again, with the answer that `authorize` appends.
        case again
        case cancel(Refusal)
    }

    let upstreams: Upstreams
    let presence: ClientPresence
    private unowned let exchange: Exchange
    let shared: SharedState
    let policy: Policy
    let loop: EventLoop
    let delegate: RuleDelegate
    /// Who challenges: the origin, or a parent proxy on the way there.
    let origin: Origin
    let fields: ChallengeFields
    /// The connections that this client is logged in on.
    let logins: HeldConnections
    /// Where the responses are read.
    let upstream: UpstreamConnection
    /// The request target as whoever challenges sees it.
    let target: ByteBuffer
    let hasBody: Bool
    /// Whether no client asks. What clients' requests wait for may be this one, so it waits for none of them.
    let isOwn: Bool
    let record: ExchangeRecord
    private let metrics: Metrics
    let urlCredential: Credential?
    /// The request as one that may teach what the client itself answers; nil where no rule wants to learn.
    let sighting: AnswerSightings<SessionClient>.Request?
    /// What tells a page that asks for a login; nil where no rule does.
    let forms: LoginForms?
    var task: ChallengeTask
    /// What answers, and for what; nil while the request goes out without an answer.
    private(set) var authenticator: (any Authenticator)?
    var answered: Authentication.Answer?
    private(set) var ticket: AuthorizationTicket?
    /// Whether the request goes out without its body, since its answer can only bring the next challenge.
    var omitsBody = false
    /// Why the login of a connection could not go on.
    var trouble: AuthenticationError?
    /// Why there was no ticket to answer with.
    var setback: AuthenticationError?
    /// Why there is no token to answer with, for the client.
    var explanation: String?
    /// Dropping a lease unsettled lets the next request that waits go ahead.
    private var originLease: Lease?
    private(set) var spaceLease: Lease?
    /// Whether nobody knew, when the request went out, if its target asks for a credential.
    private var isFirst = false
    /// Whether an answer of this request came back with a challenge.
    private var isDoubted = false
    /// Whether a login was asked for on the way of this request.
    var wasAsked = false
    /// Whether the one that was to be judged for all came to no good end.
    private(set) var hasWaitedInVain = false

    /// - Parameters:
    ///   - exchange: what the request is sent for.
    ///   - upstream: where it goes.
    ///   - urlCredential: what came with the request's URL, which is for its origin.
    ///   - forms: the origin's, if a rule has one.
    init(
        requester: Requester, exchange: Exchange, origin: Origin, over upstream: UpstreamConnection,
        target: ByteBuffer, hasBody: Bool, urlCredential: Credential? = nil, forms: LoginForms? = nil
    ) {
        upstreams = requester.upstreams
        presence = requester.presence
        self.exchange = exchange
        shared = requester.shared
        policy = exchange.policy
        loop = requester.loop
        record = exchange.record
        logins = requester.logins
        metrics = requester.metrics
        delegate = RuleDelegate(
            policy: policy, shared: shared,
            client: requester.identity(in: exchange))
        self.origin = origin
        fields = origin.challengeFields
        self.upstream = upstream
        self.target = target
        self.hasBody = hasBody
        isOwn = exchange.own != nil
        self.urlCredential = urlCredential
        sighting = origin.mayLearn(by: policy.rules) ? Lesson.request(exchange, to: origin) : nil
        self.forms = forms
        task = ChallengeTask(urlCredential: urlCredential)
    }

    // MARK: - Before the request is sent

    /// Finds the answer to give unasked, or waits for the request that is being challenged for all.
    mutating func prepare() async {
        if await preempt(target) || isOwn { return }
        switch shared.spaces.admit(to: origin.authority, target: target.readable, version: nil) {
        case .proceed: return
        case .overtake: isFirst = true
        case .lead(let lease): lead(with: lease)
        case .wait(let waiter):
            switch await waiter.news(until: exchange.endOfWaiting(on: loop), on: loop) {
            case .settled(.accepted): _ = await preempt(target)
            case .lead(let lease): lead(with: lease)
            case .settled: return
            case .expired: isFirst = true
            }
        }
    }

    private mutating func lead(with lease: Lease) {
        originLease = lease
        isFirst = true
    }

    // MARK: - The answer

    /// The digest of the whole body that the answer needs, if it needs one.
    var bodyDigest: DigestAlgorithm? {
        if case .request(let requests)? = authenticator?.binding { requests.bodyDigest } else { nil }
    }

    /// Whether the request goes out with an answer that was accepted before.
    var isPreempted: Bool { answered != nil && answered?.challenge == nil }

    /// Appends the value of `Authorization`; false when there is no answer to give.
    mutating func authorize(
        method: Span<UInt8>, target: Span<UInt8>, bodyDigest: [UInt8]?, into value: ByteBuffer
    ) -> Bool {
        do throws(AuthenticationError) {
            switch authenticator?.binding {
            case .request(let requests)?:
                ticket = try requests.authorize(
                    method: method, target: target, bodyDigest: bodyDigest, into: value)
            case .connection?:
                guard try authorizeLogin(into: value) else { return false }
            case .session(let session)?:
                ticket = appendCookies(of: session, into: value)
                guard ticket != nil else {
                    drop()
                    return !value.isEmpty
                }
            case nil: return false
            }
            countAnswer()
            if let spaceLease { presence.beginTrial(spaceLease) }
            return true
        } catch {
            // Without an answer the server says what it wants, and the task goes on from there.
            value.clear()
            drop()
            return false
        }
    }

    mutating func take(_ authenticator: any Authenticator, for answer: Authentication.Answer) {
        self.authenticator = authenticator
        answered = answer
        note(answer)
    }

    mutating func drop() {
        omitsBody = false
        authenticator = nil
        answered = nil
        ticket = nil
    }

    // MARK: - The response

    /// Judges a response's head; nil when it is a challenge, or its body has to be looked at: that takes its time.
    mutating func judgeAtOnce() -> Verdict? {
        if upstream.head.status == fields.status || mayLackScope || forms?.mayBeLogin ?? false { return nil }
        takeCookies(isGood: true)
        let proof = proof(bodyDigest: nil)
        if case .needsBody = proof { return nil }
        return accept(proof)
    }

    /// Judges a response's head.
    mutating func judge() async -> Verdict {
        let isLoginPage: Bool
        do throws(ExchangeFailure) { isLoginPage = try await self.isLoginPage() } catch {
            settle(.unanswered)
            return .cancel(.incompletePage)
        }
        takeCookies(isGood: !isLoginPage)
        guard isLoginPage || upstream.head.status == fields.status else { return await judgeWithBody() }
        var challenges = upstream.head.status == fields.status ? upstream.challenges(in: fields.challenge) : []
        if isLoginPage {
            challenges.append(.loginPage)
            await resolveDoubt()
        }
        let offers = offers(in: challenges)
        let refusal = takeSetback() ?? refusal(by: challenges)
        let response = AuthenticationChallenge.FailureResponse(
            status: Int(upstream.head.status.rawValue), challenges: challenges)
        shared.spaces.markProtected(origin.authority, target: target.readable)
        if answered != nil { isDoubted = true }
        if !isLoginPage { noteChallenges(challenges) }
        var action = task.challenged(response, offers: offers, refusal: refusal)
        if let trouble { action = task.unanswerable(.unanswerable(trouble)) }
        while true {
            switch action {
            case .lookUpDefault(let space):
                action = task.foundDefault(kept(for: space))
            case .ask(let challenge):
                action = await ask(challenge)
            case .park(let answer):
                shared.refuse(
                    answer.credential, for: answer.space, of: delegate.client, countedBy: metrics,
                    because: whoRefused(answer))
                action = task.parked()
            case .answer(let answer):
                let reason = await begin(answer, at: target)
                guard let next = await goOn(with: answer, unless: reason, response, offers) else { return .again }
                action = next
            case .resend(let answer):
                let reason = parked(answer)
                guard let next = await goOn(with: answer, unless: reason, response, offers) else { return .again }
                action = next
            case .sendUnanswered:
                drop()
                return .again
            case .pass(let reason):
                settle(.unanswered)
                if let refusal = lackOfTicket(after: reason) { return .cancel(refusal) }
                let note = note(on: reason)
                if isLoginPage, let note { record.details = note }
                return .pass(note: note)
            case .cancel(let reason):
                settle(.unanswered)
                let sentence = explanation ?? "\(origin.title) wants a credential, and \(reason)"
                return .cancel(Refusal(.badGateway, .httpRequestDenied, sentence))
            }
        }
    }

    private mutating func refusal(by challenges: [HeaderChallenge]) -> Authentication.Refusal? {
        switch authenticator?.binding {
        case .request(let requests)?: ticket.map { requests.refused(by: challenges, ticket: $0) }
        case .connection?: loginRefusal(by: challenges)
        case .session(let session)?:
            ticket.flatMap { session.refused(by: challenges, ticket: $0, wasAsked: wasAsked) }
        case nil: nil
        }
    }

    /// Nobody sends a version that was refused, whoever found that out.
    func parked(_ answer: Authentication.Answer) -> PassReason? {
        let version = answer.credential.version
        let known = shared.spaces.parked
        guard known.contains(version, for: answer.space) || known.contains(version, at: origin.kin) else { return nil }
        metrics.add(to: .credentialsParked)
        return .parked(credential: version.name)
    }

    private func offers(in challenges: [HeaderChallenge]) -> [Offer] {
        policy.rules.offers(
            in: challenges, from: origin.authority, client: delegate.client, failures: task.failureCount,
            order: policy.order
        ).offers
    }

    private mutating func ask(_ challenge: AuthenticationChallenge) async -> ChallengeTask.Action {
        let answer = await delegate.decide(challenge)
        note(answer.rule)
        if let trouble = answer.trouble {
            record.details = "\(trouble)"
            shared.report("\(trouble)")
        }
        return task.decided(await exchanged(answer.decision, for: challenge))
    }

    /// Makes ready to answer: with what the space knows, else as the one request that is judged for all.
    /// - Returns: why it cannot, or nil.
    private mutating func begin(_ answer: Authentication.Answer, at target: ByteBuffer) async -> PassReason? {
        drop()
        if spaceLease == nil, answer.credential.persistence != .none, !isProven(answer),
            await !awaitTurn(for: answer)
        {
            return .undecided(credential: answer.credential.version.name)
        }
        if let reason = parked(answer) { return reason }
        do throws(AuthenticationError) {
            if let known = shared.spaces.authenticator(for: answer) {
                take(known, for: answer)
            } else {
                take(try policy.order.authenticator(for: answer, at: target.readable), for: answer)
            }
            try await prepareConnections(for: answer.space)
            return nil
        } catch {
            trouble = error
            drop()
            return .unanswerable(error)
        }
    }

    /// Whether no account is at stake: the version was accepted in the space, and this request has not seen it fail.
    private func isProven(_ answer: Authentication.Answer) -> Bool {
        !isDoubted && shared.spaces.hasAccepted(answer.credential.version, in: answer.space)
    }

    /// Becomes the one request that is judged for all, or waits for it.
    /// - Returns: false when there was no verdict in time.
    mutating func awaitTurn(for answer: Authentication.Answer) async -> Bool {
        switch shared.spaces.admit(to: answer.space, version: answer.credential.version) {
        case .proceed, .overtake: break
        case .lead(let lease): spaceLease = lease
        case .wait(let waiter):
            switch await waiter.verdict(within: policy.timeouts.connect, on: loop) {
            case .lead(let lease): spaceLease = lease
            case .settled(let verdict): hasWaitedInVain = verdict == .unanswered
            case .expired:
                hasWaitedInVain = true
                return false
            }
        }
        return true
    }

    mutating func accept(_ proof: Acceptance?) -> Verdict {
        if proof == .ignored {
            shared.spaces.markOpen(origin.authority, target: target.readable)
            if omitsBody, case .sendUnanswered = task.ignored() {
                drop()
                return .again
            }
        }
        let accepted = task.accepted()
        if upstream.head.status.rawValue >= 500 {
            // A server in trouble asks for nothing, and has judged nothing: the next request that waits finds out.
            spaceLease = nil
            settle(.open)
            return .pass(note: nil)
        }
        guard let answer = accepted, let authenticator, let proof, proof != .ignored else {
            if isFirst { shared.spaces.markOpen(origin.authority, target: target.readable) }
            settle(.open)
            return .pass(note: nil)
        }
        if proof == .mismatch {
            settle(.unanswered)
            return .cancel(
                Refusal(
                    .badGateway, .httpProtocolError,
                    "\(origin.title) could not prove \(missingProof): it is not the one that was asked"))
        }
        if answer.challenge != nil {
            let isLasting = isLasting(answer)
            shared.spaces.remember(authenticator, for: answer, isLasting: isLasting)
            if authenticator.extent.coverage(of: target.readable) == nil {
                shared.spaces.extend(answer.space, to: target.readable, isLasting: isLasting)
            }
            keep(answer)
        }
        settle(.accepted)
        return .pass(note: missingScope)
    }

    /// A request whose client has left is broken off, which is no verdict: the next that waits leads.
    mutating func settle(_ verdict: Authentication.Verdict) {
        if !presence.isOver {
            originLease?.settle(verdict)
            spaceLease?.settle(verdict)
            if originLease == nil, isFirst, verdict != .unanswered { shared.spaces.settle(origin.authority, verdict) }
        }
        isFirst = false
        originLease = nil
        spaceLease = nil
    }
}
