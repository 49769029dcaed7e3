import Authentication
import Bytes
import HTTP
import IO
import Model
import Telemetry

/// Makes one request ready to go out with an answer: behind other requests that would answer with the same version of a
/// credential while that is not proven, and where the answer belongs to a session, with one.
struct AnswerPreparation {
    /// The outcome of a step.
    enum Readiness {
        /// The request can go out again.
        case ready
        /// The work is to be done first.
        case awaits(ChallengeWork)
        case unmade(AuthenticationError)
        case unanswerable(PassReason)
        /// Its credential is known to be refused.
        ///
        /// - Parameter pause: milliseconds until it is tried again; nil: not before its value is set anew.
        case parked(pause: Int?)
        /// The request can go out again, with a session that it has just begun for this answer.
        case loggedIn(Answer)
        /// The server took the login for a wrong one.
        case refused
        /// The sentence says why there is none.
        case noSession(String)
    }

    let performer: AnswerPerformer
    private let context: ChallengeContext
    var turn = ChallengeTurn()
    /// The request's place in the line of those that have no nonce, where each nonce serves one request; nil: it needs none.
    private var seeker: NonceCounts.Seeker?
    /// The nonces of which the request has one for itself, until the server's verdict.
    private var ownNonces: NonceCounts?
    /// How often the request went out without an answer, for a nonce of its own, and how often it waited for one.
    private var (fetches, waits) = (0, 0)
    /// The challenge that it went out from, if the server had accepted an answer to its nonce.
    private var acceptedChallenge: HeaderChallenge?
    /// The nonces of which the request uses one again.
    private var reused: NonceCounts?
    /// Whether an answer of this request came back with a challenge.
    var isDoubted = false
    /// The answer that is under way, or about to be, until the server's verdict.
    private(set) var attempt: Attempt?

    init(_ performer: AnswerPerformer, in context: ChallengeContext) {
        self.performer = performer
        self.context = context
    }

    /// The request sends the answer of that attempt.
    mutating func begin(_ attempt: Attempt?) { self.attempt = attempt }

    /// The server's verdict on the answer that was sent.
    mutating func settle(_ verdict: AnswerVerdict) {
        attempt?.settle(verdict, sample: sample(after: verdict), by: client, now: context.loop.epochMilliseconds)
        attempt = nil
        if verdict == .accepted { reused?.noteReuse(at: context.loop.epochMilliseconds) }
    }

    /// The server has refused the answer.
    ///
    /// - Parameter reason: for an operator.
    mutating func refuse(_ answer: Answer, because reason: String) {
        if attempt?.version != answer.credential.version {
            // It went out on a session or a connection that counted as logged in.
            let (evidence, target) = (context.evidence(of: answer.credential), context.request.target)
            attempt = Attempt(sentAt: evidence.send(), evidence, for: target.readable)
        }
        attempt?.settle(.refused, because: reason, by: client, now: context.loop.epochMilliseconds)
        attempt = nil
    }

    /// The request, if it was accepted and the proxy can repeat it. A `401` may be another's the next time.
    private func sample(after verdict: AnswerVerdict) -> Account.Sample? {
        let isSample = verdict == .accepted && !context.request.isOwn && context.response.status != .unauthorized
        return isSample ? context.request.sample() : nil
    }

    /// The client whose request it is; nil: the proxy's own.
    private var client: ClientIdentity? {
        context.request.isOwn || context.probe != nil ? nil : context.delegate.client
    }

    /// The answer is that from now on.
    func take(_ prepared: PreparedAnswer) {
        performer.take(prepared)
        context.request.record.note(prepared, to: context.challenger)
    }

    /// Makes ready to answer: with the authenticator that the space knows, else as the one request that is judged for all.
    ///
    /// - Parameter outcome: of the work that was awaited for this answer; nil at first.
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
                // The account is asked again: the request before may have been refused.
                if attempt?.leads == false { settle(.none) }
                // The nonce may have served another request meanwhile: the server gives this one its own.
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
        // A session that is open sends no password.
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

    /// The same answer goes out again, to a challenge that moved on.
    ///
    /// - Parameter outcome: as above.
    mutating func renew(_ answer: Answer, after outcome: ChallengeWork.Outcome?) -> Readiness {
        beginSession(for: answer, after: outcome)
    }

    /// The authenticator for the answer: the one that the space knows, else a new one.
    private func authenticator(for answer: Answer) throws(AuthenticationError) -> any Authenticator {
        let nonces = answer.space.authenticationMethod == .digest ? context.spaces.nonces(of: answer.space) : nil
        nonces?.noteTime(context.loop.epochMilliseconds)
        if let known = context.spaces.authenticator(for: answer) { return known }
        let target = context.request.target
        return try context.policy.order.authenticator(for: answer, at: target.readable, counting: nonces)
    }

