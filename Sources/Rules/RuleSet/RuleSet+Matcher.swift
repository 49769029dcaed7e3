import Model

extension RuleSet {
    /// A `challenge` that can be matched. A class, so that matching copies nothing.
    final class Matcher: Sendable {
        let rule: Configuration.ChallengeRule
        private let ruling: RuleDecision
        /// The ruling for each method, if the rule names several credentials: not each of them can answer each method.
        private let rulings: [RuleDecision]
        let predicates: Predicates
        /// The predicates that the rule sets, in the order in which they are checked.
        private let said: [Predicates.Name]

        init(_ rule: Configuration.ChallengeRule) {
            self.rule = rule
            ruling = RuleDecision(rule, action: rule.action, by: rule.rule)
            rulings =
                rule.names.count > 1
                ? AuthenticationMethod.allCases.map {
                    RuleDecision(rule, action: rule.action(for: $0), by: rule.rule)
                } : []
            predicates = rule.resolved
            said = predicates.said
        }

        func ruling(on method: AuthenticationMethod) -> RuleDecision {
            rulings.isEmpty ? ruling : rulings[method.traits.number]
        }

        /// The first predicate that does not match; nil if all match. `hostMatches` skips the check of the hosts.
        func firstMismatch(_ query: borrowing ChallengeQuery, hostMatches: Bool) -> Predicates.Name? {
            for index in said.indices {
                let name = said[index]
                if hostMatches, name == .host { continue }
                if !predicates.holds(name, for: query) { return name }
            }
            return nil
        }

        /// Whether the rule intends its credential for the server of the challenge, and for answers that show as much
        /// of it. Clients, failures and days are ignored.
        func covers(_ query: borrowing ChallengeQuery) -> Bool {
            for name in [Predicates.Name.proxy, .port, .protocol, .secure, .realm] where predicates[name].isSaid {
                if !predicates.holds(name, for: query) { return false }
            }
            return !predicates.issuer.isSaid
                && (predicates.method.holds(for: query) || !query.method.traits.revealsCredential)
                && predicates.host.covers(query.host.utf8Span.span)
        }

        func matches(host: Span<UInt8>) -> Bool { !predicates.host.isSaid || predicates.host.matches(host) }

        /// Whether the predicates match that are known before a challenge, except for host and port.
        func matchesBeforeChallenge(_ protocol: NetworkProtocol, isSecure: Bool, _ client: ClientIdentity) -> Bool {
            let wanted = predicates.protocol.protocols
            return (wanted.isEmpty || wanted.contains(`protocol`)) && (predicates.secure.wanted ?? isSecure) == isSecure
                && (!predicates.client.isSaid || predicates.client.matches(client))
        }
    }
}
