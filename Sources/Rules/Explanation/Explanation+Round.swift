import Model

extension Explanation {
    /// The knowledge of an explanation beyond the rule file.
    public enum Knowledge: Sendable, Equatable {
        /// No proxy runs, or it does not respond: a sentence.
        case missing(String)
        /// Facts of the running proxy about the origin: a sentence each.
        case running([String])
    }

    /// One round of asking the rules about a response.
    public struct Round: Sendable {
        /// A challenge with the rules' decision.
        public struct Challenge: Sendable, Equatable {
            /// The caller's name for the challenge, for example `Digest SHA-256`.
            public let scheme: String
            public let query: ChallengeQuery
            public let ruling: RuleDecision
            public let traces: [RuleSet.Trace]
            public let forecast: Forecast
            /// The lines about the token that the credential would be exchanged for, or about a challenge without an
            /// answer.
            var token: [ExplainedLine] = []
        }

        public let failures: Int
        public let response: ExplainedRequest.Response
        public let challenges: [Challenge]

        /// The challenge that decides; nil if none is answered.
        private var end: Challenge? { challenges.first { $0.forecast.isEnd } }

        private static let limit = 8

        /// - Parameter response: the response after the given number of refused answers.
        static func all(
            of response: (Int) -> ExplainedRequest.Response, to request: ExplainedRequest, by rules: RuleSet
        ) -> [Explanation.Round] {
            var rounds: [Explanation.Round] = []
            var refusals = Forecast.Refusals(by: rules)
            // The answers that were refused before are assumed to be those of the rules, one after the other.
            while refusals.count < request.failures {
                let end = Explanation.Round(response(refusals.count), after: refusals, to: request, by: rules).end
                refusals.add(end?.forecast.credential, by: end?.ruling.rule)
            }
            while rounds.count < limit {
                let round = Explanation.Round(response(refusals.count), after: refusals, to: request, by: rules)
                rounds.append(round)
                // A parked credential counts as refused, so that the rules are asked again.
                guard let end = round.end, case .held(let credential, _) = end.forecast else { break }
                refusals.add(credential, by: end.ruling.rule)
            }
            return rounds
        }

        private init(
            _ response: ExplainedRequest.Response, after refusals: Forecast.Refusals, to request: ExplainedRequest,
            by rules: RuleSet
        ) {
            failures = refusals.count
            self.response = response
            challenges = response.offers.map { offer in
                var query = offer.query
                query.failures = refusals.count
                let ruling = rules.decide(query)
                var forecast = Forecast(
                    ruling, on: query, after: refusals, urlUser: query.isProxy ? nil : request.urlUser,
                    space: offer.space)
                if query.method == .basic, case .answer(let credential) = forecast,
                    let reason = rules.configuration.reasonAgainstBasic(credential, to: query)
                {
                    forecast = .next(reason: reason)
                }
                var challenge = Challenge(
                    scheme: offer.scheme, query: query, ruling: ruling, traces: rules.explain(query), forecast: forecast
                )
                switch forecast {
                case .answer(let credential): challenge.token = offer.tokens[credential] ?? []
                case .next, .open: challenge.token = offer.unanswered
                case .held, .asked, .cancel: break
                }
                return challenge
            }
        }
    }
}
