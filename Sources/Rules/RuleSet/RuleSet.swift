import Bytes
import Model

/// The compiled rules: immutable, shared by all loops, replaced as a whole on a reload. An exchange keeps the rules it
/// began with. No query allocates, unless a host is an IPv6 address.
public final class RuleSet: Sendable {
    public let configuration: Configuration
    public let egress: EgressPolicy
    public let clients: RuleSet.ClientPolicy
    private let routes: HostIndex
    private let challenges: HostIndex
    /// The cache; nil if no host has many rules to check.
    private let cache: RulingCache?
    private let routeDecisions: [RouteDecision]
    /// The ports of the routes; zero for every port.
    private let routePorts: [UInt16]
    let matchers: [Matcher]
    private let gates: [RuleSet.Gate]
    /// The credentials that clients may not bring, by the number of the rule.
    private let refused: [Int: RefusedCredentials]
    /// The placeholders that clients write instead of credentials.
    public let placeholders: Placeholders
    private let ports: [ClosedRange<UInt16>]
    private let subjects: Subjects

    /// The subjects that at least one rule covers. Others need no check, so that most requests need only this.
    public struct Subjects: OptionSet, Sendable {
        public let rawValue: UInt16
        public init(rawValue: UInt16) { self.rawValue = rawValue }

        /// A challenge is answered, rejected or cancelled.
        static let challenges = Self(rawValue: 1 << 0)
        /// A client's own `Authorization` is replaced or refused.
        static let replacement = Self(rawValue: 1 << 1)
        /// Credentials are learned from clients' own answers.
        static let learning = Self(rawValue: 1 << 2)
        /// The trust in a server.
        public static let trust = Self(rawValue: 1 << 3)
        /// A certificate to show to a server.
        public static let clientCertificates = Self(rawValue: 1 << 4)
        /// Signatures of requests, which no challenge asks for.
        public static let signatures = Self(rawValue: 1 << 5)
        /// Places of their own for preemptive credentials.
        public static let places = Self(rawValue: 1 << 6)
        /// Preemptive credentials in `Authorization`.
        public static let preemption = Self(rawValue: 1 << 7)
        /// Login forms.
        public static let forms = Self(rawValue: 1 << 8)
        /// Clients that bring credentials of their own are refused.
        public static let refusedCredentials = Self(rawValue: 1 << 9)
        /// Limits for the requests of one client.
        public static let clientLimits = Self(rawValue: 1 << 10)
        /// Placeholders that clients write instead of credentials.
        public static let placeholders = Self(rawValue: 1 << 11)
        /// Credentials of clients, which are refused, and placeholders for credentials.
        public static let clientCredentials = Self(rawValue: 1 << 9 | 1 << 11)
    }

    public init(_ configuration: Configuration) {
        self.configuration = configuration
        egress = EgressPolicy(configuration.egress)
        clients = RuleSet.ClientPolicy(configuration.clients)
        routes = HostIndex(configuration.routes.map { HostIndex.Entry(patterns: [$0.host], methods: []) })
        let rules = configuration.challenges.map { $0.effective(in: configuration.mode) }
        challenges = HostIndex(
            rules.map { HostIndex.Entry(patterns: $0.predicates.host.patterns, methods: $0.effectiveMethods) })
        let longest = (0..<HostIndex.everyMethod).map(challenges.longest).max() ?? 0
        cache = longest > RulingCache.worthwhile ? RulingCache(rules) : nil
        routeDecisions = configuration.routes.map { RouteDecision($0) }
        routePorts = configuration.routes.map { $0.port ?? 0 }
        matchers = rules.map(Matcher.init)
        var ports: [ClosedRange<UInt16>] = []
        gates = rules.map { RuleSet.Gate($0, ports: &ports) }
        self.ports = ports
        refused = rules.indices.reduce(into: [:]) { $0[$1] = RefusedCredentials(rules[$1]) }
        placeholders = Placeholders(configuration, rules)
        var subjects = Subjects(rules, of: configuration)
        if !placeholders.isEmpty { subjects.insert(.placeholders) }
        self.subjects = subjects
    }

    /// Whether any rule covers the subject.
    public func speaks(of subject: Subjects) -> Bool { subjects.contains(subject) }

    /// Whether any rule covers one of the subjects.
    public func speaks(ofAny list: Subjects) -> Bool { !subjects.isDisjoint(with: list) }

    /// The treatment of a request for a host and port. The first `route` that matches decides.
    public func route(host: Span<UInt8>, port: UInt16) -> RouteDecision {
        if configuration.routes.isEmpty { return .none }
        let found = HostPattern.withName(of: host) { name in
            routes.first(name, list: HostIndex.everyMethod) { number, hostMatches in
                let only = routePorts[number]
                if only != 0, only != port { return false }
                return hostMatches || configuration.routes[number].host.matches(name)
            }
        }
        return found.map { routeDecisions[$0] } ?? .none
    }

