import Bytes

/// What only the whole file can show.
extension RuleParser {
    func check() {
        checkUses()
        checkAnswers()
        checkDetours()
        checkListeners()
        // A rule that lost a predicate to an error seems wider than it is.
        guard !log.hasErrors else { return }
        checkUnused()
        checkOpenProxy()
        checkReach()
        warn()
    }

    private func checkUses() {
        let names = credentialRanges.keys.sorted()
        for use in uses where credentialRanges[use.name] == nil {
            log.report(
                at: use.range, "there is no credential \(Token.shown(use.name))",
                suggestion: Suggestion.nearest(to: use.name, among: names))
        }
    }

    private func checkUnused() {
        let used = Set(uses.map(\.name))
        for credential in configuration.credentials where !used.contains(credential.name) {
            guard let range = credentialRanges[credential.name] else { continue }
            log.report(.warning, at: range, "no challenge uses the credential \(Token.shown(credential.name))")
        }
    }

    private func checkListeners() {
        if let admin = configuration.admin, admin.port != 0,
            configuration.listeners.contains(where: { $0.endpoint == admin })
        {
            let range = listenerRanges.indices.contains(0) ? listenerRanges[0] : nil
            if let range { log.report(at: range, "'listen' and 'admin' name the same address and port") }
        }
    }

    private func checkOpenProxy() {
        guard configuration.clients.methods.isEmpty,
            configuration.clients.allow.contains(where: { $0.length == 0 })
        else { return }
        let loopback = AddressClass.loopback.prefixes
        for (listener, range) in zip(configuration.listeners, listenerRanges)
        where !(listener.tls?.clients?.isRequired ?? false)
            && !loopback.contains(where: { $0.contains(listener.endpoint.address) })
        {
            log.report(.warning, at: range, "anyone who reaches this address may use the proxy and its credentials")
        }
    }

    /// A rule behind one that takes everything it could take.
    private func checkReach() {
        let challenges = configuration.challenges
        for (index, rule) in challenges.enumerated() where index < 1024 {
            guard let earlier = challenges[..<index].first(where: { $0.covers(rule) }) else { continue }
            log.report(
                .warning, at: challengeSources[index].node.name.range,
                "this challenge is never reached: \(earlier.rule) takes all that it could match")
        }
        let routes = configuration.routes
        for (index, route) in routes.enumerated() where index < 1024 {
            let earlier = routes[..<index].first {
                $0.host.covers(route.host) && ($0.port == nil || $0.port == route.port)
            }
            guard let earlier else { continue }
            log.report(
                .warning, at: routeRanges[index],
                "this route is never reached: \(earlier.rule) takes all that it could match")
        }
    }
}

extension Configuration.Challenge {
    /// Whether this rule surely matches whatever `other` matches. It may say no where the answer is yes.
    func covers(_ other: Self) -> Bool {
        // A rule that ends leaves what it took to the others.
        trustTerms?.until == nil
            && (isProxy == nil || isProxy == other.isProxy)
            && (isSecure == nil || isSecure == other.isSecure)
            && effectiveMethods.isSuperset(of: other.effectiveMethods)
            && covers(hosts, other.hosts) { $0.covers($1) }
            && (ports.map { mine in other.ports.map { mine.covers($0) } ?? false } ?? true)
            && covers(protocols, other.protocols, by: ==)
            && covers(realms, other.realms) { $0.isAny || $0 == $1 }
            && covers(clients, other.clients, by: ==)
            && covers(issuers, other.issuers) { $0.isAny || $0 == $1 }
            && covers(findings, other.findings, by: ==)
            && (failures.map { mine in
                other.failures.map { mine.lowerBound <= $0.lowerBound && mine.upperBound >= $0.upperBound } ?? false
            } ?? true)
    }

    private func covers<Pattern>(_ mine: [Pattern], _ theirs: [Pattern], by test: (Pattern, Pattern) -> Bool) -> Bool {
        mine.isEmpty || !theirs.isEmpty && theirs.allSatisfy { inner in mine.contains { test($0, inner) } }
    }
}
