import Bytes
import Model

/// Explains the treatment of a request: the route, the egress verdict, and for each challenge every rule up to the
/// deciding one. A value; `attache explain` prints `Explanation.Text`.
public struct Explanation: Sendable {
    /// The possible answers to a method's challenges, before a challenge is known.
    public struct Outlook: Sendable, Equatable {
        public let method: AuthenticationMethod
        public let answers: [Configuration.ChallengeRule.Action]
        /// The token that the answer would be exchanged for, or the credentials that do not answer; mostly empty.
        var token: [ExplainedLine] = []

        /// The answers to Basic challenges, without the credentials whose user and password are for a token server on
        /// another host.
        static func basic(
            _ answers: [Configuration.ChallengeRule.Action], to query: ChallengeQuery, by rules: RuleSet
        ) -> Outlook {
            var lines: [ExplainedLine] = []
            let left = answers.map { answer -> Configuration.ChallengeRule.Action in
                guard case .use(let names) = answer else { return answer }
                let rest = names.filter { name in
                    let reason = rules.configuration.reasonAgainstBasic(name, to: query)
                    if let reason { lines.append(ExplainedLine("not used", reason)) }
                    return reason == nil
                }
                return rest.isEmpty ? .reject : .use(rest)
            }
            return Outlook(method: .basic, answers: left, token: lines)
        }
    }

    public let request: ExplainedRequest
    public let clientIsAllowed: Bool
    /// Whether the proxy authenticates its clients.
    public let clientIsAsked: Bool
    /// Whether the client is the user that a listener names.
    let clientIsNamed: Bool
    public let route: RouteDecision
    /// The request as the origin gets it; unchanged if it is neither upgraded nor intercepted.
    public let asked: ExplainedRequest
    /// The places of the listeners whose clients may choose HTTP/2.
    let http2Listeners: [String]
    /// The TLS handshake with the origin; nil if the proxy would see none.
    public let handshake: Explanation.Handshake?
    /// Whether a rule names NTLM or Negotiate for the origin.
    let namesLogin: Bool
    static let loginWords = "a rule names NTLM or Negotiate, which need HTTP/1.1"
    /// The reason why no challenge is answered under any rules; nil if the rules decide.
    public let reasonForNone: String?
    /// Whether CONNECT is allowed; nil unless the request is a CONNECT.
    public let connectIsAllowed: Bool?
    /// The decisions for the addresses that are known without the DNS.
    public let egress: [(address: IPAddress, decision: EgressPolicy.Decision)]
    /// The paths through parents, of which the first that works is used; empty for a direct connection.
    let parents: [Explanation.Parent]
    public let authorization: Configuration.ChallengeRule.Authorization
    /// The rounds of asking the rules about the response: one more for each credential that counts as refused. Nil if
    /// no response was given.
    public let rounds: [Round]?
    /// The knowledge beyond the rule file; nil if the caller gives none.
    public let knowledge: Knowledge?
    /// The conditions of every rule, if no response is given.
    public let prospects: [RuleSet.Trace]
    public let outlooks: [Outlook]
    /// Whether the rule file has any `challenge`.
    let hasRules: Bool

