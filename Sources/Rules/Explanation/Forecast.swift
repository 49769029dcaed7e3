import Model

/// The result of a challenge, as far as it is known.
public enum Forecast: Sendable, Equatable {
    case answer(credential: String)
    /// The credential was refused there before and is not sent, which counts as a refusal. The words say until when.
    case held(credential: String, until: String)
    /// The response's next challenge is tried, for this reason.
    case next(reason: String)
    /// A stored credential answers, if any; else the next challenge is tried.
    case open
    /// An operator decides.
    case asked
    case cancel

    /// - Parameters:
    ///   - refusals: the answers that were refused so far.
    ///   - urlUser: the user of the request's URL.
    ///   - space: the state of the protection space; nil if unknown.
    init(
        _ ruling: RuleDecision, on query: ChallengeQuery, after refusals: Forecast.Refusals, urlUser: String?,
        space: ExplainedSpace?
    ) {
        switch ruling.action {
        case .use(let names): self = Self.use(names, ruling, refusals, space)
        case .performDefault: self = Self.performDefault(ruling, query, refusals, urlUser, space)
        case .reject: self = .next(reason: "rejected")
        case .cancel: self = .cancel
        case .ask: self = Self.ask(ruling, query, refusals, urlUser, space)
        case .trust: self = .next(reason: "a rule about certificates does not answer a response's challenge")
        }
    }

    /// Whether the challenges after this one are not considered.
    var isEnd: Bool {
        switch self {
        case .next, .open: false
        case .answer, .held, .cancel, .asked: true
        }
    }

    /// The credential that is sent, or counts as refused.
    var credential: String? {
        switch self {
        case .answer(let credential), .held(let credential, _): credential
        case .next, .open, .cancel, .asked: nil
        }
    }

    private static func use(
        _ names: [String], _ ruling: RuleDecision, _ refusals: Forecast.Refusals, _ space: ExplainedSpace?
    ) -> Forecast {
        if ruling.answers == 0 {
            let count = refusals.count == 1 ? "1 answer was" : "\(refusals.count) answers were"
            return .next(reason: "\(count) refused, and the rule allows \(ruling.attempts) in all")
        }
        let open = names.filter { refusals.allows($0, by: ruling) }
        guard let last = open.last else {
            return .next(reason: "\(names.last ?? "") was refused\(refusals.reason(names.last ?? "", by: ruling))")
        }
        let chosen = open.first { space?.end(of: $0) == nil } ?? last
        return space?.end(of: chosen).map { .held(credential: chosen, until: $0) } ?? .answer(credential: chosen)
    }

    private static func ask(
        _ ruling: RuleDecision, _ query: ChallengeQuery, _ refusals: Forecast.Refusals, _ urlUser: String?,
        _ space: ExplainedSpace?
    ) -> Forecast {
        if query.method == .other { return .next(reason: "the proxy does not know this method") }
        let count = refusals.count(by: ruling.rule)
        if count >= ruling.answers {
            return .next(reason: "\(refusals.count) answers were refused, and the rule allows \(ruling.attempts)")
        }
        guard count == 0 else { return .asked }
        return kept(refusals, urlUser, space) ?? .asked
    }

    private static func performDefault(
        _ ruling: RuleDecision, _ query: ChallengeQuery, _ refusals: Forecast.Refusals, _ urlUser: String?,
        _ space: ExplainedSpace?
    ) -> Forecast {
        if query.method == .other { return .next(reason: "the proxy does not know this method") }
        if query.method == .negotiate, !ruling.namesMethod {
            return .next(reason: "a password is sent to a KDC only if a rule says 'method negotiate'")
        }
        if let kept = kept(refusals, urlUser, space) { return kept }
        let isRefused = urlUser != nil || space?.stored != nil || refusals.hasUnknown
        if isRefused { return .next(reason: "the credential was refused") }
        return space == nil ? .open : .next(reason: "nothing is stored for it")
    }

    /// The answer with the credential of the URL, or with a stored one.
    private static func kept(
        _ refusals: Forecast.Refusals, _ urlUser: String?, _ space: ExplainedSpace?
    ) -> Forecast? {
        if let urlUser, !refusals.contain(urlUser) { return .answer(credential: urlUser) }
        guard let space, let stored = space.stored, !refusals.contain(stored) else { return nil }
        return space.end(of: stored).map { .held(credential: stored, until: $0) } ?? .answer(credential: stored)
    }

    /// The refused answers of a request, as far as the rules tell which they were.
    struct Refusals {
        private var known: [(credential: String?, rule: RuleReference?)] = []
        /// The credentials that are tokens of a grant: a refused token is replaced once.
        private let renewable: Set<String>

        init(by rules: RuleSet) {
            renewable = Set(
                rules.configuration.credentials.filter {
                    switch $0.content {
                    case .oauth, .registry: true
                    default: false
                    }
                }.map(\.name))
        }

        var count: Int { known.count }

        /// Whether the credential of some answer is unknown.
        var hasUnknown: Bool { known.contains { $0.credential == nil } }

        mutating func add(_ credential: String?, by rule: RuleReference?) { known.append((credential, rule)) }

        func contain(_ credential: String) -> Bool { known.contains { $0.credential == credential } }

        func count(by rule: RuleReference?) -> Int { known.count { $0.rule === rule } }

        /// Whether the rule answers with the credential: a value is not sent again after a refusal.
        func allows(_ credential: String, by ruling: RuleDecision) -> Bool {
            let refused = known.count { $0.credential == credential }
            return refused == 0 || renewable.contains(credential) && refused < max(2, ruling.answers)
        }

        /// The reason why it does not, to follow "was refused".
        func reason(_ credential: String, by ruling: RuleDecision) -> String {
            let refused = known.count { $0.credential == credential }
            return refused < ruling.answers
                ? ", and has no other value" : ", and the rule allows no more answers with it"
        }
    }
}

/// The running proxy's knowledge about the protection space of a challenge.
public struct ExplainedSpace: Sendable, Equatable {
    /// A credential version that is parked there.
    public struct Refused: Sendable, Equatable {
        public let credential: String
        /// The end of the parking, in words.
        public let end: String

        public init(credential: String, end: String) {
            self.credential = credential
            self.end = end
        }
    }

    /// The name of the stored credential; nil if none.
    public var stored: String?
    public var refused: [Refused]

    public init(stored: String? = nil, refused: [Refused] = []) {
        self.stored = stored
        self.refused = refused
    }

    func end(of credential: String) -> String? { refused.first { $0.credential == credential }?.end }
}