    /// The ruling on a challenge. The first `challenge` block that matches decides; without one it is `Ruling.none`.
    public func decide(_ query: ChallengeQuery) -> RuleDecision {
        let isLong = challenges.longest(list: query.method.traits.number) > RulingCache.worthwhile
        let found =
            if isLong, let cache { cache.number(for: query) { find(query) } } else { find(query) }
        return found.map { matchers[$0].ruling(on: query.method) } ?? .none
    }

    private func find(_ query: ChallengeQuery) -> Int? {
        HostPattern.withName(of: query.host.utf8Span.span) { name in
            challenges.first(name, list: query.method.traits.number) { number, hostMatches in
                matchers[number].firstMismatch(query, hostMatches: hostMatches) == nil
            }
        }
    }

    /// Whether some rule could answer a challenge of an origin at that host and port, or cancel the request. If not, a
    /// request's body need not be held, and challenges are the client's own business.
    ///
    /// - Parameter isProxy: whether the server is a parent proxy.
    public func mayAnswer(host: Span<UInt8>, port: UInt16, isProxy: Bool = false) -> Bool {
        guard speaks(of: .challenges) else { return false }
        return firstBeforeChallenge(host, port, isProxy: isProxy) { gates[$0].actsOnChallenge } != nil
    }

    /// Whether a rule about that server's challenges depends on the client. If so, the answer for one client does not
    /// apply to another.
    public func answerDependsOnClient(host: Span<UInt8>, port: UInt16, isProxy: Bool) -> Bool {
        guard speaks(of: .challenges) else { return false }
        return firstBeforeChallenge(host, port, isProxy: isProxy) { matchers[$0].predicates.client.isSaid } != nil
    }

    /// Whether some rule stores what a client's own answer to an origin at that host and port teaches.
    public func mayLearn(host: Span<UInt8>, port: UInt16) -> Bool {
        guard speaks(of: .learning) else { return false }
        return firstBeforeChallenge(host, port) { gates[$0].learns } != nil
    }

    /// Whether a client's own `Authorization` is kept in a request to an origin, before any challenge. The first
    /// `challenge` decides that has `authorization` and whose `host`, `port`, `protocol`, `secure`, `client` and
    /// `proxy` match. Without one it is kept.
    public func authorization(
        host: Span<UInt8>, port: UInt16, protocol: NetworkProtocol, isSecure: Bool, client: ClientIdentity
    ) -> Configuration.ChallengeRule.Authorization {
        guard speaks(of: .replacement) else { return .keep }
        return authorizationRule(host, port, `protocol`, isSecure: isSecure, client)
            .flatMap { gates[$0].authorization } ?? .keep
    }

    /// The credentials that a client may not bring in a request to an origin; nil if it may bring its own. The same
    /// `challenge` decides as for `authorization(host:port:protocol:isSecure:client:)`.
    public func refusedCredentials(
        host: Span<UInt8>, port: UInt16, protocol: NetworkProtocol, isSecure: Bool, client: ClientIdentity
    ) -> RefusedCredentials? {
        authorizationRule(host, port, `protocol`, isSecure: isSecure, client).flatMap { refused[$0] }
    }

    private func authorizationRule(
        _ host: Span<UInt8>, _ port: UInt16, _ protocol: NetworkProtocol, isSecure: Bool, _ client: ClientIdentity
    ) -> Int? {
        firstBeforeChallenge(host, port) { number in
            gates[number].authorization != nil
                && matchers[number].matchesBeforeChallenge(`protocol`, isSecure: isSecure, client)
        }
    }

    /// The first rule of a list of the index whose `proxy`, `host` and `port` match, and which passes a test.
    func firstBeforeChallenge(
        _ host: Span<UInt8>, _ port: UInt16, list: Int = HostIndex.everyMethod, isProxy: Bool = false,
        where test: (Int) -> Bool
    ) -> Int? {
        HostPattern.withName(of: host) { name in
            challenges.first(name, list: list) { number, hostMatches in
                gates[number].admits(port, ports, isProxy: isProxy) && test(number)
                    && (hostMatches || matchers[number].matches(host: name))
            }
        }
    }
}

