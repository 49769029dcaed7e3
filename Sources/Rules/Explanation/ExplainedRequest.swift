import Bytes
import Model

/// The request that an explanation is about.
public struct ExplainedRequest: Sendable, Equatable {
    public var method: String
    /// As the user gave it, without user and password.
    public var url: String
    public var host: String
    public var port: UInt16
    public var `protocol`: NetworkProtocol
    public var client: ClientIdentity
    /// The user whose name and password stand in the URL; nil when none does.
    public var urlUser: String? = nil
    /// The host's addresses, if the caller asked for them; an address that stands in the URL is found without them.
    public var addresses: [IPAddress] = []
    /// The findings that the evaluation of the origin's chain is supposed to have; empty: they are not known.
    public var findings: TrustFindings = []
    /// The issuers of certificates that the origin is supposed to ask for, as RFC 4514 text; empty: it is not known.
    public var issuers: [String] = []
    /// For rules that end on a day.
    public var today: Day?

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

    var isTunnel: Bool { method == "CONNECT" }

    /// Why no challenge is answered on that route, whatever the rules say; nil: they decide.
    func reasonForNone(on route: RouteDecision) -> String? {
        switch method {
        case "CONNECT": route.action == .intercept ? nil : "what a tunnel carries is not seen"
        case "TRACE": "the response to a TRACE would show the credential"
        default: nil
        }
    }

    /// The request as the origin gets it: by https where the route upgrades it, and as it is made in a tunnel that is
    /// looked into.
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
    public func query(method: AuthenticationMethod, realm: String? = nil, failures: Int = 0) -> ChallengeQuery {
        var query = ChallengeQuery(
            host: host, port: port, protocol: `protocol`, realm: realm, method: method, client: client)
        query.isSecure = `protocol` == .https
        query.failures = failures
        query.today = today
        return query
    }
}

/// The challenges of a response that an explanation is about.
public struct ExplainedResponse: Sendable, Equatable {
    public struct Offer: Sendable, Equatable {
        /// How the caller names the challenge, for example `Digest SHA-256`.
        public let scheme: String
        public let query: ChallengeQuery

        public init(scheme: String, query: ChallengeQuery) {
            self.scheme = scheme
            self.query = query
        }
    }

    /// The challenges that can be answered, in the order in which they would be tried.
    public var offers: [Offer]
    /// The rule that made that order; nil: strength did.
    public var orderedBy: RuleReference?
    /// The challenges that are passed over, with the reason: one sentence each.
    public var ignored: [String]

    public init(offers: [Offer], orderedBy: RuleReference? = nil, ignored: [String] = []) {
        self.offers = offers
        self.orderedBy = orderedBy
        self.ignored = ignored
    }
}
