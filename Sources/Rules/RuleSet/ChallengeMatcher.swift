import Bytes
import Model

/// A `challenge`, ready to be asked. A class, so that asking it copies nothing.
final class ChallengeMatcher: Sendable {
    let rule: Configuration.ChallengeRule
    private let ruling: Ruling
    /// For each method, where the rule names several credentials: not all of them answer each.
    private let rulings: [Ruling]
    private let hosts: [HostPattern]
    private let ports: PortSet?
    private let protocols: [NetworkProtocol]
    private let realms: [TextPattern]
    private let methods: MethodSet
    private let isProxy: Bool?
    private let isSecure: Bool?
    private let clients: [ClientPattern]
    private let issuers: [TextPattern]
    private let findings: TrustFindings
    private let failures: ClosedRange<Int>?
    private let terms: TrustTerms?

    init(_ rule: Configuration.ChallengeRule) {
        self.rule = rule
        ruling = Ruling(rule, action: rule.action)
        rulings =
            rule.names.count > 1
            ? AuthenticationMethod.allCases.map { Ruling(rule, action: rule.action(for: $0)) } : []
        hosts = rule.hosts
        ports = rule.ports
        protocols = rule.protocols
        realms = rule.realms
        methods = rule.effectiveMethods
        isProxy = rule.isProxy
        isSecure = rule.isSecure
        clients = rule.clients
        issuers = rule.issuers
        findings = rule.findings.reduce(into: []) { $0.formUnion($1.findings) }
        failures = rule.failures
        terms = rule.trustTerms
    }

    func ruling(on method: AuthenticationMethod) -> Ruling {
        rulings.isEmpty ? ruling : rulings[method.number]
    }

    /// The first predicate that does not hold, or nil when all do. `hostMatches` saves the look at the hosts.
    func firstMismatch(_ query: borrowing ChallengeQuery, hostMatches: Bool) -> ChallengePredicate? {
        if let isProxy, isProxy != query.isProxy { return .proxy }
        if !hostMatches, !matches(host: query.host.utf8Span.span) { return .host }
        if let ports, !ports.contains(query.port) { return .port }
        if !protocols.isEmpty, !protocols.contains(query.protocol) { return .protocol }
        if let isSecure, isSecure != query.isSecure { return .secure }
        if !matches(client: query.client) { return .client }
        if !methods.contains(query.method) { return .method }
        if let terms, !terms.apply(on: query.today) { return .until }
        if !realms.isEmpty, !matches(realm: query.realm) { return .realm }
        if !issuers.isEmpty, !query.issuers.contains(where: { matches(issuer: $0) }) { return .issuer }
        if !findings.isEmpty, query.findings.isDisjoint(with: findings) { return .finding }
        if let failures, !failures.contains(query.failures) { return .failures }
        return nil
    }

    /// Whether the rule means its credential for the server of the challenge, and for answers that show as much of it.
    /// Clients, failures and days do not count.
    func covers(_ query: borrowing ChallengeQuery) -> Bool {
        guard isProxy == nil || isProxy == query.isProxy, ports?.contains(query.port) ?? true,
            protocols.isEmpty || protocols.contains(query.protocol), isSecure == nil || isSecure == query.isSecure,
            realms.isEmpty || matches(realm: query.realm), issuers.isEmpty,
            methods.contains(query.method) || !query.method.revealsCredential
        else { return false }
        let host = query.host.utf8Span.span
        for index in hosts.indices where hosts[index].covers(host) { return true }
        return false
    }

    func matches(host: Span<UInt8>) -> Bool {
        if hosts.isEmpty { return true }
        for index in hosts.indices where hosts[index].matches(host) { return true }
        return false
    }

    /// Whether the predicates hold that are known before a challenge, host and port apart.
    func matchesBeforeChallenge(_ protocol: NetworkProtocol, isSecure: Bool, _ client: ClientIdentity) -> Bool {
        (protocols.isEmpty || protocols.contains(`protocol`)) && (self.isSecure ?? isSecure) == isSecure
            && matches(client: client)
    }

    private func matches(client: ClientIdentity) -> Bool {
        if clients.isEmpty { return true }
        for index in clients.indices where clients[index].matches(address: client.address, user: client.user) {
            return true
        }
        return false
    }

    private func matches(realm: String?) -> Bool {
        guard let realm else { return false }
        for index in realms.indices where realms[index].matches(realm) { return true }
        return false
    }

    private func matches(issuer: String) -> Bool {
        for index in issuers.indices where issuers[index].matches(issuer) { return true }
        return false
    }
}

/// The predicates of a `challenge`, in the order in which they are tried.
public enum ChallengePredicate: String, Sendable, CaseIterable {
    case proxy
    case host
    case port
    case `protocol`
    case secure
    case client
    case method
    /// No predicate by its name, but it decides whether the rule applies.
    case until
    case realm
    case issuer
    case finding
    case failures

    /// Whether it can be judged from the request alone.
    var isKnownBeforeChallenge: Bool {
        switch self {
        case .proxy, .host, .port, .protocol, .secure, .client, .until: true
        case .method, .realm, .issuer, .finding, .failures: false
        }
    }
}
