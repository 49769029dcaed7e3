import Bytes

/// One of the ways that a PAC file returns, in order.
public enum PACPath: Equatable, Sendable {
    /// The protocol of a proxy.
    public enum Scheme: Sendable {
        case http, https, socks4, socks5
    }

    case direct
    /// The host in its canonical spelling (`HostSpelling`).
    case proxy(Scheme, host: String, port: UInt16)

    /// The limit of ways for one request.
    static let limit = 32

    /// Parses the result of `FindProxyForURL`: `PROXY a:8080; SOCKS5 b:1080; DIRECT`. An empty text means directly.
    /// Unknown entries are omitted, so the list may be empty.
    public static func list(_ text: String) -> [PACPath] {
        let entries = text.split(separator: ";").map { $0.split(whereSeparator: { $0 == " " || $0 == "\t" }) }
        let said = entries.filter { !$0.isEmpty }
        return said.isEmpty ? [.direct] : Array(said.compactMap(way).prefix(limit))
    }

    private static func way(_ words: [Substring]) -> PACPath? {
        let word = words[0].uppercased()
        if word == "DIRECT" { return words.count == 1 ? .direct : nil }
        let scheme: Scheme
        let usualPort: UInt16
        switch word {
        case "PROXY", "HTTP": (scheme, usualPort) = (.http, 80)
        case "HTTPS": (scheme, usualPort) = (.https, 443)
        // As in browsers: SOCKS 4, unless SOCKS5 is named.
        case "SOCKS", "SOCKS4": (scheme, usualPort) = (.socks4, 1080)
        case "SOCKS5": (scheme, usualPort) = (.socks5, 1080)
        default: return nil
        }
        guard words.count == 2, let (host, port) = place(words[1]) else { return nil }
        return .proxy(scheme, host: host, port: port ?? usualPort)
    }

    private static func place(_ text: Substring) -> (host: String, port: UInt16?)? {
        var host = text
        var port: UInt16?
        if let colon = text.lastIndex(of: ":"), !text.hasSuffix("]"),
            text.first == "[" || text.firstIndex(of: ":") == colon
        {
            guard let number = UInt16(text[text.index(after: colon)...]), number > 0 else { return nil }
            (host, port) = (text[..<colon], number)
        }
        if host.hasPrefix("["), host.hasSuffix("]") {
            host = host.dropFirst().dropLast()
            guard IPAddress(String(host))?.family == .v6 else { return nil }
        }
        let isName = host.utf8.allSatisfy { $0.isAlphanumeric || "-._".utf8.contains($0) }
        guard !host.isEmpty, isName || IPAddress(String(host)) != nil else { return nil }
        return (HostSpelling.canonical(String(host)), port)
    }
}
