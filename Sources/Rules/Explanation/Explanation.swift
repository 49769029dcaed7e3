import Bytes

/// Why a request would be treated as it would: the route, the egress verdict, and for each challenge every rule up to
/// the one that decides. A value; `ExplanationText` is what `attache explain` prints.
public struct Explanation: Sendable {
    /// A challenge with what the rules say to it.
    public struct Challenge: Sendable, Equatable {
        /// How the caller names the challenge, for example `Digest SHA-256`.
        public let scheme: String
        public let query: ChallengeQuery
        public let decision: Decision
        public let traces: [RuleTrace]
    }

    /// What a method's challenges may be answered with, as long as none is known.
    public struct Outlook: Sendable, Equatable {
        public let method: ChallengeMethod
        public let answers: [Configuration.Challenge.Answer]
    }

    public let request: ExplainedRequest
    public let clientIsAllowed: Bool
    /// Whether the proxy asks its clients who they are.
    public let clientIsAsked: Bool
    public let route: RouteDecision
    /// The request as the origin gets it; the same when nothing upgrades or looks into it.
    public let asked: ExplainedRequest
    /// Nil: there is no TLS with the origin that the proxy would see.
    public let handshake: ExplainedHandshake?
    /// Why no challenge is answered, whatever the rules say; nil: they decide.
    public let reasonForNone: String?
    /// Nil unless the request is a CONNECT.
    public let connectIsAllowed: Bool?
    /// One for each address that is known without asking the DNS.
    public let egress: [(address: IPAddress, decision: EgressDecision)]
    /// The ways through parents, the first that works first; empty: directly.
    let parents: [ExplainedParent]
    public let authorization: Configuration.Challenge.Authorization
    /// Nil: none was given.
    public let response: ExplainedResponse?
    public let challenges: [Challenge]
    /// What every rule would need, when no response is given.
    public let prospects: [RuleTrace]
    public let outlooks: [Outlook]
    /// Whether the rule file has any `challenge`.
    let hasRules: Bool

    public init(_ request: ExplainedRequest, response: ExplainedResponse? = nil, rules: RuleSet) {
        self.request = request
        self.response = response
        clientIsAllowed = rules.clients.permits(request.client.address)
        clientIsAsked = !rules.configuration.clients.methods.isEmpty
        route = rules.route(host: request.host.utf8Span.span, port: request.port)
        reasonForNone = request.reasonForNone(on: route)
        let asked = request.atOrigin(by: rules)
        self.asked = asked
        let isSecured = asked.protocol == .https && (!request.isTunnel || route.action == .intercept)
        handshake = isSecured ? ExplainedHandshake(asked, terms: route.tls, rules: rules) : nil
        connectIsAllowed = request.isTunnel ? rules.egress.permitsConnect(port: request.port) : nil
        let literal = HostPattern.withName(of: request.host.utf8Span.span) { HostPattern.address($0) }
        egress = (literal.map { [$0] } ?? request.addresses).map { address in
            (address, rules.egress.permits(address, port: asked.port))
        }
        let way = route.detour?.legs(to: request.host.utf8Span.span) ?? []
        parents = way.map { ExplainedParent($0, for: asked, by: rules) }
        authorization = rules.authorization(
            host: request.host.utf8Span.span, port: asked.port, protocol: asked.protocol,
            isSecure: asked.protocol == .https, client: request.client)
        challenges = (response?.offers ?? []).map { offer in
            Challenge(
                scheme: offer.scheme, query: offer.query, decision: rules.decide(offer.query),
                traces: rules.explain(offer.query))
        }
        hasRules = !rules.configuration.challenges.isEmpty
        let isOpen = response == nil && reasonForNone == nil
        prospects = isOpen ? rules.prospects(asked.query(method: .unknown)) : []
        let methods: [ChallengeMethod] = isOpen ? [.digest, .basic] : []
        outlooks = methods.map { method in
            var query = asked.query(method: method)
            if method == .digest { query.isSecure = true }
            return Outlook(method: method, answers: rules.possibleAnswers(query))
        }
    }

    public var text: String { ExplanationText(self).text }
}