    /// - Parameter response: the response after the given number of refused answers.
    public init(
        _ request: ExplainedRequest, response: ((Int) -> ExplainedRequest.Response)?, rules: RuleSet,
        knowledge: Knowledge? = nil
    ) {
        self.request = request
        self.knowledge = knowledge
        clientIsAllowed = rules.clients.permits(request.client.address)
        clientIsAsked = !rules.configuration.clients.methods.isEmpty
        let user = request.client.user
        let hasNegotiate = rules.configuration.clients.methods.contains(.negotiate)
        http2Listeners = rules.configuration.listeners.filter { listener in
            if let tls = listener.tls { return tls.offersHTTP2 && !hasNegotiate }
            return listener.speaksHTTP2 && (listener.client != nil || !hasNegotiate)
        }.map { "\($0.place)" }
        clientIsNamed = rules.configuration.listeners.contains { listener in
            user.map { listener.client?.hasSameBytes(as: $0) ?? false } ?? false
        }
        route = rules.route(host: request.host.utf8Span.span, port: request.port)
        let rounds = response.map { Round.all(of: $0, to: request, by: rules) }
        self.rounds = rounds
        let isOfParent = rounds?.first?.response.isOfParent ?? false
        reasonForNone = isOfParent ? nil : request.reasonForNone(on: route)
        let asked = request.atOrigin(by: rules)
        self.asked = asked
        let isSecured = asked.protocol == .https && (!request.opensTunnel || route.action == .intercept)
        handshake = isSecured ? Explanation.Handshake(asked, terms: route.tls, rules: rules) : nil
        namesLogin = rules.namesLogin(host: asked.host.utf8Span.span, port: asked.port, isProxy: false)
        connectIsAllowed = request.opensTunnel ? rules.egress.permitsConnect(port: request.port) : nil
        let literal = HostPattern.withName(of: request.host.utf8Span.span) { HostPattern.address($0) }
        egress = (literal.map { [$0] } ?? request.addresses).map { address in
            (address, rules.egress.permits(address, port: asked.port))
        }
        let way = route.parentList?.legs(to: request.host.utf8Span.span) ?? []
        parents = way.map { [route] leg in Explanation.Parent(leg, for: asked, on: route, by: rules) }
        authorization = rules.authorization(
            host: request.host.utf8Span.span, port: asked.port, protocol: asked.protocol,
            isSecure: asked.protocol == .https, client: request.client)
        hasRules = !rules.configuration.challenges.isEmpty
        let isOpen = rounds == nil && reasonForNone == nil
        prospects = isOpen ? rules.prospects(asked.query(method: .default)) : []
        let methods: [AuthenticationMethod] = isOpen ? [.bearer, .digest, .basic] : []
        outlooks = methods.compactMap { method in
            var query = asked.query(method: method)
            if method == .digest { query.isSecure = true }
            let answers = rules.possibleAnswers(query)
            if method == .basic { return Outlook.basic(answers, to: query, by: rules) }
            guard method == .bearer else { return Outlook(method: method, answers: answers) }
            let names = answers.flatMap { answer -> [String] in
                if case .use(let names) = answer { names } else { [] }
            }
            let token = names.compactMap { request.expectedTokens[$0] }.first
            return token.map { Outlook(method: method, answers: answers, token: $0) }
        }
    }

    /// The reason why the client gets a refusal without any server being asked; nil if a server is asked.
    var refusal: String? {
        if !clientIsAllowed { return "'clients' does not allow this client" }
        if route.action == .deny { return "the route denies it" }
        if connectIsAllowed == false {
            return "CONNECT is not allowed to port \(request.port): add it to 'egress { connect-ports … }'"
        }
        if !egress.isEmpty, egress.allSatisfy({ !$0.decision.isPermitted }) { return "'egress' refuses the address" }
        return nil
    }

    public var text: String { Text(self).text }

    /// The TLS connection to the origin in an explanation: its terms, and the rules' answers to the two challenges that a
    /// handshake may bring.
    public struct Handshake: Sendable, Equatable {
        /// A TLS challenge, with the rules' answer.
        public struct Challenge: Sendable, Equatable {
            public let query: ChallengeQuery
            /// The ruling; nil if it depends on problems or issuers that the caller did not give.
            public let ruling: RuleDecision?
            /// The rules up to the deciding one, if there is a ruling; else the conditions of each rule.
            public let traces: [RuleSet.Trace]
            /// Whether the deciding rule names hosts.
            let namesHosts: Bool
            /// The credentials whose certificates were refused before, as far as the rules tell.
            var refused: [String] = []

            /// Returns the credentials in `names` whose certificates the server accepts, as far as known.
            ///
            /// - Parameter certificates: see `ExplainedRequest`.
            func accepted(of names: [String], by certificates: [String: [String]]) -> [String] {
                names.filter { name in certificates[name]?.contains { query.issuers.contains($0) } ?? true }
            }

            /// Returns the credentials that are shown, one after the other. If the rule names its hosts, also if the server
            /// accepts none.
            func candidates(among names: [String], by certificates: [String: [String]]) -> [String] {
                let accepted = accepted(of: names, by: certificates)
                return (accepted.isEmpty && namesHosts ? names : accepted).filter { !refused.contains($0) }
            }
        }

        /// The TLS terms; nil if the route sets none.
        public let terms: Configuration.TLSTerms?
        public let trust: Challenge
        public let certificate: Challenge

