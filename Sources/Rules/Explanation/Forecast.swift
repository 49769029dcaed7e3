import Model

/// The fate of a challenge, as far as it is known.
public enum Forecast: Sendable, Equatable {
    case answer(credential: String)
    /// It was refused there before, and is not sent, which counts as a refusal. The words say until when.
    case held(credential: String, until: String)
    /// The response's next challenge is tried, for that reason.
    case next(reason: String)
    /// A stored credential answers, if there is one; else the next challenge is tried.
    case open
    /// An operator decides.
    case asked
    /// The response goes to the client as it is, for that reason.
    case pass(reason: String)
    case cancel

    /// - Parameters:
    ///   - refused: the credentials that were refused so far, as far as they are known by name.
    ///   - urlUser: the user of the request's URL.
    ///   - space: nil: nothing is known of it.
    init(
        _ ruling: Ruling, on query: ChallengeQuery, refused: [String], urlUser: String?, space: ExplainedSpace?
    ) {
        switch ruling.action {
        case .use(let names): self = Self.use(names, ruling, query.failures, refused, space)
        case .performDefault: self = Self.performDefault(ruling, query, urlUser, space)
        case .reject: self = .next(reason: "rejected")
        case .cancel: self = .cancel
        case .ask: self = Self.ask(ruling, query, urlUser, space)
        case .trust: self = .next(reason: "a rule about certificates answers no challenge of a response")
        }
    }

    /// Whether it is the last that is heard of the response.
    var isEnd: Bool {
        switch self {
        case .next, .open: false
        case .answer, .held, .pass, .cancel, .asked: true
        }
    }

    private static func use(
        _ names: [String], _ ruling: Ruling, _ failures: Int, _ refused: [String], _ space: ExplainedSpace?
    ) -> Forecast {
        // Those of earlier answers that nobody has named were the first of the rule's.
        let known = refused + names.prefix(max(0, failures - refused.count))
        let chosen = names.dropLast().first { !known.contains($0) && space?.end(of: $0) == nil } ?? names.last ?? ""
        if failures >= ruling.attempts {
            let times = failures == 1 ? "one answer was" : "\(failures) answers were"
            return .pass(reason: "\(times) refused, and the rule allows \(ruling.attempts)")
        }
        if known.contains(chosen) { return .pass(reason: "\(chosen) was refused, and has no other value") }
        if let end = space?.end(of: chosen) { return .held(credential: chosen, until: end) }
        return .answer(credential: chosen)
    }

    private static func ask(
        _ ruling: Ruling, _ query: ChallengeQuery, _ urlUser: String?, _ space: ExplainedSpace?
    ) -> Forecast {
        if query.method == .other { return .next(reason: "nobody here can answer it") }
        if query.failures >= ruling.attempts {
            return .pass(reason: "\(query.failures) answers were refused, and the rule allows \(ruling.attempts)")
        }
        guard query.failures == 0 else { return .asked }
        if let urlUser { return .answer(credential: urlUser) }
        guard let stored = space?.stored, space?.end(of: stored) == nil else { return .asked }
        return .answer(credential: stored)
    }

    private static func performDefault(
        _ ruling: Ruling, _ query: ChallengeQuery, _ urlUser: String?, _ space: ExplainedSpace?
    ) -> Forecast {
        if query.method == .other { return .next(reason: "nobody here can answer it") }
        if query.method == .negotiate, !ruling.namesMethod {
            return .next(reason: "a password is taken to a KDC only where a rule says 'method negotiate'")
        }
        if query.failures > 0 { return .next(reason: "the credential was refused") }
        if let urlUser { return .answer(credential: urlUser) }
        guard let space else { return .open }
        guard let stored = space.stored else { return .next(reason: "nothing is stored for it") }
        return space.end(of: stored).map { .held(credential: stored, until: $0) } ?? .answer(credential: stored)
    }
}

/// The running proxy's knowledge of the space of a challenge.
public struct ExplainedSpace: Sendable, Equatable {
    /// A version that is parked there.
    public struct Refused: Sendable, Equatable {
        public let credential: String
        /// Until when, in words.
        public let end: String

        public init(credential: String, end: String) {
            self.credential = credential
            self.end = end
        }
    }

    /// The name of the credential that is kept for it; nil: none is.
    public var stored: String?
    public var refused: [Refused]

    public init(stored: String? = nil, refused: [Refused] = []) {
        self.stored = stored
        self.refused = refused
    }

    func end(of credential: String) -> String? { refused.first { $0.credential == credential }?.end }
}

/// The knowledge beyond the rule file that an explanation has.
public enum ExplainedKnowledge: Sendable, Equatable {
    /// No proxy runs that could be asked, or it does not answer: a sentence.
    case missing(String)
    /// Facts of the running proxy about the origin: a sentence each.
    case running([String])
}

/// One time that the rules are asked about a response.
public struct ExplainedRound: Sendable {
    /// A challenge with the rules' word on it.
    public struct Challenge: Sendable, Equatable {
        /// How the caller names the challenge, for example `Digest SHA-256`.
        public let scheme: String
        public let query: ChallengeQuery
        public let ruling: Ruling
        public let traces: [RuleTrace]
        public let forecast: Forecast
    }

    public let failures: Int
    public let response: ExplainedResponse
    public let challenges: [Challenge]

    /// The credential that counts as refused by it, so that the rules are asked again.
    var held: String? {
        let end = challenges.first { $0.forecast.isEnd }
        if case .held(let credential, _)? = end?.forecast { return credential }
        return nil
    }

    private static let limit = 8

    /// - Parameter response: with so many refused answers before it.
    static func all(
        of response: (Int) -> ExplainedResponse, to request: ExplainedRequest, by rules: RuleSet
    ) -> [ExplainedRound] {
        var rounds: [ExplainedRound] = []
        var refused: [String] = []
        while rounds.count < limit {
            let failures = request.failures + refused.count
            let asked = response(failures)
            let challenges = asked.offers.map { offer in
                var query = offer.query
                query.failures = failures
                let ruling = rules.decide(query)
                return Challenge(
                    scheme: offer.scheme, query: query, ruling: ruling, traces: rules.explain(query),
                    forecast: Forecast(
                        ruling, on: query, refused: refused, urlUser: query.isProxy ? nil : request.urlUser,
                        space: offer.space))
            }
            let round = ExplainedRound(failures: failures, response: asked, challenges: challenges)
            rounds.append(round)
            guard let held = round.held else { return rounds }
            refused.append(held)
        }
        return rounds
    }
}
