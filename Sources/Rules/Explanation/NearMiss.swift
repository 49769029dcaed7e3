import Bytes
import Model

/// The rule that came nearest to answering a challenge which nobody answered, and the predicate that failed.
public struct NearMiss: Sendable, Equatable {
    public let rule: RuleReference
    /// The credentials that it would have answered with.
    public let credentials: [String]
    public let predicate: ChallengePredicate
    /// The rule's wish and the fact, as in `rule "build server" wants realm "Jenkins"; the origin says "jenkins"`.
    public let sentence: String
}

extension RuleSet {
    /// The rule with a credential that fits one of these challenges best: the one whose predicates hold the longest. One for
    /// another host counts only if the host is one that a person may have meant. Nil: there is none.
    ///
    /// Cold: it looks at every rule.
    ///
    /// - Parameter credential: only rules that name it count; nil: any.
    public func nearestMiss(_ queries: [ChallengeQuery], using credential: String? = nil) -> NearMiss? {
        var best: (matcher: ChallengeMatcher, predicate: ChallengePredicate, query: ChallengeQuery)?
        for matcher in matchers {
            guard matcher.rule.isUse, !matcher.rule.waitsForNone, credential.map(matcher.rule.names.contains) ?? true
            else { continue }
            for query in queries where matcher.speaks(of: query.method) {
                guard let predicate = matcher.firstMismatch(query, hostMatches: false), predicate != .proxy,
                    predicate != .host || matcher.rule.hosts.contains(where: { $0.isNear(query.host) })
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
            sentence: "rule \(rule.rule.title) \(rule.wish(for: best.predicate, best.query))")
    }

    /// Whether lines for the rule file may name the rule's credentials for the challenge: the rule means them for its server.
    public func covers(_ query: ChallengeQuery, by rule: RuleReference) -> Bool {
        matchers.first { $0.rule.rule === rule }?.covers(query) ?? false
    }

    /// Whether the rule is for answers that do not show the credential on the way.
    public func wantsSecure(_ rule: RuleReference) -> Bool {
        matchers.first { $0.rule.rule === rule }?.rule.isSecure == true
    }

    /// The decision of the first rule with a credential that would have answered the challenge, had that rule not decided.
    public func answerBehind(_ rule: RuleReference, _ query: ChallengeQuery) -> Ruling? {
        matchers.drop { $0.rule.rule !== rule }.dropFirst()
            .first { $0.rule.isUse && $0.firstMismatch(query, hostMatches: false) == nil }?
            .ruling(on: query.method)
    }

    /// As `explain`, of the rules that got furthest with the challenge, at most so many, in the file's order.
    public func explain(_ query: ChallengeQuery, limit: Int) -> [RuleTrace] {
        var held: [(number: Int, predicate: ChallengePredicate?)] = []
        for (number, matcher) in matchers.enumerated() where matcher.speaks(of: query.method) {
            let predicate = matcher.firstMismatch(query, hostMatches: false)
            held.append((number, predicate))
            if predicate == nil { break }
        }
        let depth = { (predicate: ChallengePredicate?) in predicate?.depth ?? .max }
        let nearest = held.sorted { (depth($1.predicate), $0.number) < (depth($0.predicate), $1.number) }.prefix(limit)
        return nearest.sorted { $0.number < $1.number }.map { number, predicate in
            let rule = matchers[number].rule
            return RuleTrace(
                rule: rule.rule,
                outcome: predicate.map { .failed($0, rule.words(for: $0, query)) } ?? .matched)
        }
    }
}

extension RuleReference {
    /// The name in quotes; without one, the file and the line. For people who do not have the rule file.
    public var title: String { name.map { "\"\($0)\"" } ?? words }
}

extension ChallengePredicate {
    /// The number of predicates that were tried before it.
    fileprivate var depth: Int { Self.allCases.firstIndex(of: self) ?? 0 }
}

extension Configuration.ChallengeRule {
    /// Whether its credential goes with every request, and answers no challenge.
    var waitsForNone: Bool { effectiveMethods == MethodSet(.default) }

    /// Whether it is not for any host whatever.
    var namesHosts: Bool { !hosts.isEmpty && !hosts.contains { $0.form == .any } }

    /// What a predicate that does not hold wants, and what there is in its place.
    fileprivate func wish(for predicate: ChallengePredicate, _ query: ChallengeQuery) -> String {
        let server = query.isProxy ? "parent" : "origin"
        switch predicate {
        case .proxy: return isProxy == true ? "is for a parent proxy" : "is for servers, not for parent proxies"
        case .host: return "is for host \(Self.list(hosts)); the request is for \(query.host)"
        case .port:
            let wanted = Self.list(ports?.ranges.map { PortSet([$0]) } ?? [])
            return "is for port \(wanted); the request is for port \(query.port)"
        case .protocol:
            return
                "is for protocol \(Self.list(protocols.map(\.rawValue))); the \(server) is asked by \(query.protocol)"
        case .secure:
            return isSecure == true
                ? "says 'secure yes'; \(query.method) over \(query.protocol) would send the credential unencrypted"
                : "says 'secure no'; the credential would be sent encrypted"
        case .client: return "is for other clients"
        case .method:
            let wanted = methods?.methods ?? effectiveMethods.methods
            let mayTakeBasic = query.method == .bearer && wanted.contains(.basic) && query.isProxy == false
            return "is for method \(Self.list(wanted)); the \(server) offers \(query.method)"
                + (mayTakeBasic
                    ? "; if it takes Basic too, write 'method basic' and 'preempt always' in that rule" : "")
        case .realm:
            let said = query.realm.map { "sends \"\($0)\"" } ?? "sends none"
            return "is for realm \(Self.quoted(realms)); the \(server) \(said)"
        case .issuer: return "is for issuer \(Self.quoted(issuers)), which the \(server) does not accept"
        case .finding: return "is for finding \(Self.list(findings.map(\.rawValue)))"
        case .failures:
            return "is for failures \(failures.map(Self.range) ?? ""); \(query.failures) answers were refused"
        case .until: return "expired on \(trustTerms?.until?.description ?? "a day before")"
        }
    }
}

extension HostPattern {
    /// Whether somebody who wrote the pattern may have meant that host: a slip of the hand, a name above or below it, or
    /// another name of this machine.
    fileprivate func isNear(_ host: String) -> Bool {
        let name = description.hasPrefix("*.") ? String(description.dropFirst(2)) : description
        guard name.count > 1, !name.contains("*") else { return false }
        let host = host.lowercased()
        if Self.loopback.contains(name), Self.loopback.contains(host) { return true }
        if Suggestion.nearest(to: host, among: [name]) != nil { return true }
        guard name.contains("."), IPAddress(name) == nil, IPAddress(host) == nil else { return false }
        return host == name || host.hasSuffix(".\(name)") || host.contains(".") && name.hasSuffix(".\(host)")
    }

    private static let loopback = ["localhost", "127.0.0.1", "::1"]
}

extension RuleSet {
    /// The first rule that names that host, and could answer a challenge of an origin there over TLS, or would cancel.
    public func ruleOverTLS(host: Span<UInt8>, port: UInt16) -> RuleReference? {
        firstBeforeChallenge(host, port) { number in
            let rule = matchers[number].rule
            return rule.actsOnChallenge && rule.isSecure != false && rule.namesHosts
                && (rule.protocols.isEmpty || rule.protocols.contains(.https))
        }.map { matchers[$0].rule.rule }
    }
}