    // MARK: - Nonces that serve one request

    /// The server would not take a nonce. If it had just named it for this request, its nonces serve one request each.
    mutating func noteUsedUp() {
        guard let answer = performer.answer, answer.challenge != nil, answer.space.authenticationMethod == .digest
        else { return }
        context.spaces.nonces(of: answer.space).noteUsedUp(at: context.loop.epochMilliseconds)
        // Those that wait for this request's verdict see to a nonce themselves.
        turn.passOn()
    }

    /// Whether the request goes out with that answer before it is asked.
    mutating func mayPreempt(_ prepared: PreparedAnswer) -> Bool {
        switch prepared.uses {
        case .many: return true
        case .none: return false
        case .one:
            ownNonces = context.spaces.nonces(of: prepared.answer.space)
            return true
        }
    }

    /// Sees to it that no other request uses the answer's nonce. One whose nonce is another's waits in line for the next,
    /// or goes out without an answer, so that the server names one.
    ///
    /// - Parameters:
    ///   - prepared: changed to one with another nonce, where that is there.
    ///   - hasWaited: whether the request waited for this answer.
    /// - Returns: nil where the answer can go out.
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
                (seeker, ownNonces) = (nil, nonces)
                return nil
            }
            let seeker = seeker ?? nonces.seek()
            self.seeker = seeker
            // The one that had the challenge's nonce is done with it, and brings no other.
            let mayGo = nonces.isFirst(seeker) && (hasWaited || nonces.hasAccepted(challenge))
            if mayGo || waits >= Self.waitLimit { break }
            if let wakeUp = seeker.wait() {
                waits += 1
                return .awaits(.nonce(wakeUp, within: Self.noncePatience))
            }
        }
        // A nonce that the server names again after it has accepted it serves more requests.
        if fetches >= Self.fetchLimit || acceptedChallenge?.text("nonce") == challenge.text("nonce") {
            nonces.allowReuse(challenge)
            (seeker, reused) = (nil, nonces)
            prepared = PreparedAnswer(authenticator: try authenticator(for: answer), answer: answer)
            return nil
        }
        fetches += 1
        acceptedChallenge = nonces.hasAccepted(challenge) ? challenge : nil
        return .ready
    }

    /// The request has its verdict, and needs no nonce.
    mutating func endNonce() {
        seeker = nil
        ownNonces?.noteDone()
        ownNonces = nil
    }

    /// Milliseconds that the first in line waits for a response that brings a nonce, before it goes out for one.
    private static let noncePatience = 100
    /// A request waits at most this often.
    private static let waitLimit = 100
    private static let fetchLimit = 8

    // MARK: - The account

    /// Whether the answer needs what another request learns: a nonce that several requests share, or a session.
    private func needsTurn(_ answer: Answer) -> Bool {
        if answer.space.authenticationMethod == .digest { return sharesNonces(answer) }
        return isDoubted
            || answer.space.authenticationMethod == .htmlForm && context.spaces.authenticator(for: answer) == nil
    }

    /// Whether the answer came back on a nonce that may have served another request: such requests go one at a time.
    private func sharesNonces(_ answer: Answer) -> Bool {
        isDoubted && answer.space.authenticationMethod == .digest && !servesOnce(answer)
    }

    /// Whether each nonce that the answer may be made with serves one request.
    private func servesOnce(_ answer: Answer) -> Bool {
        answer.space.authenticationMethod == .digest && context.spaces.nonces(of: answer.space).serveOnce
    }

    /// Asks the credential's account whether the answer may be sent.
    /// - Returns: nil where it may.
    private mutating func seekAdmission(of answer: Answer) -> Readiness? {
        if let attempt, attempt.version == answer.credential.version { return nil }
        // A ticket is no password: the account is asked before the KDC is.
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

    /// Whether the account admits the answer; where it does not, the request goes out without. May wait for a verdict on
    /// another answer.
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

    /// The account's decision is there. Nil: not in time.
    /// - Returns: as above.
    private mutating func take(_ admission: AnswerAdmission?, of answer: Answer) -> Readiness? {
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

    /// - Parameter nextTry: milliseconds since 1970; nil: not before the value is set again.
    private func held(until nextTry: Int?) -> Readiness {
        performer.drop()
        context.metrics.add(to: .credentialsParked)
        return .parked(pause: nextTry.map { max(0, $0 - context.loop.epochMilliseconds) })
    }

    private func unmade(_ error: AuthenticationError) -> Readiness {
        performer.drop()
        return .unmade(error)
    }

    /// Sees to it that there is a session to answer with, where the answer belongs to one.
    private mutating func beginSession(for answer: Answer, after outcome: ChallengeWork.Outcome?) -> Readiness {
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
        case .refused?:
            return .refused
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
