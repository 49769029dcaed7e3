import Bytes
import Model

/// The request to explain.
public struct ExplainedRequest: Sendable, Equatable {
    public var method: String
    /// The URL as the user gave it, without user and password.
    public var url: String
    public var host: String
    public var port: UInt16
    public var `protocol`: NetworkProtocol
    public var client: ClientIdentity
    /// The user in the URL, if it has a user and password; nil otherwise.
    public var urlUser: String? = nil
    /// The host's addresses, if the caller looked them up; an address in the URL needs no lookup.
    public var addresses: [IPAddress] = []
    /// The assumed problems of the origin's chain; empty if unknown.
    public var findings: TrustFindings = []
    /// The issuers that the origin is assumed to ask for, as RFC 4514 text; empty if unknown.
    public var issuers: [String] = []
    /// The current day, for rules that end on a day.
    public var today: Day?
    /// Whether the client opens a tunnel for the request, as clients do for https.
    public var isInTunnel = false
    /// The number of refused answers of this request.
    public var failures = 0
    /// The path and query that the origin gets.
    public var target = "/"
    /// The issuers of the rule file's certificates, by the credential's name; missing ones are unknown.
    public var certificates: [String: [String]] = [:]
    /// The result of asking the server itself; nil if it was not asked.
    public var asked: String?
    /// The token that each credential of a registry would be exchanged for before any challenge is known, by the
    /// credential's name.
    public var expectedTokens: [String: [ExplainedLine]] = [:]

    public init(
        method: String, url: String, host: String, port: UInt16, protocol: NetworkProtocol, client: ClientIdentity
    ) {
        self.method = method
        self.url = url
        self.host = host
        self.port = port
        self.protocol = `protocol`
        self.client = client
    }

    /// Whether the request is for a tunnel only.
    var isTunnel: Bool { method == "CONNECT" }

    /// Whether the proxy is asked for a tunnel.
    var opensTunnel: Bool { isTunnel || isInTunnel }

    /// The reason why challenges on that route are not answered under any rules; nil if the rules decide.
    func reasonForNone(on route: RouteDecision) -> String? {
        if opensTunnel, route.action != .intercept {
            let advice = isInTunnel ? "; 'route \(host) { intercept }' decrypts it" : ""
            return "the proxy cannot read this tunnel\(advice)"
        }
        let isEchoed = ["TRACE", "TRACK"].contains(method.uppercased())
        return isEchoed ? "the response to a TRACE would show the credential" : nil
    }

    /// The request as the origin gets it: with https if the route upgrades it, and without the tunnel if that is
    /// intercepted.
    public func atOrigin(by rules: RuleSet) -> ExplainedRequest {
        let route = rules.route(host: host.utf8Span.span, port: port)
        var request = self
        if isTunnel {
            request.protocol = .https
        } else if `protocol` == .http, let upgrade = route.upgrade {
            request.protocol = .https
            request.port = upgrade.port(from: port)
        }
        return request
    }

    /// A challenge that this request may meet at its origin, of a method that sends the credential itself.
    public func query(method: AuthenticationMethod, realm: String? = nil) -> ChallengeQuery {
        var query = ChallengeQuery(
            host: host, port: port, protocol: `protocol`, realm: realm, method: method, client: client)
        query.isSecure = `protocol` == .https
        query.today = today
        return query
    }

    /// The challenges of a response to explain.
    public struct Response: Sendable, Equatable {
        public struct Offer: Sendable, Equatable {
            /// The caller's name for the challenge, for example `Digest SHA-256`.
            public let scheme: String
            public let query: ChallengeQuery
            /// The state of the protection space; nil if unknown.
            public let space: ExplainedSpace?
            /// The token that each credential with an issuer or for registries would be exchanged for, by the
            /// credential's name.
            public var tokens: [String: [ExplainedLine]] = [:]
            /// The lines about a challenge that no credential answers.
            public var unanswered: [ExplainedLine] = []

            public init(scheme: String, query: ChallengeQuery, space: ExplainedSpace? = nil) {
                self.scheme = scheme
                self.query = query
                self.space = space
            }
        }

        /// The challenges that can be answered, in the order in which they would be tried.
        public var offers: [Offer]
        /// The rule that set the order; nil if they are ordered by strength.
        public var orderedBy: RuleReference?
        /// The challenges that are skipped, with the reason: one sentence each.
        public var ignored: [String]
        /// Whether a parent proxy sent the response.
        public var isOfParent = false

        public init(offers: [Offer], orderedBy: RuleReference? = nil, ignored: [String] = []) {
            self.offers = offers
            self.orderedBy = orderedBy
            self.ignored = ignored
        }
    }
}

/// A line of an explanation.
public struct ExplainedLine: Sendable, Equatable {
    public let label: String
    public let text: String

    public init(_ label: String, _ text: String) {
        self.label = label
        self.text = text
    }
}
