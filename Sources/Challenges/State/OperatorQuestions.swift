import Authentication
import Bytes
import IO
import Model
import Rules
import Synchronization
import Telemetry

/// The challenges whose rule says `ask`, and the requests that are held until an operator answers. All loops share
/// them.
///
/// Both are bounded. If there are too many questions, one of the server or client with the most questions is cancelled.
/// If too many requests wait for one question, further ones are not held. Questions are announced to operators at a
/// bounded rate.
public final class OperatorQuestions: Sendable {
    /// The end of a request's wait for an operator.
    enum Outcome: Sendable {
        case answered(OperatorAnswer)
        /// There was no answer in time.
        case unanswered
        /// Later questions have replaced it.
        case displaced
        /// The limit of requests that wait for the same answer is reached.
        case crowded
    }

    private struct State {
        var lastQuestion = 0
        var lastRequest = 0
        var open: [Int: Held] = [:]
        var ids: [OperatorQuestion.Key: Int] = [:]
        var standing = LRUMap<OperatorQuestion.Key, OperatorAnswer.Standing>()
        var figures = MetricsPage.Questions()
        /// The time up to which the announcement rate is used up.
        var announced = WallTime.distantPast

        /// The oldest question of the server and the client that have the most questions, including the new one.
        func mostCrowded(by key: OperatorQuestion.Key, of client: ClientIdentity) -> Int? {
            var (servers, clients) = ([key.space.origin: 1], [client: 1])
            for held in open.values {
                servers[held.question.space.origin, default: 0] += 1
                clients[held.client, default: 0] += 1
            }
            let crowd = { (held: Held) in
                servers[held.question.space.origin, default: 0] + clients[held.client, default: 0]
            }
            return open.max { (crowd($0.value), -$0.key) < (crowd($1.value), -$1.key) }?.key
        }

        /// - Returns: the time that the next announcement must wait; nil if it is due.
        mutating func takeAnnouncement(at now: WallTime) -> Milliseconds? {
            let (usual, burst) = (max(announced, now), OperatorQuestions.pace * OperatorQuestions.burst)
            guard usual - now < burst else { return usual - now - burst + 1 }
            announced = usual + OperatorQuestions.pace
            return nil
        }

        /// - Returns: the requests that it held, the one held longest first.
        mutating func close(_ id: Int) -> [Expectation<OperatorQuestions.Outcome>] {
            guard let held = open.removeValue(forKey: id) else { return [] }
            ids[held.question.key] = nil
            return held.requests.sorted { $0.key < $1.key }.map(\.value)
        }
    }

    /// A question with the requests that it holds.
    private struct Held {
        var question: OperatorQuestion
        /// The delegate of the first request.
        let client: ClientIdentity
        /// The space of the request held longest: its credentials may be named.
        let policy: ChallengePolicy
        var requests: [Int: Expectation<OperatorQuestions.Outcome>] = [:]
        var isAnnounced = false
    }

    private let state = Mutex(State())
    private let changes = Atomic(0)

    /// The largest number of an operator's answers that are kept for later requests.
    private static let standingLimit = 1000
    /// The time between two announcements in the long run, and the limit of a burst.
    private static let (pace, burst) = (Milliseconds.seconds(2), 30)

    private let observers = Mutex<[@Sendable (OperatorQuestion) -> Void]>([])

    /// Adds an observer that gets each new question.
    public func onQuestion(_ observer: @escaping @Sendable (OperatorQuestion) -> Void) {
        observers.withLock { $0.append(observer) }
    }

    /// The open questions, the oldest first.
    public var open: [OperatorQuestion] {
        state.withLock { $0.open.values.map(\.question) }.sorted { $0.id < $1.id }
    }

    /// The counts for the metrics.
    public var figures: MetricsPage.Questions {
        state.withLock { state in
            var figures = state.figures
            figures.open = state.open.count
            return figures
        }
    }

    // MARK: - Requests

