import Bytes
import Model

/// The token that a registry asks for: its `Bearer` challenge with `realm`, `service` and `scope` (the token
/// authentication of the CNCF distribution project). The registry names the scopes; the rule file decides which token
/// server gets the user and password.
public struct RegistryChallenge: Sendable {
    /// The URL of the token server, which has been checked.
    public let server: HTTPEndpoint
    /// The name of the registry at the token server.
    public let service: String?
    public let scopes: RegistryScopes

    /// The limits of the bytes of a realm and of a service.
    private static let (realmLimit, serviceLimit) = (1024, 256)
    /// The visible characters that no usable realm has: those for a user and a fragment, and those that no URL has
    /// (RFC 3986 section 2), so that people can paste it into the rule file.
    private static let foreign = Array(#"@#\"<>^`{|}"#.utf8)

    /// - Parameters:
    ///   - origin: the registry.
    ///   - named: the token server that the rule file names; nil for one on the registry's own host and port.
    /// - Throws: the reason why no token server gets the user and password.
    public init(
        _ challenge: HeaderChallenge, from origin: Origin, named: TokenIssuer?
    ) throws(TokenError) {
        let host = origin.host
        guard let realm = challenge["realm"], !realm.isEmpty else {
            throw .unannounced("\(host) names no token server", isDefinite: false)
        }
        let shown = TokenResponse.printable(realm)
        let path = realm.prefix { $0 != UInt8(ascii: "?") }
        guard realm.count <= Self.realmLimit, !realm.contains(where: { Self.foreign.contains($0) }),
            let url = HTTPEndpoint(realm.span.text)
        else {
            throw .unannounced("\(host) names the token server '\(shown)', which is no usable URL", isDefinite: true)
        }
        let plain = TokenResponse.printable(Array(path))
        if let named {
            guard path.elementsEqual(named.description.utf8) else {
                throw .unannounced(
                    "\(host) names the token server \(plain), the rule file names \(named)", isDefinite: true)
            }
            // The rest of the realm is the registry's.
            server = named.url
        } else {
            let isOwn =
                origin == Origin(host: url.host, port: url.port, protocol: origin.protocol, isProxy: origin.isProxy)
            guard url.isSecure || isOwn && url.isLocal && origin.protocol == .http else {
                throw .unannounced("\(host) names the token server \(plain), which is not https", isDefinite: true)
            }
            guard isOwn else {
                // A semicolon ends a directive.
                let word = plain.contains(";") ? "\"\(plain)\"" : plain
                throw .unannounced(
                    "\(host) names the token server \(plain): to let it have the credential, write 'registry \(word)'",
                    isDefinite: true)
            }
            server = url
        }
        let service = challenge["service"] ?? []
        guard service.count <= Self.serviceLimit else {
            throw .unannounced("\(host) has a 'service' of more than \(Self.serviceLimit) bytes", isDefinite: false)
        }
        self.service = service.isEmpty ? nil : service.span.text
        scopes = RegistryScopes(challenge["scope"] ?? [])
    }

    /// The token server that a rule file would have to name for this challenge.
    public enum Naming: Sendable, Equatable {
        /// None: it is on the registry's own host and port.
        case own
        case url(String)
    }

    /// Nil if the challenge is not that of a registry, or no rule file may name its token server.
    public static func naming(_ challenge: HeaderChallenge, from origin: Origin) -> Naming? {
        guard challenge.scheme == "bearer", let realm = challenge["realm"], !origin.isProxy else { return nil }
        let path = String(decoding: realm.prefix { $0 != UInt8(ascii: "?") }, as: UTF8.self)
        if (try? RegistryChallenge(challenge, from: origin, named: nil)) != nil { return .own }
        guard let named = TokenIssuer(path), named.url.isSafe,
            (try? RegistryChallenge(challenge, from: origin, named: named)) != nil
        else { return nil }
        return .url(path)
    }
}

extension RegistryScopes {
    /// The scopes to ask for: the part that the rule file allows.
    ///
    /// - Parameters:
    ///   - ceiling: the patterns of the scopes that may be asked for; empty for all.
    ///   - sent: the scopes of the token that the request was sent with; nil if it had none.
    /// - Throws: if no other token would help.
    public func allowed(
        within ceiling: [RegistryScope], after sent: RegistryScopes? = nil
    ) throws(TokenError) -> RegistryScopes {
        if ceiling.isEmpty { return self }
        let allowed = within(ceiling)
        let isOfNoUse = sent.map { $0.covers(allowed) && !$0.covers(self) } ?? false
        if allowed.isEmpty && !isEmpty || isOfNoUse {
            let rest = without(allowed)
            throw .unannounced(
                "the registry wants \(rest.words), which the rule file does not allow: write 'scope \(rest)'",
                isDefinite: false)
        }
        return allowed
    }
}

/// The part of a registry that a request is about: requests for one of these need the same token.
public struct RegistryPlace: Sendable, Hashable {
    public enum Kind: Sendable {
        case read, write, delete
    }

    /// The name of the repository; for other paths the path.
    public let repository: [UInt8]
    public let kind: Kind
    /// The repository that a blob is mounted from, as the query has it; empty if none is.
    public let source: [UInt8]

    /// The folders of a repository in the paths of the OCI distribution specification.
    private static let folders = ["manifests", "blobs", "tags", "referrers"].map { Array("/\($0)/".utf8) }
    private static let limit = 256

    /// - Parameter target: the target of the request, in origin-form.
    public init(_ kind: Kind, _ target: Span<UInt8>) {
        let bytes = target.array
        let path = bytes.prefix { $0 != UInt8(ascii: "?") }
        self.kind = kind
        repository = Array((Self.repository(in: path) ?? path).prefix(Self.limit))
        let query = bytes.dropFirst(path.count + 1)
        let mount = query.split(separator: UInt8(ascii: "&")).first { $0.starts(with: Array("from=".utf8)) }
        source = Array((mount?.dropFirst(5) ?? []).prefix(Self.limit))
    }

    /// The scopes that registries mostly want for such a request; empty for requests that need none.
    public var usualScopes: RegistryScopes {
        if repository.elementsEqual("/v2/_catalog".utf8) { return RegistryScopes("registry:catalog:*".utf8) }
        let actions =
            switch kind {
            case .read: "pull"
            case .write: "pull,push"
            case .delete: "delete"
            }
        let mounted = PercentEncoding.decode(source.span) ?? []
        // A path is no name of a repository, and neither is an empty source.
        return RegistryScopes(
            "repository:\(repository.span.text):\(actions) repository:\(mounted.span.text):pull".utf8)
    }

    private static func repository(in path: ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
        let prefix = Array("/v2/".utf8)
        guard path.starts(with: prefix) else { return nil }
        let rest = path.dropFirst(prefix.count)
        // A name may contain these words, too: the last one counts.
        var end: Int?
        for folder in folders {
            if let found = rest.lastRange(of: folder) { end = max(end ?? found, found) }
        }
        return end.map { rest[..<$0] }
    }
}

extension ArraySlice<UInt8> {
    /// The index at which the bytes begin for the last time.
    fileprivate func lastRange(of bytes: [UInt8]) -> Int? {
        guard count >= bytes.count else { return nil }
        return stride(from: endIndex - bytes.count, through: startIndex, by: -1)
            .first { self[$0...].starts(with: bytes) }
    }
}
