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
    /// Nil unless the request is a CONNECT.
    public let connectIsAllowed: Bool?
    /// One for each address that is known without asking the DNS.
    public let egress: [(address: IPAddress, decision: EgressDecision)]
    public let authorization: Configuration.Challenge.Authorization
    /// Nil: none was given.
    public let response: ExplainedResponse?
    public let challenges: [Challenge]
    /// What every rule would need, when no response is given.
    public let prospects: [RuleTrace]
    public let outlooks: [Outlook]

    public init(_ request: ExplainedRequest, response: ExplainedResponse? = nil, rules: RuleSet) {
        self.request = request
        self.response = response
        clientIsAllowed = rules.clients.permits(request.client.address)
        clientIsAsked = rules.configuration.clients.authentication != .none
        route = rules.route(host: request.host.utf8Span.span, port: request.port)
        connectIsAllowed = request.isTunnel ? rules.egress.permitsConnect(port: request.port) : nil
        let literal = HostPattern.withName(of: request.host.utf8Span.span) { HostPattern.address($0) }
        egress = (literal.map { [$0] } ?? request.addresses).map { address in
            (address, rules.egress.permits(address, port: request.port))
        }
        authorization = rules.authorization(
            host: request.host.utf8Span.span, port: request.port, protocol: request.protocol,
            isSecure: request.protocol == .https, client: request.client)
        challenges = (response?.offers ?? []).map { offer in
            Challenge(
                scheme: offer.scheme, query: offer.query, decision: rules.decide(offer.query),
                traces: rules.explain(offer.query))
        }
        let isOpen = response == nil && request.reasonForNone == nil
        prospects = isOpen ? rules.prospects(request.query(method: .unknown)) : []
        let methods: [ChallengeMethod] = isOpen ? [.digest, .basic] : []
        outlooks = methods.map { method in
            var query = request.query(method: method)
            if method == .digest { query.isSecure = true }
            return Outlook(method: method, answers: rules.possibleAnswers(query))
        }
    }

    public var text: String { ExplanationText(self).text }
}
