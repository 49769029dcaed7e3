import Bytes
import Domains
import Model

extension RuleChecks {
    /// Warns of parts of a file without errors that are probably not intended.
    struct Warnings: BlockReader {
        let context: ReadingContext
        let draft: RuleDraft

        private var configuration: Configuration { draft.configuration }

        /// The limit of rules that are compared with each other, because the time grows quadratically.
        private static let compared = 1024

        func warn() {
            warnOfReach()
            warnOfIdleEgress()
            warnOfIdleTraces()
            warnOfSOCKSPorts()
            for (index, rule) in configuration.challenges.enumerated() {
                let source = draft.challenges[index]
                warnOfWideAnswer(rule, source)
                warnOfPublicSuffix(rule, source)
                warnOfAttempts(rule, source)
                if index < Self.compared {
                    warnOfClearPassword(rule, source, behind: configuration.challenges[..<index])
                }
                // One warning of a missing route is enough.
                if index < Self.compared, !warnOfUnseen(rule, source) { warnOfUnsearched(rule, source) }
                if rule.learns, rule.persistence == .permanent { warnOfSharedLearning(rule, source) }
                guard let terms = rule.trustTerms else { continue }
                warnOfForgery(rule, terms, source)
                warnOfEnd(rule, source)
            }
            warnOfNamesBeyondAuthority()
        }

        /// Warns of a rule after one that matches everything it could match.
        private func warnOfReach() {
            let challenges = configuration.challenges.prefix(Self.compared)
            let predicates = challenges.map(\.resolved)
            for (index, own) in predicates.enumerated() {
                guard let earlier = predicates[..<index].firstIndex(where: { $0.covers(own) }) else { continue }
                log.report(
                    .warning, at: draft.challenges[index].node.name.range,
                    "this challenge is never used: \(challenges[earlier].rule) matches all of its cases")
            }
            let routes = configuration.routes
            for (index, route) in routes.enumerated() where index < Self.compared {
                let earlier = routes[..<index].first {
                    $0.host.covers(route.host) && ($0.port == nil || $0.port == route.port)
                }
                guard let earlier else { continue }
                log.report(
                    .warning, at: draft.routes[index],
                    "this route is never used: \(earlier.rule) matches all of its cases")
            }
        }

        /// An `allow` of addresses that are permitted without it, where no `deny` refuses the others.
        private func warnOfIdleEgress() {
            let entries = configuration.egress.entries
            guard !entries.contains(where: { $0.verdict == .deny }) else { return }
            let refused = AddressClass.refused.flatMap(\.prefixes)
            for (entry, range) in zip(entries, draft.egress).prefix(Self.compared) {
                let isOfUse = entry.prefixes.contains { prefix in
                    refused.contains { $0.contains(prefix.address) && $0.length <= prefix.length }
                }
                if isOfUse { continue }
                log.report(
                    .warning, at: range,
                    "this 'allow' restricts nothing, because all other addresses are allowed too: write 'deny any' before it"
                )
            }
        }

        /// Warns of a collector that gets no spans.
        private func warnOfIdleTraces() {
            guard let range = draft.traces, !configuration.routes.contains(where: { $0.trace != .no }) else { return }
            log.report(
                .warning, at: range,
                "no route says 'trace', so there are no spans: add 'trace continue' or 'trace start' to a route")
        }

        /// Warns of a listener for SOCKS whose clients cannot ask for plain http.
        private func warnOfSOCKSPorts() {
            guard !configuration.egress.connectPorts.contains(80) else { return }
            for (listener, range) in zip(configuration.listeners, draft.listeners) where listener.speaksSOCKS {
                log.report(
                    .warning, at: range,
                    "a client that speaks SOCKS cannot reach port 80: write 'egress { connect-ports 80 443 }', with all ports that "
                        + "it may reach")
            }
        }

        private func warnOfWideAnswer(_ rule: Configuration.ChallengeRule, _ source: RuleDraft.Challenge) {
            guard rule.predicates.proxy.wanted != true, !rule.predicates.issuer.isSaid, rule.predicates.host.isForAny
            else { return }
            if let terms = rule.trustTerms, !terms.allow.isEmpty, terms.pins.isEmpty {
                log.report(.warning, at: source.answer, "this forgives the findings for every server: add 'host'")
            }
            // An agent may make itself known to every server.
            guard rule.isUse, rule.signature != .message else { return }
            let isAsked = rule.names.contains {
                configuration.credential(named: $0)?.content.helper?.kind.asksForServer == true
            }
            log.report(
                .warning, at: source.answer,
                isAsked
                    ? "the helper is asked about every host that wants a login: name the hosts"
                    : "every host that asks gets this credential: add 'host', or 'proxy yes' for a parent proxy")
        }

