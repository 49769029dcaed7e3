import Authentication
import Bytes
import HTTP
import IO
import Model
import Telemetry

/// Prepares a request to be sent with an answer. While a credential version is unproven, it waits for other requests
/// with the same version. If the answer belongs to a session, it gets one.
struct AnswerSetup {
    /// The result of a step.
    enum Readiness {
        /// The request can be sent again.
        case ready
        /// The work must be done first.
        case awaits(ChallengeWork)
        case unmade(AuthenticationError)
        case unanswerable(ChallengeTask.PassReason)
        /// The credential is known to be refused.
        ///
        /// - Parameter pause: the time until it is tried again; nil if not before its value is set again.
        case parked(pause: Milliseconds?)
        /// The request can be sent again, with a session that was just begun for this answer.
        case loggedIn(Answer)
        /// The server refused the login.
        case refused
        /// No session could be begun; the sentence says why.
        case noSession(String)
    }

    let performer: AnswerSession
    private let context: ChallengeContext
    var turn = FlightTurn()
    /// The request's place in the queue of those that have no nonce, where each nonce serves one request; nil if it
    /// needs none.
    private var seeker: NonceCounts.Seeker?
    /// The use of a nonce that serves one request, until the server's verdict.
    private var nonceUse: NonceCounts.Use?
    /// The number of times that the request was sent without an answer to get its own nonce, and the number of waits
    /// since then.
    private var (fetches, waits) = (0, 0)
    /// The challenge that it started from, if the server had accepted an answer to its nonce.
    private var acceptedChallenge: HeaderChallenge?
    /// The nonces of which the request reuses one.
    private var reused: NonceCounts?
    /// Whether an answer of this request came back with a challenge.
    var isDoubted = false
    /// The answer that is in flight or about to be sent, until the server's verdict.
    var attempt: Evidence.Attempt?

    init(_ performer: AnswerSession, in context: ChallengeContext) {
        self.performer = performer
        self.context = context
    }

    /// Records the server's verdict on the answer that was sent.
    mutating func settle(_ verdict: Account.Verdict) {
        attempt?.settle(verdict, sample: sample(after: verdict), by: client, now: context.loop.wallTime)
        attempt = nil
        if verdict == .accepted { reused?.noteReuse(at: context.loop.wallTime) }
    }

    /// Records that the server refused the answer.
    ///
    /// - Parameter reason: the reason for an operator.
    mutating func refuse(_ answer: Answer, because reason: String) {
        if attempt?.version != answer.credential.version {
            // It was sent on a session or a connection that counted as logged in.
            let (evidence, target) = (context.source.evidence(of: answer.credential), context.request.target)
            attempt = Evidence.Attempt(sentAt: evidence.send(), evidence, for: target.readable)
        }
        attempt?.settle(.refused, because: reason, by: client, now: context.loop.wallTime)
        attempt = nil
    }

    /// The request, if it was accepted and the proxy can repeat it. Not after a `401`, which may come from another
    /// server the next time.
    private func sample(after verdict: Account.Verdict) -> Account.Sample? {
        let isSample = verdict == .accepted && !context.request.isOwn && context.response.status != .unauthorized
        return isSample ? context.request.sample() : nil
    }

    /// The client of the request; nil for the proxy's own.
    private var client: ClientIdentity? {
        context.request.isOwn || context.probe != nil ? nil : context.delegate.client
    }

    /// Sets the answer.
    func take(_ prepared: PreparedAnswer) {
        performer.take(prepared)
        context.request.record.note(prepared, to: context.challenger)
    }

    /// Prepares the answer: with the authenticator that the space knows, else as the leader of a single flight.
    ///
    /// - Parameter outcome: the result of the work that this answer waited for; nil at first.
    mutating func begin(_ answer: Answer, after outcome: ChallengeWork.Outcome?) -> Readiness {
        var hasWaited = false
        switch outcome {
        case .login(nil)?: return beginSession(for: answer, after: nil)
        case .login(.noTicket(_, _, .held(let nextTry))?)?: return held(until: nextTry)
        case .login(.noTicket(_, _, .undecided)?)?:
            performer.drop()
            return .unanswerable(.undecided(credential: answer.credential.version.name))
        case .login(let error?)?: return unmade(error)
        case .sessionVerdict?, .session?: return beginSession(for: answer, after: outcome)
        case .admission(let admission)?:
            if let held = take(admission, of: answer) { return held }
            if performer.session != nil { return beginSession(for: answer, after: nil) }
            if sharesNonces(answer), turn.lease == nil, !turn.hasWaitedInVain {
                performer.drop()
                if let waiter = turn.seekVerdict(on: answer, in: context.spaces) { return .awaits(.verdict(waiter)) }
                return .ready
            }
        case .nonce?:
            hasWaited = true
            // The account is asked again: an answer with this version may have been refused meanwhile.
            if attempt?.leads == false { settle(.none) }
        case .verdict(let outcome)?:
            guard turn.hearVerdict(outcome) else {
                return .unanswerable(.undecided(credential: answer.credential.version.name))
            }
            if sharesNonces(answer), !turn.hasWaitedInVain {
                if turn.lease == nil, let waiter = turn.seekVerdict(on: answer, in: context.spaces) {
                    return .awaits(.verdict(waiter))
                }
                // The account is asked again: the previous request may have been refused.
                if attempt?.leads == false { settle(.none) }
                // The nonce may have served another request meanwhile; the server then gives this request its own.
                return .ready
            }
            if servesOnce(answer) {
                // Each request gets its own nonce. The account is asked again: it may have refused an answer meanwhile.
                turn.passOn()
                if attempt?.leads == false { settle(.none) }
            }
        default:
            performer.drop()
            if turn.lease == nil, answer.credential.persistence != .none, needsTurn(answer),
                let waiter = turn.seekVerdict(on: answer, in: context.spaces)
            {
                return .awaits(.verdict(waiter))
            }
        }
        // A request in an open session sends no password.
        if answer.space.authenticationMethod != .htmlForm, let held = seekAdmission(of: answer) { return held }
        do throws(AuthenticationError) {
            var made = PreparedAnswer(authenticator: try authenticator(for: answer), answer: answer)
            if made.uses != .many || seeker != nil {
                if let held = try seekNonce(for: &made, after: hasWaited) { return held }
            }
            take(made)
        } catch { return unmade(error) }
        if performer.loginVersion != nil { return .awaits(.login) }
        return beginSession(for: answer, after: nil)
    }

