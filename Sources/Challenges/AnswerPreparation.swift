import Authentication
import Bytes
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
    /// Whether an answer of this request came back with a challenge.
    var isDoubted = false
    /// The parked version that this request tries again.
    private var trial: ParkedCredentials.Entry?

    init(_ performer: AnswerPerformer, in context: ChallengeContext) {
        self.performer = performer
        self.context = context
    }

    /// This request tries a parked version again.
    mutating func beginTrial(_ entry: ParkedCredentials.Entry) { trial = entry }

    /// The answer is that from now on.
    func take(_ prepared: PreparedAnswer) {
        performer.take(prepared)
        context.request.record.note(prepared, to: context.challenger)
    }

    /// Makes ready to answer: with the authenticator that the space knows, else as the one request that is judged for all.
    ///
    /// - Parameter outcome: of the work that was awaited for this answer; nil at first.
    mutating func begin(_ answer: Answer, after outcome: ChallengeWork.Outcome?) -> Readiness {
        switch outcome {
        case .login(nil)?: return beginSession(for: answer, after: nil)
        case .login(let error?)?: return unmade(error)
        case .sessionVerdict?, .session?: return beginSession(for: answer, after: outcome)
        case .trial?: break
        case .verdict(let outcome)?:
            guard turn.hearVerdict(outcome) else {
                return .unanswerable(.undecided(credential: answer.credential.version.name))
            }
        default:
            performer.drop()
            if turn.lease == nil, answer.credential.persistence != .none, !isProven(answer),
                let waiter = turn.seekVerdict(on: answer, in: context.spaces)
            {
                return .awaits(.verdict(waiter))
            }
        }
        if let held = hold(answer, outcome) { return held }
        let target = context.request.target
        do throws(AuthenticationError) {
            if let known = context.spaces.authenticator(for: answer) {
                take(PreparedAnswer(authenticator: known, answer: answer))
            } else {
                let new = try context.policy.order.authenticator(for: answer, at: target.readable)
                take(PreparedAnswer(authenticator: new, answer: answer))
            }
        } catch { return unmade(error) }
        if performer.loginVersion != nil { return .awaits(.login) }
        return beginSession(for: answer, after: nil)
    }

    /// The same answer goes out again, to a challenge that moved on.
    ///
    /// - Parameter outcome: as above.
    mutating func renew(_ answer: Answer, after outcome: ChallengeWork.Outcome?) -> Readiness {
        if let held = hold(answer, outcome) { return held }
        return beginSession(for: answer, after: outcome)
    }

    /// Keeps an answer back whose credential is parked, unless this request is the one that tries it again.
    /// - Returns: nil where it may go out.
    private mutating func hold(_ answer: Answer, _ outcome: ChallengeWork.Outcome?) -> Readiness? {
        let entry = ParkedCredentials.Entry(space: answer.space, version: answer.credential.version)
        if trial == entry { return nil }
        if case .trial(let isOurs)? = outcome {
            if isOurs { trial = entry }
            return isOurs ? nil : parked(until: nil)
        }
        switch context.standing(of: answer) {
        case .free: return nil
        case .parked(let nextTry): return parked(until: nextTry)
        case .due(let term): return .awaits(.trial(entry, term, retry: context.retry(answer)))
        }
    }

    private func parked(until nextTry: Int?) -> Readiness {
        context.metrics.add(to: .credentialsParked)
        return .parked(pause: nextTry.map { max(0, $0 - context.loop.epochMilliseconds) })
    }

    private func unmade(_ error: AuthenticationError) -> Readiness {
        performer.drop()
        return .unmade(error)
    }

    /// Whether no account is at stake: the version was accepted in the space, and this request has not seen it fail.
    private func isProven(_ answer: Answer) -> Bool {
        !isDoubted && context.spaces.hasAccepted(answer.credential.version, in: answer.space)
    }

    /// Sees to it that there is a session to answer with, where the answer belongs to one.
    private mutating func beginSession(for answer: Answer, after outcome: ChallengeWork.Outcome?) -> Readiness {
        guard let login = performer.session, login.pages != nil else { return .ready }
        performer.sawLoginPage = true
        switch outcome {
        case .session(let outcome)?: return conclude(outcome, for: answer)
        case .sessionVerdict(let outcome)?: _ = turn.hearVerdict(outcome)
        default:
            if !login.session.isOpen, turn.lease == nil,
                let waiter = turn.seekVerdict(on: answer, in: context.spaces)
            {
                return .awaits(.sessionVerdict(waiter))
            }
        }
        if login.session.isOpen { return .ready }
        if let held = hold(answer, outcome) { return held }
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