    /// Holds the request until an operator answers, as long as the policy says, or until its task is cancelled.
    ///
    /// - Parameter credentials: the names of those that could answer in a space.
    func hold(
        _ subject: OperatorQuestion.Subject, of client: ClientIdentity, under policy: ChallengePolicy, at now: WallTime,
        naming credentials: (ProtectionSpace) -> [String]
    ) async -> OperatorQuestions.Outcome {
        let request = Expectation<OperatorQuestions.Outcome>()
        guard let entry = enter(request, subject, of: client, under: policy, at: now, credentials) else {
            return .crowded
        }
        let later = Announcement(of: entry.question, to: self)
        later.attempt(at: now)
        defer { later.cancel() }
        let outcome = await request.value(within: policy.timeouts.ask)
        leave(entry, because: Task.isCancelled ? .abandoned : .timeout)
        return outcome ?? .unanswered
    }

    private struct Entry {
        let question: Int
        let request: Int
    }

    /// - Returns: nil if the limit of requests waiting for the same answer is reached.
    private func enter(
        _ request: Expectation<OperatorQuestions.Outcome>, _ subject: OperatorQuestion.Subject,
        of client: ClientIdentity,
        under policy: ChallengePolicy, at now: WallTime, _ credentials: (ProtectionSpace) -> [String]
    ) -> Entry? {
        let capacity = policy.rules.configuration.limits.questions
        var displaced: [Expectation<OperatorQuestions.Outcome>] = []
        var news: OperatorQuestion?
        let entry = state.withLock { state -> Entry? in
            state.lastRequest += 1
            let number = state.lastRequest
            if let id = state.ids[subject.key], var held = state.open[id] {
                guard held.requests.count < capacity else {
                    state.figures.requestsRefused += 1
                    return nil
                }
                held.requests[number] = request
                held.question.join(subject, of: client)
                state.open[id] = held
                return Entry(question: id, request: number)
            }
            while state.open.count >= max(1, capacity),
                let crowded = state.mostCrowded(by: subject.key, of: client)
            {
                displaced += state.close(crowded)
                state.figures.unanswered[.displaced, default: 0] += 1
            }
            state.lastQuestion += 1
            state.figures.asked += 1
            let question = OperatorQuestion(state.lastQuestion, subject, of: client, at: now)
            state.open[question.id] = Held(
                question: question, client: client, policy: policy, requests: [number: request])
            state.ids[subject.key] = question.id
            news = question
            return Entry(question: question.id, request: number)
        }
        for request in displaced { request.fulfil(.displaced) }
        if let news {
            let names = credentials(news.space)
            state.withLock { $0.open[news.id]?.question.credentials = names }
        }
        return entry
    }

    /// Announces a question that is still open to the observers, once, when it is due.
    private final class Announcement {
        private let question: Int
        private let questions: OperatorQuestions
        private var alarm: Alarm?

        init(of question: Int, to questions: OperatorQuestions) {
            (self.question, self.questions) = (question, questions)
        }

        func attempt(at now: WallTime) {
            let (news, wait) = questions.state.withLock { state -> (OperatorQuestion?, Milliseconds?) in
                guard let held = state.open[question], !held.isAnnounced else { return (nil, nil) }
                if let wait = state.takeAnnouncement(at: now) { return (nil, wait) }
                state.open[question]?.isAnnounced = true
                return (held.question, nil)
            }
            if let news { for observer in questions.observers.withLock({ $0 }) { observer(news) } }
            guard let wait, let loop = EventLoop.current else { return }
            let alarm = self.alarm ?? Alarm(on: loop) { [unowned self] in attempt(at: loop.wallTime) }
            self.alarm = alarm
            alarm.set(after: wait)
        }

        func cancel() { alarm?.cancel() }
    }

    /// - Parameter silence: the reason why there is no answer, if this is the last request of an open question.
    private func leave(_ entry: Entry, because silence: MetricsPage.Questions.Silence) {
        state.withLock { state in
            guard var held = state.open[entry.question] else { return }
            held.requests[entry.request] = nil
            held.question.waiting = held.requests.count
            state.open[entry.question] = held
            guard held.requests.isEmpty else { return }
            _ = state.close(entry.question)
            state.figures.unanswered[silence, default: 0] += 1
        }
    }