    /// The authenticator for the answer: the one that the space knows, else a new one.
    private func authenticator(for answer: Answer) throws(AuthenticationError) -> any Authenticator {
        let nonces = answer.space.authenticationMethod == .digest ? context.spaces.nonces(of: answer.space) : nil
        nonces?.noteTime(context.loop.wallTime)
        if let known = context.spaces.authenticator(for: answer) { return known }
        let target = context.request.target
        return try context.policy.order.authenticator(for: answer, at: target.readable, counting: nonces)
    }

    // MARK: - Nonces that serve one request

    /// The server would not take a nonce. If it had just named it for this request, its nonces serve one request each.
    mutating func noteUsedUp() {
        guard let answer = performer.answer, answer.challenge != nil, answer.space.authenticationMethod == .digest
        else { return }
        context.spaces.nonces(of: answer.space).noteUsedUp(at: context.loop.wallTime)
        // The requests that wait for this one's verdict get their own nonces.
        turn.passOn()
    }

    /// Whether the request is sent preemptively with this answer.
    mutating func mayPreempt(_ prepared: PreparedAnswer) -> Bool {
        switch prepared.uses {
        case .many: return true
        case .none: return false
        case .one:
            nonceUse = context.spaces.nonces(of: prepared.answer.space).use()
            return true
        }
    }

    /// Makes sure that no other request uses the answer's nonce. If another request has the nonce, this one queues for
    /// the next, or is sent without an answer, so that the server names one.
    ///
    /// - Parameters:
    ///   - prepared: changed to an answer with another nonce, if there is one.
    ///   - hasWaited: whether the request waited for this answer.
    /// - Returns: nil if the answer can be sent.
    private mutating func seekNonce(
        for prepared: inout PreparedAnswer, after hasWaited: Bool
    ) throws(AuthenticationError) -> Readiness? {
        let answer = prepared.answer
        guard let challenge = answer.challenge else { return nil }
        let nonces = context.spaces.nonces(of: answer.space)
        while true {
            if let other = seeker?.take(for: challenge) {
                let substitute = Answer(space: answer.space, challenge: other, credential: answer.credential)
                prepared = PreparedAnswer(authenticator: try authenticator(for: substitute), answer: answer)
            }
            if prepared.uses != .none {
                (seeker, nonceUse) = (nil, nonces.use())
                return nil
            }
            let seeker = seeker ?? nonces.seek()
            self.seeker = seeker
            let isFirst = nonces.isFirst(seeker)
            // The request that had the challenge's nonce is finished, and brings no other.
            let mayGo = isFirst && (hasWaited || nonces.hasAccepted(challenge))
            if mayGo || waits >= Self.waitLimit { break }
            if let wakeUp = seeker.wait() {
                waits += 1
                // The server names the nonce of another request until it has judged that one, which may take long.
                let patience = Self.noncePatience * (isFirst ? 1 << min(fetches, 4) : 1)
                return .awaits(.nonce(wakeUp, within: patience))
            }
        }
        // A nonce that the server names again after accepting it serves more requests.
        if fetches >= Self.fetchLimit || acceptedChallenge?.text("nonce") == challenge.text("nonce") {
            nonces.allowReuse(challenge)
            // The request keeps its place: the nonce may be used up meanwhile.
            (nonceUse, reused, fetches) = (nonces.use(), nonces, 0)
            prepared = PreparedAnswer(authenticator: try authenticator(for: answer), answer: answer)
            return nil
        }
        (fetches, waits) = (fetches + 1, 0)
        acceptedChallenge = nonces.hasAccepted(challenge) ? challenge : nil
        return .ready
    }

