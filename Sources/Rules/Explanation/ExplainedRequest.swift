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
    /// Whether the client opens a tunnel for it, as clients do for https.
    public var isInTunnel = false
    /// Answers of this request that were refused.
    public var failures = 0
    /// Path and query, as the origin gets them.
    public var target = "/"
    /// The issuers of the rule file's certificates, by the credential's name; those that are missing are not known.
    public var certificates: [String: [String]] = [:]
    /// The outcome of asking the server itself; nil: nobody did.
    public var asked: String?

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

    /// Whether a tunnel is all that is asked for.
    var isTunnel: Bool { method == "CONNECT" }

    /// Whether the proxy is asked for a tunnel.
    var opensTunnel: Bool { isTunnel || isInTunnel }

    /// Why no challenge is answered on that route, whatever the rules say; nil: they decide.
    func reasonForNone(on route: RouteDecision) -> String? {
        if opensTunnel, route.action != .intercept {
            let advice = isInTunnel ? "; 'route \(host) { intercept }' decrypts it" : ""
            return "the proxy cannot read this tunnel\(advice)"
        }
        let isEchoed = ["TRACE", "TRACK"].contains(method.uppercased())
        return isEchoed ? "the response to a TRACE would show the credential" : nil
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
        /// Nil: nothing is known of it.
        public let space: ExplainedSpace?

        public init(scheme: String, query: ChallengeQuery, space: ExplainedSpace? = nil) {
            self.scheme = scheme
            self.query = query
            self.space = space
        }
    }

    /// The challenges that can be answered, in the order in which they would be tried.
    public var offers: [Offer]
    /// The rule that made that order; nil: strength did.
    public var orderedBy: RuleReference?
    /// The challenges that are passed over, with the reason: one sentence each.
    public var ignored: [String]
    /// Whether a parent proxy gave it.
    public var isOfParent = false

    public init(offers: [Offer], orderedBy: RuleReference? = nil, ignored: [String] = []) {
        self.offers = offers
        self.orderedBy = orderedBy
        self.ignored = ignored
    }
}