    // MARK: - Answers

    func find(_ id: Int) -> (question: OperatorQuestion, policy: ChallengePolicy)? {
        state.withLock { $0.open[id].map { ($0.question, $0.policy) } }
    }

    /// Answers a question, for all requests that it holds.
    ///
    /// - Parameter until: the last day of an exception.
    /// - Returns: the question; nil if none with this number is open.
    func answer(_ id: Int, with answer: OperatorAnswer, until: Day? = nil) -> OperatorQuestion? {
        let (question, requests) = state.withLock {
            state -> (OperatorQuestion?, [Expectation<OperatorQuestions.Outcome>]) in
            guard let question = state.open[id]?.question else { return (nil, []) }
            let now = SystemClock.wallTime
            if let standing = OperatorAnswer.Standing(answer, to: question, until: until, at: now) {
                state.standing.makeRoom(below: Self.standingLimit)
                state.standing.put(standing, for: question.key)
                changes.add(1, ordering: .releasing)
            }
            state.figures.answered[answer.act.disposition, default: 0] += 1
            return (question, state.close(id))
        }
        for request in requests { request.fulfil(.answered(answer)) }
        return question
    }

    /// Forgets the answers given under the former rules: those challenges are questions again.
    public func forgetStanding() {
        state.withLock { state in
            // An exception does not depend on the rule that asked.
            for standing in state.standing.values where standing.act != nil { state.standing.remove(standing.key) }
        }
        changes.add(1, ordering: .releasing)
    }

    /// Forgets an answer: its challenge is a question again.
    func forget(_ standing: OperatorAnswer.Standing) {
        state.withLock { state in
            guard state.standing.use(standing.key)?.id == standing.id else { return }
            state.standing.remove(standing.key)
        }
        changes.add(1, ordering: .releasing)
    }

    /// The saved answer of an operator.
    func standing(for key: OperatorQuestion.Key) -> OperatorAnswer.Act? { state.withLock { $0.standing.use(key) }?.act }

    /// All saved answers, the oldest first.
    var standing: [OperatorAnswer.Standing] { state.withLock { $0.standing.values }.sorted { $0.id < $1.id } }

    /// A number that changes when the saved answers may have changed.
    var generation: Int { changes.load(ordering: .acquiring) }
}

/// A question that waits for an operator. Every text in it is printable and of limited length.
public struct OperatorQuestion: Sendable {
    /// The key of a question. Requests with equal keys wait for the same answer.
    struct Key: Hashable {
        let space: ProtectionSpace
        let rule: RuleReference?
    }

    /// A challenge in the form of a question to an operator.
    public struct Subject: Sendable {
        let key: OperatorQuestion.Key
        /// The user of the proposed credential, which may be refused by now.
        var user: String?
        var failures = 0
        /// Details of the challenge, for people.
        public var details: [String] = []
        /// The status and text of the response that challenged, or that refused a certificate; nil for a TLS challenge.
        public var response: ResponseExcerpt?
        /// The key of a server whose certificate is in question.
        public var pin: KeyPin?

        public init(_ challenge: AuthenticationChallenge, by rule: RuleReference?) {
            let space = challenge.protectionSpace
            key = OperatorQuestion.Key(
                space: ProtectionSpace(
                    origin: space.origin, realm: space.realm.map { JournalText.printable($0) },
                    authenticationMethod: space.authenticationMethod), rule: rule)
            user = challenge.proposedCredential?.user.map { JournalText.printable($0, longest: 64) }
            failures = challenge.previousFailureCount
        }

        public var space: ProtectionSpace { key.space }
        /// The path of the request that is held, without its query; nil if unknown.
        var path: String?
        /// The client's application, as named in `User-Agent`; nil if absent.
        var application: String?

