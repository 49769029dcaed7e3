import Bytes

/// The server that exchanges a grant for tokens (RFC 6749 section 1.1), as the rule file names it.
public enum AuthorizationServer: Sendable, Hashable, CustomStringConvertible {
    /// The token endpoint (RFC 6749 section 3.2), and the server's issuer identifier if the rule file has it.
    case endpoint(HTTPEndpoint, issuer: TokenIssuer? = nil)
    /// The issuer identifier. The token endpoint is in the issuer's metadata.
    case issuer(TokenIssuer)
    /// The token server of a registry, whose URL is compared as an issuer is; nil if it is on the registry's own host
    /// and port. The registry's challenge has the URL that is asked.
    case registry(TokenIssuer?)

    /// The token endpoint; nil if it must be discovered.
    public var endpoint: HTTPEndpoint? {
        if case .endpoint(let endpoint, _) = self { endpoint } else { nil }
    }

    public var issuer: TokenIssuer? {
        switch self {
        case .endpoint(_, let issuer): issuer
        case .issuer(let issuer): issuer
        case .registry: nil
        }
    }

    /// The URL in the rule file: the token endpoint, or else the issuer, or else a registry's token server; nil if the
    /// rule file has none.
    public var url: HTTPEndpoint? {
        switch self {
        case .endpoint(let endpoint, _): endpoint
        case .issuer(let issuer): issuer.url
        case .registry(let server): server?.url
        }
    }

    public var description: String {
        switch self {
        case .endpoint(let endpoint, _): "\(endpoint)"
        case .issuer(let issuer), .registry(let issuer?): "\(issuer)"
        case .registry(nil): "the registry"
        }
    }
}

/// The identifier of an authorization server (RFC 8414 section 2).
public struct TokenIssuer: Sendable, Hashable, CustomStringConvertible {
    /// The identifier as written; identifiers are equal if their bytes are.
    public let description: String
    public let url: HTTPEndpoint

    /// Nil if the text is no `http` or `https` URL, or has a user, a query or a fragment.
    public init?(_ text: String) {
        guard !text.contains("?"), let url = HTTPEndpoint(text) else { return nil }
        description = text
        self.url = url
    }

    /// Whether the URL is on that host and port.
    ///
    /// - Parameter host: in its canonical spelling (`HostSpelling`).
    public func isOn(host: String, port: UInt16) -> Bool { url.port == port && url.host.hasSameBytes(as: host) }

    /// The places of the issuer's metadata in the order in which they are tried: RFC 8414 section 3.1, the same place
    /// for OpenID Connect, and OpenID Connect Discovery 1.0 section 4.1.
    public var metadata: [HTTPEndpoint] {
        let root = "\(url.isSecure ? "https" : "http")://\(url.authority)"
        var path = url.target
        while path.hasSuffix("/") { path.removeLast() }
        var places = ["/.well-known/oauth-authorization-server\(path)", "/.well-known/openid-configuration\(path)"]
        if !path.isEmpty { places.append("\(path)/.well-known/openid-configuration") }
        return places.compactMap { HTTPEndpoint(root + $0) }
    }
}