extension RuleSet.Subjects {
    /// - Parameter rules: the rules as they act in the mode of the rule file.
    fileprivate init(_ rules: [Configuration.ChallengeRule], of configuration: Configuration) {
        let signing = Set(
            configuration.credentials.filter { $0.content.signature != nil }.map(\.name))
        self = []
        let limits = configuration.limits
        if limits.requestsPerClient != nil || limits.concurrentRequestsPerClient != nil { insert(.clientLimits) }
        for rule in rules {
            if rule.actsOnChallenge { insert(.challenges) }
            if let authorization = rule.authorization, authorization != .keep { insert(.replacement) }
            if rule.authorization == .refuse { insert(.refusedCredentials) }
            if rule.learns { insert(.learning) }
            if rule.effectiveMethods.contains(.serverTrust) { insert(.trust) }
            if rule.effectiveMethods.contains(.clientCertificate) { insert(.clientCertificates) }
            if rule.names.contains(where: signing.contains) { insert(.signatures) }
            if !rule.placements.isEmpty { insert(.places) }
            if rule.preemption == .always { insert(.preemption) }
            if rule.answerTerms?.form != nil { insert(.forms) }
        }
    }
}

/// Questions about a host's TLS challenges before its first connection: whether rules cover them, and whether clients
/// may share connections.
extension RuleSet {
    /// Whether a rule may decide on a certificate to show to that server.
    public func speaksOfClientCertificates(host: Span<UInt8>, port: UInt16, isProxy: Bool = false) -> Bool {
        speaks(of: .clientCertificates) && first(.clientCertificate, host, port, isProxy) { _ in true } != nil
    }

    /// Whether a rule that answers challenges of that origin names NTLM or Negotiate, whose logins belong to a connection.
    public func namesLogin(host: Span<UInt8>, port: UInt16, isProxy: Bool) -> Bool {
        guard speaks(of: .challenges) else { return false }
        return [AuthenticationMethod.ntlm, .negotiate].contains { method in
            first(method, host, port, isProxy) { number in
                gates[number].actsOnChallenge && matchers[number].predicates.method.written?.contains(method) == true
            } != nil
        }
    }

    /// Whether a rule about that server's trust, or about a certificate to show to it, depends on the client. If so, a
    /// connection made for one client does not serve another.
    public func trustDependsOnClient(host: Span<UInt8>, port: UInt16, isProxy: Bool = false) -> Bool {
        guard speaks(of: .trust) || speaks(of: .clientCertificates) else { return false }
        return [AuthenticationMethod.serverTrust, .clientCertificate].contains { method in
            first(method, host, port, isProxy) { matchers[$0].predicates.client.isSaid } != nil
        }
    }

    private func first(
        _ method: AuthenticationMethod, _ host: Span<UInt8>, _ port: UInt16, _ isProxy: Bool, where test: (Int) -> Bool
    ) -> Int? {
        firstBeforeChallenge(host, port, list: method.traits.number, isProxy: isProxy, where: test)
    }

    /// The clients that may use the proxy.
    public struct ClientPolicy: Sendable {
        private let allow: [AddressPrefix]

        init(_ clients: Configuration.Clients) {
            allow = clients.allow
        }

        /// The `allow` line that also admits that address. The first such line replaces the default.
        public func entries(with address: IPAddress) -> String {
            let standard = Configuration.Clients().allow
            return ((allow == standard ? standard.map { "\($0)" } : []) + ["\(address.unmapped)"]).joined(
                separator: " ")
        }

        /// Whether a client at that address may connect; one at a unix socket may, because of the socket's
        /// permissions. Allocates nothing.
        public func permits(_ address: IPAddress?) -> Bool {
            guard let address = address?.unmapped else { return true }
            for prefix in allow where prefix.contains(address) { return true }
            return false
        }
    }

    /// The part of a `challenge` that a request is checked against before any challenge. It contains no reference-counted
    /// values, so that reading it costs no retain.
    struct Gate: Sendable {
        let actsOnChallenge: Bool
        let learns: Bool
        let authorization: Configuration.ChallengeRule.Authorization?
        private let isForOrigins: Bool
        private let isForProxies: Bool
        private let isForAnyPort: Bool
        /// The range of its ports in the rule set's common list.
        private let ports: Range<Int>

        init(_ rule: Configuration.ChallengeRule, ports list: inout [ClosedRange<UInt16>]) {
            actsOnChallenge = rule.actsOnChallenge
            learns = rule.learns
            authorization = rule.authorization
            isForOrigins = rule.predicates.proxy.wanted != true
            isForProxies = rule.predicates.proxy.wanted != false
            isForAnyPort = !rule.predicates.port.isSaid
            let start = list.count
            list += rule.predicates.port.ports?.ranges ?? []
            ports = start..<list.count
        }

        func admits(_ port: UInt16, _ list: [ClosedRange<UInt16>], isProxy: Bool) -> Bool {
            guard isProxy ? isForProxies : isForOrigins else { return false }
            if isForAnyPort { return true }
            for index in ports where list[index].contains(port) { return true }
            return false
        }
    }
}
