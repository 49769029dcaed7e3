import Bytes

/// The request that an explanation is about.
public struct ExplainedRequest: Sendable, Equatable {
    public var method: String
    /// As the user gave it, without user and password.
    public var url: String
    public var host: String
    public var port: UInt16
    public var `protocol`: ChallengeProtocol
    public var client: ClientIdentity
    /// The user whose name and password stand in the URL; nil when none does.
    public var urlUser: String?
    /// What the host resolves to, if the caller asked; an address that stands in the URL is found without it.
    public var addresses: [IPAddress]
    /// What the evaluation of the origin's chain is supposed to find; empty: it is not known.
    public var findings: TrustFindings = []
    /// The issuers of certificates that the origin is supposed to ask for, as RFC 4514 text; empty: it is not known.
    public var issuers: [String] = []
    /// For rules that end on a day.
    public var today: Day?

    public init(
        method: String, url: String, host: String, port: UInt16, protocol: ChallengeProtocol, client: ClientIdentity,
        urlUser: String? = nil, addresses: [IPAddress] = []
    ) {
        self.method = method
        self.url = url
        self.host = host
        self.port = port
        self.protocol = `protocol`
        self.client = client
        self.urlUser = urlUser
        self.addresses = addresses
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
    public func query(method: ChallengeMethod, realm: String? = nil, failures: Int = 0) -> ChallengeQuery {
        ChallengeQuery(
            host: host, port: port, protocol: `protocol`, realm: realm, method: method,
            isSecure: `protocol` == .https, client: client, failures: failures, today: today)
    }
}
