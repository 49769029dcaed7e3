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

    /// Why no challenge is answered, whatever the rules say; nil: they decide.
    var reasonForNone: String? {
        switch method {
        case "CONNECT": "what a tunnel carries is not seen"
        case "TRACE": "the response to a TRACE would show the credential"
        default: nil
        }
    }

    /// A challenge that this request may meet at its origin, of a method that sends the credential itself.
    public func query(method: ChallengeMethod, realm: String? = nil, failures: Int = 0) -> ChallengeQuery {
        ChallengeQuery(
            host: host, port: port, protocol: `protocol`, realm: realm, method: method,
            isSecure: `protocol` == .https, client: client, failures: failures)
    }
}
