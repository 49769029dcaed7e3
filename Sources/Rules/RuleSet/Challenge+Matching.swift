import Bytes

extension Configuration.Challenge {
    /// The first predicate that does not hold, or nil when all do. `hostMatches` saves the look at the hosts.
    func firstMismatch(_ query: ChallengeQuery, hostMatches: Bool) -> ChallengePredicate? {
        if let isProxy, isProxy != query.isProxy { return .proxy }
        if !hostMatches, !matches(host: query.host.utf8Span.span) { return .host }
        if let ports, !ports.contains(query.port) { return .port }
        if !protocols.isEmpty, !protocols.contains(query.protocol) { return .protocol }
        if let isSecure, isSecure != query.isSecure { return .secure }
        if !clients.isEmpty, !matches(client: query.client) { return .client }
        if !effectiveMethods.contains(query.method) { return .method }
        if !realms.isEmpty, !matches(realm: query.realm) { return .realm }
        if !issuers.isEmpty, !query.issuers.contains(where: { matches(issuer: $0) }) { return .issuer }
        if !findings.isEmpty, !query.findings.contains(where: { findings.contains($0) }) { return .finding }
        if let failures, !failures.contains(query.failures) { return .failures }
        return nil
    }

    func matches(host: Span<UInt8>) -> Bool {
        if hosts.isEmpty { return true }
        for pattern in hosts where pattern.matches(host) { return true }
        return false
    }

    func matches(client: ClientIdentity) -> Bool {
        if clients.isEmpty { return true }
        for pattern in clients where pattern.matches(address: client.address, user: client.user) { return true }
        return false
    }

    private func matches(realm: String?) -> Bool {
        guard let realm else { return false }
        for pattern in realms where pattern.matches(realm) { return true }
        return false
    }

    private func matches(issuer: String) -> Bool {
        for pattern in issuers where pattern.matches(issuer) { return true }
        return false
    }
}
