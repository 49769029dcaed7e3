import Bytes

/// Where the proxy itself asks, such as the token endpoint of RFC 6749 section 3.2: an `http` or `https` URL, taken apart.
public struct HTTPEndpoint: Sendable, Hashable, CustomStringConvertible {
    public let isSecure: Bool
    /// In its canonical spelling (`HostSpelling`).
    public let host: String
    public let port: UInt16
    /// Path and query.
    public let target: String

    /// Nil for what is no such URL, or has a user, a fragment or a port that is none.
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
}
