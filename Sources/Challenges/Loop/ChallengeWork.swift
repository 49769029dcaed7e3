import Authentication
import Crypto
import IO

/// The work that a request's challenges wait for, where that is no event of the request's own connections: a task does it
/// and the request goes on from its outcome.
enum ChallengeWork {
    // Before the request is sent:

    /// The first request to the origin comes to an end.
    case news(Waiter)
    /// The credential is exchanged for a token, so that there is an answer to give unasked.
    case token(AnswerSource.WantedToken)

    // Behind its response:

    /// The page is told from a login page.
    case page(any LoginPages)
    /// The response's body is read, for the proof that covers it.
    case digest(DigestAlgorithm)
    /// The credentials of the rule file are read again, before the delegate is asked.
    case credentials
    /// The decision's credential is exchanged for a token.
    case exchange(Decision, AuthenticationChallenge)
    /// An operator answers the challenge.
    case question(OperatorQuestion.Subject)
    /// It is decided whether this request sends its answer: a verdict on another comes first.
    case admission(AdmissionWaiter)
    /// The parent is asked whether it takes its answer.
    case parentProbe(Promise<AnswerVerdict>)
    /// Another request answers to a new nonce first.
    case verdict(Waiter)
    /// A response to another request may bring a nonce for this one. For so many milliseconds at most.
    case nonce(Promise<Void>, within: Int)
    /// The login of a connection gets a ticket, or whatever else it needs.
    case login
    /// The same of the session that the answer belongs to: the verdict on the request that logs in.
    case sessionVerdict(Waiter)
    /// The request logs in for all who wait.
    case session(Answer)

    enum Outcome {
        case news(Waiter.Outcome)
        /// Nil: there is none.
        case token(Credential?)
        /// Nil: the response ended before that could be told.
        case page(isLogin: Bool?)
        case digest(BodyDigest)
        case credentials
        case exchange(Result<Decision, TokenSupply.Missing>, reason: String)
        case question(Result<OperatorAnswer, OperatorQuestion.Unanswered>)
        /// Nil: it was not decided in time.
        case admission(AnswerAdmission?)
        /// Nil: it was not told in time.
        case parentProbe(AnswerVerdict?)
        case verdict(Waiter.Outcome)
        case nonce
        case login(AuthenticationError?)
        case sessionVerdict(Waiter.Outcome)
        /// Nil: no rule has a form any more.
        case session(LoginOutcome?)

        /// A sentence for the trace; nil: it went well, or others know better.
        var failure: String? {
            switch self {
            case .exchange(.failure(let error), _): "\(error)"
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
        case .page: "page"
        case .digest: "body-digest"
        case .credentials: "credentials"
        case .question: "question"
        case .parentProbe: "probe"
        case .login: "ticket"
        case .session: "session"
        }
    }

    /// Does it.
    ///
    /// - Parameter failures: refused answers of this request so far.
    func perform(for performer: AnswerPerformer, failures: Int, in context: ChallengeContext) async -> Outcome {
        let patience = context.policy.timeouts.connect
        switch self {
        case .news(let waiter):
            let end = context.request.waiting.end(on: context.loop)
            return .news(await waiter.news(until: end, on: context.loop))
        case .token(let wanted):
            // Without one the request goes out, and is challenged.
            return .token(try? await context.tokens.token(for: wanted.credential, in: wanted.space, besides: nil))
        case .page(let pages): return .page(isLogin: await recognise(on: pages, performer))
        case .digest(let algorithm): return .digest(await context.response.digestBody(algorithm))
        case .credentials:
            await context.state.refresh(context.policy.credentials)
            return .credentials
        case .exchange(let decision, let challenge):
            do throws(TokenSupply.Missing) {
                let isOwn = context.request.isOwn
                let exchanged = try await context.tokens.exchange(decision, for: challenge, isOwn: isOwn)
                return .exchange(.success(exchanged), reason: decision.reason)
            } catch { return .exchange(.failure(error), reason: decision.reason) }
        case .question(var subject):
            if subject.response?.text == nil, await context.response.awaitText() {
                subject.response = performer.excerpt
            }
            let (delegate, now) = (context.delegate, context.loop.epochMilliseconds)
            do throws(OperatorQuestion.Unanswered) {
                return .question(.success(try await delegate.ask(subject, at: now)))
            } catch {
                return .question(.failure(error))
            }
        case .admission(let waiter):
            let loop = context.loop
            let hurry = Alarm(on: loop) { waiter.hurry(now: loop.epochMilliseconds) }
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

    /// Whether the page asks for a login. Where it does in spite of a session, it is found out whether that is no good.
    private func recognise(on pages: any LoginPages, _ performer: AnswerPerformer) async -> Bool? {
        guard let isLogin = await pages.recognise() else { return nil }
        performer.takeCookies(isGood: !isLogin)
        if isLogin { await performer.resolveDoubt() }
        return isLogin
    }
}

extension Promise {
    /// The value; nil when it was not there in time.
    ///
    /// - Parameter limit: milliseconds.
    @discardableResult
    func value(within limit: Int, on loop: EventLoop) async -> Value? {
        let end = Alarm(on: loop) { self.expire() }
        end.set(after: limit)
        defer { end.cancel() }
        return await value()
    }
}