        /// Warns of a rule that applies after more refusals than it allows a request.
        private func warnOfAttempts(_ rule: Configuration.ChallengeRule, _ source: RuleDraft.Challenge) {
            guard rule.isUse || rule.action == .ask, rule.attempts <= rule.failuresBefore,
                let node = source.said(.attempts)
            else { return }
            let (refusals, needed) = (rule.failuresBefore, rule.failuresBefore + 1)
            log.report(
                .warning, at: node.range,
                "this challenge never answers: it applies after \(refusals) refused \(refusals == 1 ? "answer" : "answers"), "
                    + "but allows only \(rule.attempts) in all",
                suggestion: ChallengeReader.attempts.contains(needed) ? "attempts \(needed)" : nil)
        }

        private func warnOfPublicSuffix(_ rule: Configuration.ChallengeRule, _ source: RuleDraft.Challenge) {
            guard rule.isUse, rule.signature != .message, rule.predicates.proxy.wanted != true else { return }
            for host in rule.predicates.host.patterns {
                guard let suffix = host.openDomain, PublicSuffix.contains(suffix) == true else { continue }
                let hosts = source.node.block?.nodes.filter { $0.name.isWord(Predicates.Name.host.rawValue) } ?? []
                let token = hosts.flatMap(\.arguments).first { $0.text.lowercased() == host.description }
                log.report(
                    .warning, at: token?.range ?? source.answer,
                    "anyone can register a name below \(suffix), and gets this credential: write the domain that you mean"
                )
            }
        }

        /// Warns of a password in clear. Not if the rule has `secure` or `protocol`: its author has thought of it.
        private func warnOfClearPassword(
            _ rule: Configuration.ChallengeRule, _ source: RuleDraft.Challenge,
            behind earlier: ArraySlice<Configuration.ChallengeRule>
        ) {
            guard rule.isUse, rule.predicates.proxy.wanted != true, rule.predicates.secure.wanted == nil,
                !rule.predicates.protocol.isSaid,
                !rule.predicates.host.staysOnThisMachine, !isUpgraded(rule)
            else { return }
            let methods: [(method: AuthenticationMethod, words: String)] = [
                (.basic, "Basic sends this password"), (.htmlForm, "a form sends this password"),
                (.bearer, "this token is sent"),
            ]
            let exposed = methods.first { method, _ in
                rule.effectiveMethods.contains(method) && (method != .htmlForm || rule.answerTerms?.form != nil)
                    && !isKeptFromClear(rule, method, by: earlier)
            }
            guard let exposed else { return }
            log.report(
                .warning, at: source.answer,
                "over http, \(exposed.words) unencrypted: add 'secure yes', or 'protocol http' if you mean it")
        }

        /// Warns that an answer learned from one client is given for every other client that the rule matches.
        private func warnOfSharedLearning(_ rule: Configuration.ChallengeRule, _ source: RuleDraft.Challenge) {
            guard let node = source.said(.learn) else { return }
            let isOneMachine = configuration.clients.allow.allSatisfy { prefix in
                AddressClass.loopback.prefixes.contains { $0.covers(prefix) }
            }
            if !rule.predicates.client.isSaid, !isOneMachine || !configuration.clients.methods.isEmpty {
                log.report(
                    .warning, at: node.name.range,
                    "one client's password answers for every client: add 'client', or 'persistence session'")
            }
            guard rule.predicates.secure.wanted == nil, !rule.predicates.protocol.isSaid,
                !rule.predicates.host.staysOnThisMachine, !isUpgraded(rule)
            else { return }
            log.report(
                .warning, at: node.name.range,
                "over http, Basic sends a learned password unencrypted: add 'secure yes', or 'protocol http' if you mean it"
            )
        }

        /// Warns of a rule for https whose hosts have no route that decrypts it.
        /// - Returns: whether there is such a host.
        private func warnOfUnseen(_ rule: Configuration.ChallengeRule, _ source: RuleDraft.Challenge) -> Bool {
            guard rule.isUse, rule.actsOnChallenge, rule.predicates.proxy.wanted != true,
                !rule.predicates.host.isForAny,
                let cause = causeOfTLS(rule, source),
                let host = rule.predicates.host.patterns.first(where: { !isSeen($0) && !isPublic($0) })
            else { return false }
            let inClear =
                rule.predicates.secure.wanted == true
                && rule.effectiveMethods.methods.contains { !$0.traits.revealsCredential }
            let isLimited =
                inClear && !rule.predicates.protocol.isSaid && rule.predicates.port.ports?.ranges != [443...443]
            let consequence =
                rule.hasPlaceholder
                ? "so the placeholder is never replaced"
                : isLimited
                    ? "so this challenge answers only over http, where the method hides the password"
                    : "so this challenge never answers"
            log.report(
                .warning, at: cause,
                "no route decrypts https for \(host), \(consequence): add 'route \(host) { intercept }' or 'route \(host) { upgrade }'"
            )
            return true
        }

