import Authentication
import Bytes
import Credentials
import Crypto
import IO
import Rules

/// The work that a request's challenges wait for, other than events of its connections. A task does it, and the request
/// continues with the result.
enum ChallengeWork {
    // Before the request is sent:

    /// The first request to the origin comes to an end.
    case news(FlightWaiter)
    /// Runs the program that gives a credential, before the request is sent or behind its response.
    case helper(HelperQuestion)
    /// Exchanges the credential for a token, for a preemptive answer.
    case token(AnswerSource.WantedToken)

    // Behind its response:

    /// Decides whether the page is a login page.
    case page(any LoginPages)
    /// Reads the response's body, for the proof that covers it.
    case digest(DigestAlgorithm)
    /// Reads the rule file's credentials again, before the delegate is asked.
    case credentials
    /// Exchanges the decision's credential for a token.
    ///
    /// - Parameter stale: a registry's token that was sent before, and that the registry may have ignored.
    case exchange(Decision, AuthenticationChallenge, besides: Credential? = nil)
    /// Waits for an operator to answer the challenge.
    case question(OperatorQuestion.Subject)
    /// Waits for the decision whether this request may send its answer: a verdict on another comes first.
    case admission(Evidence.Waiter)
    /// Asks the parent whether it accepts its answer.
    case parentProbe(Promise<Account.Verdict>)
    /// Waits for another request that answers to a new nonce first.
    case verdict(FlightWaiter)
    /// Waits for a response to another request that may bring a nonce, for at most `within`.
    case nonce(Promise<Void>, within: Milliseconds)
    /// Fetches a ticket or other data for the login of a connection.
    case login
    /// Waits for the verdict on the request that logs in to the answer's session.
    case sessionVerdict(FlightWaiter)
    /// Logs in to a session for all waiting requests.
    case session(Answer)

    enum Outcome {
        case news(FlightWaiter.Outcome)
        case helper(Result<Credential, CredentialError>)
        /// The token; nil if none.
        case token(Credential?)
        /// Whether the page is a login page; nil if the response ended before that was known.
        case page(isLogin: Bool?)
        case digest(BodyDigest)
        case credentials
        case exchange(Result<Decision, TokenSupply.Missing>, reason: String)
        case question(Result<OperatorAnswer, OperatorQuestion.Unanswered>)
        /// The decision; nil if it did not come in time.
        case admission(Evidence.Admission?)
        /// The verdict; nil if it did not come in time.
        case parentProbe(Account.Verdict?)
        case verdict(FlightWaiter.Outcome)
        case nonce
        case login(AuthenticationError?)
        case sessionVerdict(FlightWaiter.Outcome)
        /// The login's result; nil if no rule has a form now.
        case session(LoginOutcome?)

        /// Whether the source of a credential was read.
        var isReading: Bool {
            switch self {
            case .credentials, .helper: true
            default: false
            }
        }

        /// A sentence for the trace; nil if it succeeded, or the failure is recorded elsewhere.
        var failure: String? {
            switch self {
            case .exchange(.failure(let error), _): "\(error)"
            case .helper(.failure(let error)): "\(error)"
            case .question(.failure(let unanswered)): unanswered.reason
            case .login(let error?): "\(error)"
            case .session(.failed(let error)?): "\(error)"
            case .session(.refused?): "the server refused the login"
            default: nil
            }
        }
    }

    /// The name of its span in a trace.
    var span: String {
        switch self {
        case .news, .admission, .verdict, .nonce, .sessionVerdict: "wait"
        case .token, .exchange: "token"
        case .helper: "helper"
        case .page: "page"
        case .digest: "body-digest"
        case .credentials: "credentials"
        case .question: "question"
        case .parentProbe: "probe"
        case .login: "ticket"
        case .session: "session"
        }
    }

    /// Does the work.
    ///
    /// - Parameter failures: the number of refused answers of this request so far.
    func perform(for performer: AnswerSession, failures: Int, in context: ChallengeContext) async -> Outcome {
        let patience = context.policy.timeouts.connect
        switch self {
        case .news(let waiter):
            let end = context.request.waiting.end(on: context.loop)
            return .news(await waiter.news(until: end, on: context.loop))
        case .helper(let question):
            return .helper(await context.state.ask(question, of: context.policy.credentials))
        case .token(let wanted):
            // Without a token the request is sent, and is challenged.
            return .token(try? await context.tokens.token(wanted, besides: nil))
        case .page(let pages): return .page(isLogin: await recognise(on: pages, performer))
        case .digest(let algorithm): return .digest(await context.response.digestBody(algorithm))
        case .credentials:
            await context.state.refresh(context.policy.credentials)
            return .credentials
        case .exchange(let decision, let challenge, let stale):
            do throws(TokenSupply.Missing) {
                let (isOwn, buffer) = (context.request.isOwn, context.request.target)
                let target = buffer.readable.array
                let exchanged = try await context.tokens.exchange(
                    decision, for: challenge, at: target, by: context.source.terms.method,
                    after: performer.answer?.credential ?? stale, isOwn: isOwn)
                return .exchange(.success(exchanged), reason: decision.reason)
            } catch { return .exchange(.failure(error), reason: decision.reason) }
        case .question(let subject): return .question(await ask(subject, for: performer, in: context))
        case .admission(let waiter):
            let loop = context.loop
            let hurry = Alarm(on: loop) { waiter.hurry(now: loop.wallTime) }
            let end = Alarm(on: loop) { waiter.expire() }
            hurry.set(after: patience / 2)
            end.set(after: patience)
            defer {
                hurry.cancel()
                end.cancel()
            }
            return .admission(await waiter.admission())
        case .parentProbe(let verdict):
            return .parentProbe(await verdict.value(within: patience, on: context.loop))
        case .verdict(let waiter): return .verdict(await waiter.verdict(within: patience, on: context.loop))
        case .nonce(let wakeUp, let limit):
            await wakeUp.value(within: limit, on: context.loop)
            return .nonce
        case .login:
            do throws(AuthenticationError) {
                try await performer.prepareConnections(failures: failures)
                return .login(nil)
            } catch { return .login(error) }
        case .sessionVerdict(let waiter):
            return .sessionVerdict(await waiter.verdict(within: patience, on: context.loop))
        case .session(let answer): return .session(await performer.logIn(with: answer.credential))
        }
    }

    private func ask(
        _ subject: OperatorQuestion.Subject, for performer: AnswerSession, in context: ChallengeContext
    ) async -> Result<OperatorAnswer, OperatorQuestion.Unanswered> {
        var subject = subject
        if subject.response?.text == nil, await context.response.awaitText() {
            subject.response = performer.excerpt
        }
        let (delegate, now) = (context.delegate, context.loop.wallTime)
        do throws(OperatorQuestion.Unanswered) { return .success(try await delegate.ask(subject, at: now)) } catch {
            return .failure(error)
        }
    }

    /// Whether the page asks for a login. If it does in spite of a session, also checks whether the session has ended.
    private func recognise(on pages: any LoginPages, _ performer: AnswerSession) async -> Bool? {
        guard let isLogin = await pages.recognise() else { return nil }
        performer.takeCookies(isGood: !isLogin)
        if isLogin { await performer.resolveDoubt() }
        return isLogin
    }
}

extension Promise {
    /// The value; nil if it did not come in time.
    @discardableResult
    func value(within limit: Milliseconds, on loop: EventLoop) async -> Value? {
        let end = Alarm(on: loop) { self.expire() }
        end.set(after: limit)
        defer { end.cancel() }
        return await value()
    }
}
