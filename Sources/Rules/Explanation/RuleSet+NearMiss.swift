import Model

extension RuleSet {
    /// The rule that came nearest to answering an unanswered challenge, and the predicate that failed.
    public struct NearMiss: Sendable, Equatable {
        public let rule: RuleReference
        /// The credentials of the rule's answer.
        public let credentials: [String]
        public let predicate: Predicates.Name
        /// The rule's condition and the fact, as in `rule "build server" wants realm "Jenkins"; the origin says
        /// "jenkins"`.
        public let sentence: String
    }

    /// Returns the rule with a credential that fits one of these challenges best: the one whose predicates match the
    /// longest. A rule for another host counts only if a person may have meant this host. Nil if none.
    ///
    /// It checks every rule, so it is not for the hot path.
    ///
    /// - Parameter credential: the credential that the rule must name; nil for any.
    public func nearestMiss(_ queries: [ChallengeQuery], using credential: String? = nil) -> NearMiss? {
        var best: (matcher: Matcher, predicate: Predicates.Name, query: ChallengeQuery)?
        for matcher in matchers {
            guard matcher.rule.isUse, !matcher.rule.waitsForNone, matcher.rule.signature == nil,
                credential.map(matcher.rule.names.contains) ?? true
            else { continue }
            for query in queries where matcher.speaks(of: query.method) {
                guard let predicate = matcher.firstMismatch(query, hostMatches: false), predicate != .proxy,
                    predicate != .host || matcher.predicates.host.isNear(query.host)
                else { continue }
                if let best, best.predicate.depth >= predicate.depth { continue }
                best = (matcher, predicate, query)
            }
        }
        guard let best, case .use(let credentials) = best.matcher.rule.action(for: best.query.method) else {
            return nil
        }
        let rule = best.matcher.rule
        return NearMiss(
            rule: rule.rule, credentials: credentials, predicate: best.predicate,
            sentence: "rule \(rule.rule.title) \(best.matcher.predicates[best.predicate].wish(best.query))")
    }

    /// Whether suggested lines for the rule file may name the rule's credentials for the challenge: the rule intends
    /// them for its server.
    public func covers(_ query: ChallengeQuery, by rule: RuleReference) -> Bool {
        matchers.first { $0.rule.rule === rule }?.covers(query) ?? false
    }

    /// Whether the rule requires answers that do not show the credential on the way.
    public func wantsSecure(_ rule: RuleReference) -> Bool {
        matchers.first { $0.rule.rule === rule }?.predicates.secure.wanted == true
    }

    /// The decision of the first rule with a credential that would have answered the challenge after `rule`.
    public func answerBehind(_ rule: RuleReference, _ query: ChallengeQuery) -> RuleDecision? {
        matchers.drop { $0.rule.rule !== rule }.dropFirst()
            .first { $0.rule.isUse && $0.firstMismatch(query, hostMatches: false) == nil }?
            .ruling(on: query.method)
    }

    /// The first rule that names that host and could answer a challenge of an origin there over TLS, or would cancel.
    public func ruleOverTLS(host: Span<UInt8>, port: UInt16) -> RuleReference? {
        firstBeforeChallenge(host, port) { number in
            let (rule, predicates) = (matchers[number].rule, matchers[number].predicates)
            return rule.actsOnChallenge && predicates.secure.wanted != false && !predicates.host.isForAny
                && (!predicates.protocol.isSaid || predicates.protocol.protocols.contains(.https))
        }.map { matchers[$0].rule.rule }
    }
}

extension RuleReference {
    /// The name in quotes; without one, the file and the line. For people who do not have the rule file.
    public var title: String { name.map { "\"\($0)\"" } ?? words }
}