        /// Records the request that is held.
        ///
        /// - Parameter target: the request target, whose query is left out: it may hold secrets.
        public mutating func note(_ target: Span<UInt8>, by application: String?) {
            let end = target.firstIndex(of: UInt8(ascii: "?"), from: 0) ?? target.count
            path = JournalText.printable(target.extracting(first: end).text)
            self.application = application.map { JournalText.printable($0, longest: 80) }
        }
    }

    /// No operator has answered in time.
    public struct Unanswered: Error {
        public let reason: String
    }

    public let id: Int
    let key: OperatorQuestion.Key
    /// The user of the proposed credential; nil if none.
    public private(set) var user: String?
    /// The number of refused answers of the request held longest.
    public let failures: Int
    public let details: [String]
    /// The response that challenged the request held longest, or refused its certificate; nil for a TLS challenge.
    public let response: ResponseExcerpt?
    public let pin: KeyPin?
    /// The path of the request held longest, without its query; nil if unknown.
    public let path: String?
    /// The client's application, as named in `User-Agent`; nil if absent.
    public let application: String?
    /// The time of the answer.
    public let since: WallTime
    /// The clients that wait, at most eight.
    public private(set) var clients: [String]
    /// The number of requests held.
    public internal(set) var waiting = 1
    /// The names of credentials that could answer, from the rule file and the store.
    public internal(set) var credentials: [String] = []

    private static let clientLimit = 8

    init(_ id: Int, _ subject: OperatorQuestion.Subject, of client: ClientIdentity, at now: WallTime) {
        self.id = id
        key = subject.key
        user = subject.user
        failures = subject.failures
        details = subject.details.prefix(JournalText.lines).map { JournalText.printable($0) }
        response = subject.response
        pin = subject.pin
        path = subject.path
        application = subject.application
        since = now
        clients = [Self.name(client)]
    }

    public var space: ProtectionSpace { key.space }
    /// The rule that asks.
    public var rule: RuleReference? { key.rule }

    mutating func join(_ subject: OperatorQuestion.Subject, of client: ClientIdentity) {
        waiting += 1
        user = user ?? subject.user
        let name = Self.name(client)
        if clients.count < Self.clientLimit, !clients.contains(name) { clients.append(name) }
    }

    private static func name(_ client: ClientIdentity) -> String {
        let address = client.place
        return client.user.map { "\(JournalText.printable($0, longest: 64)) at \(address)" } ?? address
    }

    /// The line for an operator.
    var report: String {
        let details = details.isEmpty ? "" : " (\(details.joined(separator: "; ")))"
        let asked = rule.map { "rule \($0)" } ?? "an operator"
        return "question \(id): \(words)\(details), and \(asked) asks: '\(command)'"
    }

    /// The command that most likely answers it.
    var command: String { "attache ask answer \(id) \(hint)" }

    private var hint: String {
        switch space.authenticationMethod.traits.credential {
        case .exception: "trust"
        case .certificate, .ticket, .token: "use NAME"
        case .password: "user \(user ?? "NAME")"
        case nil: "cancel"
        }
    }

    /// The result of an operator's answer, in words.
    ///
    /// - Parameter until: the last day of an exception.
    public func words(after answer: OperatorAnswer, until: Day) -> String {
        if case .trust = answer.act {
            return "answered: the key of \(space.origin.authority) is trusted until \(until)"
        }
        return "answered with '\(answer.words)': \(words)"
    }

    /// The challenge in words.
    public var words: String {
        let authority = space.origin.authority
        let subject = space.isProxy ? "the proxy \(authority)" : authority
        switch space.authenticationMethod.traits.credential {
        case .exception: return "the certificate of \(subject) is not trusted"
        case .certificate: return "\(subject) asks for a client certificate"
        case .password, .ticket, .token, nil:
            let realm = space.realm.map { " for realm \"\($0)\"" } ?? ""
            return "\(subject) asks for a login (\(space.authenticationMethod))\(realm)"
        }
    }
}