        /// - Parameter request: the request as the origin gets it.
        init(_ request: ExplainedRequest, terms: Configuration.TLSTerms?, rules: RuleSet) {
            self.terms = terms
            var query = request.query(method: .serverTrust)
            query.findings = request.findings
            trust = Self.challenge(query, isKnown: !request.findings.isEmpty, rules)
            query = request.query(method: .clientCertificate)
            query.issuers = request.issuers
            var (refused, certificate) = ([String](), Challenge?.none)
            for failures in 0...request.failures {
                query.failures = failures
                var challenge = Self.challenge(query, isKnown: !request.issuers.isEmpty, rules)
                challenge.refused = refused
                if case .use(let names)? = challenge.ruling?.action {
                    refused += challenge.candidates(among: names, by: request.certificates).prefix(1)
                }
                certificate = challenge
            }
            self.certificate = certificate ?? Self.challenge(query, isKnown: false, rules)
        }

        private static func challenge(_ query: ChallengeQuery, isKnown: Bool, _ rules: RuleSet) -> Challenge {
            let ruling = isKnown ? rules.decide(query) : nil
            let rule = ruling?.rule
            return Challenge(
                query: query, ruling: ruling, traces: isKnown ? rules.explain(query) : rules.prospects(query),
                namesHosts: rules.configuration.challenges.contains { $0.rule === rule && $0.namesHosts })
        }
    }

    /// A path that a request may take, in an explanation.
    struct Parent: Sendable, Equatable {
        /// The possible answers to a challenge, with a label for the challenge.
        struct Outlook: Sendable, Equatable {
            let label: String
            let answers: [Configuration.ChallengeRule.Action]
        }

        let leg: Configuration.ParentList.Leg
        /// The path of the request, in words.
        let passage: String
        /// Whether the proxy offers HTTP/2 to the parent, in words; nil for a parent that speaks no HTTP.
        let http2: String?
        let outlooks: [Outlook]

        /// - Parameter request: the request as the origin gets it.
        init(
            _ leg: Configuration.ParentList.Leg, for request: ExplainedRequest, on route: RouteDecision,
            by rules: RuleSet
        ) {
            self.leg = leg
            guard case .server(let server, _) = leg else {
                passage = ""
                http2 = nil
                outlooks = []
                return
            }
            let speaksHTTP = server.scheme == .http || server.scheme == .https
            if !speaksHTTP {
                passage = "which resolves the name"
            } else {
                let isRelayed = request.protocol == .http && route.http2 != .priorKnowledge
                passage = isRelayed ? "which sends the request" : "by a tunnel (CONNECT)"
            }
            http2 = speaksHTTP ? Self.http2(server, for: request, on: route, by: rules) : nil
            let methods: [(AuthenticationMethod, String)] =
                switch server.scheme {
                case .http, .https: [(.digest, "407 digest"), (.basic, "407 basic")]
                case .socks5: [(.basic, "it asks for a password")]
                case .socks4a: []
                }
            outlooks = methods.map { method, label in
                var query = request.query(method: method)
                query.host = server.address.host
                query.port = server.address.port
                query.protocol = server.scheme == .https ? .https : speaksHTTP ? .http : .socks
                query.isProxy = true
                query.isSecure = server.scheme == .https || method == .digest
                return Outlook(label: label, answers: rules.possibleAnswers(query))
            }
        }

        private static func http2(
            _ server: Configuration.Parent.Server, for request: ExplainedRequest, on route: RouteDecision,
            by rules: RuleSet
        ) -> String {
            let no = "not offered to the parent"
            if server.scheme != .https { return "\(no): it is asked without TLS" }
            if !route.http2.isForOrigins { return no }
            if rules.namesLogin(host: server.address.host.utf8Span.span, port: server.address.port, isProxy: true) {
                return "\(no): \(Explanation.loginWords)"
            }
            return request.protocol == .ftp ? "\(no): ftp needs HTTP/1.1" : "offered to the parent"
        }
    }
}

extension Configuration {
    /// The reason why a registry's credential does not answer a Basic challenge: its user and password are for a token
    /// server on another host or port. Nil if it answers, and for other credentials.
    func reasonAgainstBasic(_ name: String, to query: ChallengeQuery) -> String? {
        guard case .registry(let source)? = credential(named: name)?.content, let server = source.server,
            !server.isOn(host: query.host, port: query.port)
        else { return nil }
        return "user and password of \(name) are for \(server), and not for this server"
    }
}
