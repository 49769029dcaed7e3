import Bytes

/// Why a request would be treated as it would: the route, the egress verdict, and for each challenge every rule up to
/// the one that decides. A value; `text` is what `attache explain` prints.
public struct Explanation: Sendable {
    /// A challenge with what the rules say to it.
    public struct Challenge: Sendable, Equatable {
        /// How the caller names the challenge, for example `Digest SHA-256`.
        public let scheme: String
        public let query: ChallengeQuery
        public let decision: Decision
        public let traces: [RuleTrace]
    }

    public let request: ExplainedRequest
    public let clientIsAllowed: Bool
    public let route: RouteDecision
    /// Nil unless the request is a CONNECT.
    public let connectIsAllowed: Bool?
    /// One for each address that is known without asking the DNS.
    public let egress: [(address: IPAddress, decision: EgressDecision)]
    public let authorization: Configuration.Challenge.Authorization
    public let challenges: [Challenge]
    /// What every rule would need, when no challenge is given.
    public let prospects: [RuleTrace]

    /// `challenges` in the order in which they would be tried.
    public init(
        _ request: ExplainedRequest, challenges: [(scheme: String, query: ChallengeQuery)] = [], rules: RuleSet
    ) {
        self.request = request
        clientIsAllowed = rules.clients.permits(request.client.address)
        route = rules.route(host: request.host.utf8Span.span, port: request.port)
        connectIsAllowed = request.method == "CONNECT" ? rules.egress.permitsConnect(port: request.port) : nil
        let literal = HostPattern.withName(of: request.host.utf8Span.span) { HostPattern.address($0) }
        egress = (literal.map { [$0] } ?? request.addresses).map { address in
            (address, rules.egress.permits(address, port: request.port))
        }
        authorization = rules.authorization(
            host: request.host.utf8Span.span, port: request.port, protocol: request.protocol,
            isSecure: request.protocol == .https, client: request.client)
        self.challenges = challenges.map { scheme, query in
            Challenge(
                scheme: scheme, query: query, decision: rules.decide(query), traces: rules.explain(query))
        }
        prospects = challenges.isEmpty ? rules.prospects(request.query(method: .unknown)) : []
    }

    /// Lines of label and value, each ended; challenges with one line for each rule asked.
    public var text: String {
        var lines = ["\(request.method) \(request.url)"]
        let user = request.client.user.map { "\($0) at " } ?? ""
        let admission = clientIsAllowed ? "allowed" : "refused by 'clients'"
        add("client", "\(user)\(request.client.address), \(admission)", &lines)
        add("route", routeWords, &lines)
        if let connectIsAllowed {
            let verdict = connectIsAllowed ? "allowed" : "refused"
            add("connect", "port \(request.port) is \(verdict) by 'connect-ports'", &lines)
        }
        for (address, decision) in egress {
            let verdict = decision.isPermitted ? "permitted" : "refused"
            add("egress", "\(address) port \(request.port) is \(verdict): \(decision.reason)", &lines)
        }
        if egress.isEmpty { add("egress", "decided by the address to which \(request.host) resolves", &lines) }
        let fate = authorization == .keep ? "kept" : "replaced"
        add("authorization", "the client's own is \(fate)", &lines)
        for trace in prospects { add("rule", Self.words(trace), &lines) }
        if challenges.isEmpty, prospects.isEmpty { add("rule", "there is no 'challenge' in the rule file", &lines) }
        var isDecided = false
        for challenge in challenges {
            let realm = challenge.query.realm.map { " realm \"\($0)\"" } ?? ""
            add("challenge", challenge.scheme + realm, &lines)
            if isDecided {
                add("answer", "not asked: a challenge before it is answered", &lines)
                continue
            }
            for trace in challenge.traces { add("rule", Self.words(trace), &lines) }
            add("answer", Self.words(challenge.decision, challenge.scheme), &lines)
            isDecided = challenge.decision.answer != .reject
        }
        return lines.map { $0 + "\n" }.joined()
    }

    private func add(_ label: String, _ value: String, _ lines: inout [String]) {
        let padding = String(repeating: " ", count: max(1, 15 - label.utf8.count))
        // A realm or a URL is whatever a peer or a user wrote; it must not steer the terminal.
        let safe = value.unicodeScalars.map { $0.properties.generalCategory == .control ? "\u{FFFD}" : $0 }
        lines.append("  \(label)\(padding)\(String(String.UnicodeScalarView(safe)))")
    }

    private var routeWords: String {
        let what = route.action == .deny ? "deny" : route.decodesContent ? "tunnel, decode" : "tunnel"
        return route.rule.map { "\(what), by route \($0.name ?? "") (\($0.place))" } ?? "\(what), for no route matches"
    }

    private static func words(_ trace: RuleTrace) -> String {
        let reason =
            switch trace.outcome {
            case .matched: "matches"
            case .failed(_, let reason): "no: \(reason)"
            case .depends(let words): words
            }
        let name = trace.rule.name.map { " \"\($0)\"" } ?? ""
        return "\(trace.rule.place)\(name): \(reason)"
    }

    private static func words(_ decision: Decision, _ scheme: String) -> String {
        guard let rule = decision.rule else { return "default, for no rule matches" }
        let by = "by \(rule)"
        switch decision.answer {
        case .use(let name):
            return "use \(name) with \(scheme), attempts \(decision.attempts), "
                + "persistence \(decision.persistence.rawValue), preempt \(decision.isPreemptive ? "yes" : "no"), \(by)"
        case .performDefault: return "default: a credential of the request's own, else the response as it is, \(by)"
        case .reject: return "reject: go on to the response's next challenge, \(by)"
        case .cancel: return "cancel: the client gets a 502 that names this rule, \(by)"
        }
    }
}
