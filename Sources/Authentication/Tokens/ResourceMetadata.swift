import Bytes
import Model

/// The parts of a server's metadata that tell which token it wants (RFC 9728 section 2). The server names resource and
/// scopes; the rule file names the issuer, which must be among the server's.
public struct ResourceMetadata: Sendable {
    /// The resource, on the server's own origin.
    public let resource: String
    /// The resource's path.
    public let path: [UInt8]
    /// The issuers whose tokens the server takes, as it writes them.
    public let issuers: [String]
    private let scopes: [String]

    /// The limit of scopes of one token, and of the bytes of each and of all.
    private static let (scopeLimit, scopeLength, scopeBytes) = (32, 256, 2048)
    /// The limit of bytes of a URL that a server names, and of the issuers that are read.
    private static let (urlLength, issuerLimit) = (1024, 16)

    /// The places of a server's metadata in the order in which they are tried (RFC 9728 sections 3.1 and 5.1).
    ///
    /// - Parameters:
    ///   - announced: the value of `resource_metadata`. A URL of another origin counts as absent.
    ///   - target: the target of the request.
    public static func places(
        on origin: Origin, announced: String?, for target: [UInt8]
    ) -> (places: [HTTPEndpoint], isAnnounced: Bool) {
        if let url = announced.flatMap(HTTPEndpoint.init), url.isOn(origin) { return ([url], true) }
        let host = origin.host.contains(":") ? "[\(origin.host)]" : origin.host
        let root = "\(origin.protocol.rawValue)://\(host):\(origin.port)/.well-known/oauth-protected-resource"
        let path = String(decoding: target.prefix { $0 != .question }, as: UTF8.self)
        let places = path == "/" || path.utf8.count > urlLength ? [root] : [root + path, root]
        return (places.compactMap { HTTPEndpoint($0) }, false)
    }

    /// - Parameters:
    ///   - origin: the origin of the request. The resource must be on it.
    ///   - target: the target of the request. The resource's path must be a prefix of it.
    /// - Throws: the reason why the document tells nothing.
    public init(status: Int, content: [UInt8], on origin: Origin, for target: [UInt8]) throws(TokenError) {
        guard status == 200 else { throw .unannounced("the server's metadata has status \(status)", isDefinite: false) }
        guard let members = JSONMembers(content) else {
            throw .unannounced("the server's metadata is not a JSON object", isDefinite: false)
        }
        guard let text = members.text("resource"), text.count <= Self.urlLength, let url = HTTPEndpoint(text.span.text),
            url.isOn(origin), !url.target.contains("?"), AnnouncedTokens.covers(Array(url.target.utf8), target)
        else {
            let named = members.text("resource").map { "'\(TokenResponse.printable($0))'" } ?? "no resource"
            throw .unannounced("the server's metadata is for another resource (\(named))", isDefinite: true)
        }
        resource = text.span.text
        path = Array(url.target.utf8)
        let issuers = (members.texts("authorization_servers") ?? []).filter { $0.count <= Self.urlLength }
        self.issuers = issuers.prefix(Self.issuerLimit).map { $0.span.text }
        scopes = Self.scopes(members.texts("scopes_supported") ?? [])
    }

    /// Checks that the server takes tokens of the issuer.
    public func check(_ issuer: TokenIssuer, on origin: Origin) throws(TokenError) {
        let wanted = "\(issuer)"
        let isListed = issuers.contains { other in
            if other.utf8.elementsEqual(wanted.utf8) { return true }
            // Servers write the slash of an empty path, or leave it out.
            guard issuer.url.target == "/", let url = TokenIssuer(other)?.url else { return false }
            return url.target == "/" && "\(url)" == "\(issuer.url)"
                && (other.utf8.dropLast().elementsEqual(wanted.utf8)
                    || wanted.utf8.dropLast().elementsEqual(other.utf8))
        }
        if isListed { return }
        let others = issuers.prefix(3).map { TokenResponse.printable(Array($0.utf8)) }.joined(separator: ", ")
        let served = others.isEmpty ? "names no issuer" : "is served by \(others)"
        throw .unannounced("\(origin.host) \(served), the rule file names \(wanted)", isDefinite: true)
    }

    /// The scopes to ask for: those of the challenge, else those of the metadata, as far as the rule file allows; if
    /// neither names any, all that it allows.
    ///
    /// - Parameters:
    ///   - challenge: the value of `scope` in the challenge.
    ///   - ceiling: the scopes that the rule file allows; `*` for all.
    /// - Throws: the scopes that are not allowed, if that is all of them.
    public static func scopes(
        _ challenge: String?, of metadata: ResourceMetadata?, within ceiling: [String]
    ) throws(TokenError) -> [String] {
        let announced = metadata?.scopes(for: challenge) ?? words(of: challenge)
        let allowsAll = ceiling == ["*"]
        if announced.isEmpty { return allowsAll ? [] : ceiling }
        let allowed = allowsAll ? announced : announced.filter(ceiling.contains)
        if allowed.isEmpty {
            let words = announced.joined(separator: " ")
            throw .unannounced(
                "the server wants the scope '\(words)', which the rule file does not allow: write 'scope \(words)'",
                isDefinite: false)
        }
        return allowed
    }

    /// The valid scopes in the value of `scope` of a challenge.
    public static func words(of challenge: String?) -> [String] {
        challenge.map { scopes($0.utf8.split(separator: .space).map(Array.init)) } ?? []
    }

    /// The valid scopes (RFC 6749 section 3.3), each once and in order.
    private static func scopes(_ texts: [[UInt8]]) -> [String] {
        let valid = texts.prefix(scopeLimit).filter { text in
            (1...scopeLength).contains(text.count)
                && text.allSatisfy { $0 > .space && $0 < .delete && $0 != .quote && $0 != .backslash }
        }
        var (scopes, room) = (Set<String>(), scopeBytes)
        for text in valid where text.count <= room {
            if scopes.insert(text.span.text).inserted { room -= text.count }
        }
        return scopes.sorted()
    }

    /// The scopes of both, each once and in order; nil if they are more than one token may have.
    public static func scopesTogether(_ scopes: [String], _ others: [String]) -> [String]? {
        let union = Set(scopes + others)
        let isWithinLimits = union.count <= scopeLimit && union.reduce(0) { $0 + $1.utf8.count } <= scopeBytes
        return isWithinLimits ? union.sorted() : nil
    }

    /// The scopes that the server asks for: those of the challenge, else those of the metadata.
    ///
    /// - Parameter challenge: the value of `scope` in the challenge.
    public func scopes(for challenge: String?) -> [String] {
        let named = Self.words(of: challenge)
        return named.isEmpty ? scopes : named
    }

    /// The issuers that a rule file may name.
    public var usableIssuers: [String] { issuers.filter { TokenIssuer($0)?.url.isSafe ?? false } }
}

extension HTTPEndpoint {
    /// Whether the URL has the origin's scheme, host and port.
    fileprivate func isOn(_ origin: Origin) -> Bool {
        isSecure == (origin.protocol == .https) && Origin(host: host, port: port, protocol: origin.protocol) == origin
    }
}
