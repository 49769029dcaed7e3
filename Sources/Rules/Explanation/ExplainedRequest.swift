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
    /// What the host resolves to, if the caller asked; an address that stands in the URL is found without it.
    public var addresses: [IPAddress]

    public init(
        method: String, url: String, host: String, port: UInt16, protocol: ChallengeProtocol, client: ClientIdentity,
        addresses: [IPAddress] = []
    ) {
        self.method = method
        self.url = url
        self.host = host
        self.port = port
        self.protocol = `protocol`
        self.client = client
        self.addresses = addresses
    }

    /// A challenge that this request may meet at its origin.
    public func query(method: ChallengeMethod, realm: String? = nil, failures: Int = 0) -> ChallengeQuery {
        ChallengeQuery(
            host: host, port: port, protocol: `protocol`, realm: realm, method: method,
            isSecure: `protocol` == .https, client: client, failures: failures)
    }
}
