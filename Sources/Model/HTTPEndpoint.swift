import Bytes

/// A server for the proxy's own requests, such as the token endpoint of RFC 6749 section 3.2: a parsed `http` or
/// `https` URL.
public struct HTTPEndpoint: Sendable, Hashable, CustomStringConvertible {
    public let isSecure: Bool
    /// The host in its canonical spelling (`HostSpelling`).
    public let host: String
    public let port: UInt16
    /// The path and the query.
    public let target: String

    /// Nil if it is not a valid URL of these schemes, or if it has a user, a fragment or an invalid port.
    public init?(_ url: String) {
        let lowercased = url.lowercased()
        guard lowercased.hasPrefix("https://") || lowercased.hasPrefix("http://") else { return nil }
        isSecure = lowercased.hasPrefix("https://")
        let rest = url.dropFirst(isSecure ? 8 : 7)
        let authority = rest.prefix { $0 != "/" && $0 != "?" }
        let target = rest.dropFirst(authority.count)
        guard !authority.contains("@"), !url.contains("#"), url.utf8.allSatisfy({ $0 > .space && $0 < .delete }) else {
            return nil
        }
        self.target = target.hasPrefix("/") ? String(target) : "/" + target
        let isBracketed = authority.hasPrefix("[")
        guard
            let end = isBracketed ? authority.firstIndex(of: "]") : authority.firstIndex(of: ":") ?? authority.endIndex
        else { return nil }
        host = HostSpelling.canonical(String(authority[..<end].drop { $0 == "[" }))
        let port = authority[end...].drop { $0 == "]" }
        guard !host.isEmpty, port.isEmpty || port.hasPrefix(":") && UInt16(port.dropFirst()) != nil else { return nil }
        self.port = UInt16(port.dropFirst()) ?? (isSecure ? 443 : 80)
    }

    /// The value of `Host`.
    public var authority: String {
        let name = host.contains(":") ? "[\(host)]" : host
        return port == (isSecure ? 443 : 80) ? name : "\(name):\(port)"
    }

    public var description: String { "\(isSecure ? "https" : "http")://\(authority)\(target)" }

    /// Whether the endpoint is on this machine: 127.0.0.0/8, ::1 or `localhost`.
    public var isLocal: Bool { host == "localhost" || IPAddress(host)?.isLoopback == true }

    /// Whether a secret may be sent to the endpoint: by TLS, or on this machine.
    public var isSafe: Bool { isSecure || isLocal }
}