    /// Ends the use of nonces: the request has its verdict.
    mutating func endNonce() {
        seeker = nil
        nonceUse = nil
    }

    /// The time that the first in the queue waits for a response with a nonce, before it is sent to get one. Twice as long
    /// after each time that it got none.
    private static let noncePatience: Milliseconds = 100
    /// The limit of waits of one request, before it is sent though it is not the first in the queue.
    private static let waitLimit = 100
    private static let fetchLimit = 8

    // MARK: - The account

    /// Whether the answer needs what another request learns: a nonce that several requests share, or a session.
    private func needsTurn(_ answer: Answer) -> Bool {
        if answer.space.authenticationMethod == .digest { return sharesNonces(answer) }
        return isDoubted
            || answer.space.authenticationMethod == .htmlForm && context.spaces.authenticator(for: answer) == nil
    }

    /// Whether the answer came back for a nonce that may have served another request: such requests are sent one at a
    /// time.
    private func sharesNonces(_ answer: Answer) -> Bool {
        isDoubted && answer.space.authenticationMethod == .digest && !servesOnce(answer)
    }

    /// Whether each nonce for the answer serves one request.
    private func servesOnce(_ answer: Answer) -> Bool {
        answer.space.authenticationMethod == .digest && context.spaces.nonces(of: answer.space).serveOnce
    }

    /// Asks the credential's account whether the answer may be sent.
    /// - Returns: nil if it may.
    private mutating func seekAdmission(of answer: Answer) -> Readiness? {
        if let attempt, attempt.version == answer.credential.version { return nil }
        // A ticket is not a password: the account is asked before the KDC is.
        if answer.space.authenticationMethod == .negotiate { return nil }
        switch context.admit(answer) {
        case .wait(let waiter):
            // The account's leader may wait for this turn.
            if sharesNonces(answer) { turn.passOn() }
            seeker = nil
            return .awaits(.admission(waiter))
        case let admission: return take(admission, of: answer)
        }
    }

    /// Whether the account admits the answer; if not, the request is sent without it. May wait for a verdict on another
    /// answer.
    mutating func admits(_ answer: Answer) async -> Bool {
        switch seekAdmission(of: answer) {
        case nil: return true
        case .awaits(let work)?:
            guard case .admission(let admission) = await work.perform(for: performer, failures: 0, in: context) else {
                return false
            }
            return take(admission, of: answer) == nil
        default: return false
        }
    }

    /// Handles the account's decision; nil if it did not come in time.
    /// - Returns: nil if the answer may be sent.
    private mutating func take(_ admission: Evidence.Admission?, of answer: Answer) -> Readiness? {
        switch admission {
        case .send(let attempt)?:
            self.attempt = attempt
            return nil
        case .refused(_, let nextTry)?: return held(until: nextTry)
        case .wait?, nil:
            performer.drop()
            return .unanswerable(.undecided(credential: answer.credential.version.name))
        }
    }

    /// - Parameter nextTry: the time of the next try; nil if not before the value is set again.
    private func held(until nextTry: WallTime?) -> Readiness {
        performer.drop()
        context.metrics.add(to: .credentialsParked)
        return .parked(pause: nextTry.map { max(0, $0 - context.loop.wallTime) })
    }

    private func unmade(_ error: AuthenticationError) -> Readiness {
        performer.drop()
        return .unmade(error)
    }

    /// Makes sure that there is a session to answer with, if the answer belongs to one.
    ///
    /// - Parameter outcome: the result of the work that this answer waited for; nil at first.
    mutating func beginSession(for answer: Answer, after outcome: ChallengeWork.Outcome?) -> Readiness {
        guard let session = performer.session, context.pages != nil else { return .ready }
        performer.sawLoginPage = true
        switch outcome {
        case .session(let outcome)?: return conclude(outcome, for: answer)
        case .sessionVerdict(let outcome)?: _ = turn.hearVerdict(outcome)
        default:
            if !session.isOpen, turn.lease == nil,
                let waiter = turn.seekVerdict(on: answer, in: context.spaces)
            {
                return .awaits(.sessionVerdict(waiter))
            }
        }
        if session.isOpen { return .ready }
        if let held = seekAdmission(of: answer) { return held }
        guard !turn.hasWaitedInVain else { return noSession(for: answer, "another request has just tried") }
        if let lease = turn.lease { context.request.presence.beginLogin(lease) }
        return .awaits(.session(answer))
    }

    private func conclude(_ outcome: LoginOutcome?, for answer: Answer) -> Readiness {
        switch outcome {
        case .loggedIn?: return .loggedIn(answer)
        case .refused?: return .refused
        case .failed(let error)?:
            let origin = context.challenger.origin
            context.state.report(
                "credential \(answer.credential.version.name) is not logged in at \(origin.host):\(origin.port): \(error)"
            )
            return noSession(for: answer, "\(error)")
        case nil: return .ready
        }
    }

    private func noSession(for answer: Answer, _ why: String) -> Readiness {
        .noSession("credential \(answer.credential.version.name) is not logged in: \(why)")
    }
}