        /// Warns of `authorization refuse` for a host with tunnels that the proxy cannot read.
        private func warnOfUnsearched(_ rule: Configuration.ChallengeRule, _ source: RuleDraft.Challenge) {
            guard rule.authorization == .refuse, let node = source.said(.authorization),
                rule.predicates.protocol.protocols != [.http]
            else { return }
            let routes = configuration.routes.prefix(Self.compared)
            let open = rule.predicates.host.patterns.first { host in
                !routes.contains { ($0.action == .intercept || $0.action == .deny) && $0.host.mayOverlap(host) }
            }
            guard let open else { return }
            log.report(
                .warning, at: node.name.range,
                "no route decrypts https for \(open), so a client's credential in a tunnel is not seen: add 'route \(open) { intercept }'"
            )
        }

        /// The predicate that shows that the rule is intended for https; nil if none.
        private func causeOfTLS(_ rule: Configuration.ChallengeRule, _ source: RuleDraft.Challenge) -> SourceRange? {
            if rule.predicates.protocol.protocols == [.https] { return source.said(.protocol)?.name.range }
            if let ports = rule.predicates.port.ports?.ranges, ports == [443...443] {
                return source.said(.port)?.name.range
            }
            return rule.predicates.secure.wanted == true ? source.said(.secure)?.name.range : nil
        }

        /// Whether a route may intercept tunnels to such a host, or use TLS with it for clients without TLS.
        private func isSeen(_ host: HostPattern) -> Bool {
            configuration.routes.prefix(Self.compared).contains {
                ($0.action == .intercept || $0.upgrade != nil) && $0.host.mayOverlap(host)
            } || configuration.routes.count > Self.compared
        }

        /// Whether anyone can register a name that the pattern matches. A route for it would then decrypt too much.
        private func isPublic(_ host: HostPattern) -> Bool {
            host.openDomain.map { PublicSuffix.contains($0) == true } ?? false
        }

        private func isUpgraded(_ rule: Configuration.ChallengeRule) -> Bool {
            rule.predicates.host.isSaid
                && rule.predicates.host.patterns.allSatisfy { host in
                    configuration.routes.prefix(Self.compared).first { $0.host.covers(host) }.map {
                        $0.upgrade != nil && $0.port == nil
                    } ?? false
                }
        }

        /// Whether an earlier rule excludes Basic in clear: `challenge { method basic; secure no; reject }`.
        private func isKeptFromClear(
            _ rule: Configuration.ChallengeRule, _ method: AuthenticationMethod,
            by earlier: ArraySlice<Configuration.ChallengeRule>
        ) -> Bool {
            var clear = rule
            clear.predicates.secure.wanted = false
            clear.predicates.method.written = MethodSet(method)
            let predicates = clear.resolved
            return earlier.contains { !$0.isUse && $0.resolved.covers(predicates) }
        }

        private func warnOfForgery(
            _ rule: Configuration.ChallengeRule, _ terms: Configuration.TrustTerms, _ source: RuleDraft.Challenge
        ) {
            let forgeable = terms.allow.findings.filter(\.isForgeable)
            guard let first = forgeable.first, terms.pins.isEmpty, let said = source.said(.allow) else { return }
            let token = said.arguments.first { $0.text == first.rawValue }
            log.report(
                .warning, at: token?.range ?? said.name.range,
                "without 'pin', an attacker on the way can present such a certificate: add 'pin'")
        }

        private func warnOfEnd(_ rule: Configuration.ChallengeRule, _ source: RuleDraft.Challenge) {
            guard let today = context.reader.today, let node = source.said(.until),
                let warning = rule.predicates.until.warning(on: today)
            else { return }
            log.report(.warning, at: node.range, warning)
        }

        private func warnOfNamesBeyondAuthority() {
            let authority = configuration.authority
            guard !authority.names.isEmpty else { return }
            for (route, range) in zip(configuration.routes, draft.routes)
            where route.action == .intercept && !authority.mayPermit(route.host) {
                log.report(
                    .warning, at: range, "none of these hosts can be intercepted: add them to 'authority { names … }'")
            }
        }
    }
}
