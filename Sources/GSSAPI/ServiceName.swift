import CGSSAPI
import Glibc

/// A service that needs a ticket.
public struct ServiceName: Sendable, Hashable, CustomStringConvertible {
    public let service: String
    public let host: String
    /// The realm; nil: the one that the configuration maps the host to, or that the KDC knows.
    public let realm: String?
    /// Whether the host is replaced by its canonical name in the DNS, after any CNAME.
    public let canonicalises: Bool

    /// Creates the name of the service `HTTP` (RFC 4559 section 4.1).
    public init(host: String, canonicalises: Bool = false) {
        service = "HTTP"
        self.host = host
        realm = nil
        self.canonicalises = canonicalises
    }

    /// Parses `SERVICE/HOST` or `SERVICE/HOST@REALM`, or GSSAPI's `SERVICE@HOST`; nil for anything else.
    public init?(_ text: String, canonicalises: Bool = false) {
        var rest = text[...]
        var realm: Substring?
        if let slash = rest.firstIndex(of: "/") {
            service = String(rest[..<slash])
            rest = rest[rest.index(after: slash)...]
            if let at = rest.lastIndex(of: "@") {
                realm = rest[rest.index(after: at)...]
                rest = rest[..<at]
            }
        } else {
            guard let at = rest.firstIndex(of: "@") else { return nil }
            service = String(rest[..<at])
            rest = rest[rest.index(after: at)...]
        }
        host = String(rest)
        self.realm = realm.map { String($0) }
        self.canonicalises = canonicalises
        guard !service.isEmpty, !host.isEmpty, realm?.isEmpty != true else { return nil }
    }

    /// The name of the service's principal. Blocks if the DNS is asked.
    func principalName(in context: KerberosContext) -> String {
        let host = canonicalises ? Self.canonical(host) : host
        let realm = realm ?? context.realm(ofHost: host)
        return "\(Self.escaped(service))/\(Self.escaped(host))@\(Self.escaped(realm))"
    }

    /// The host's canonical name after any CNAME; the host itself if the DNS has none.
    private static func canonical(_ host: String) -> String {
        var hints = addrinfo()
        hints.ai_flags = AI_CANONNAME
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        var result: UnsafeMutablePointer<addrinfo>?
        guard getaddrinfo(host, nil, &hints, &result) == 0, let result else { return host }
        defer { freeaddrinfo(result) }
        guard let name = result.pointee.ai_canonname else { return host }
        let canonical = String(cString: name).lowercased()
        return canonical.hasSuffix(".") ? String(canonical.dropLast()) : canonical
    }

    private static func escaped(_ part: String) -> String {
        var text = ""
        for character in part {
            if character == "/" || character == "@" || character == "\\" { text.append("\\") }
            text.append(character)
        }
        return text
    }

    /// The name as a rule writes it.
    public var description: String { "\(service)/\(host)" + (realm.map { "@\($0)" } ?? "") }
}
