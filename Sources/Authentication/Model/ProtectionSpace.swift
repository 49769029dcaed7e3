import Bytes
import Model

/// A server, or a part of one, for which one credential is valid (RFC 9110 section 11.5).
public struct ProtectionSpace: Sendable, Hashable {
    public private(set) var origin: Origin
    private let exactRealm: ExactText?
    public let authenticationMethod: AuthenticationMethod

    public init(origin: Origin, realm: String?, authenticationMethod: AuthenticationMethod) {
        self.origin = origin
        exactRealm = realm.map { ExactText(BoundedName.of($0)) }
        self.authenticationMethod = authenticationMethod
    }

    /// The realm's name; of a long one its beginning and its digest (`BoundedName`). Nil if the method has no realm
    /// (NTLM, Negotiate): the space is then the host.
    public var realm: String? { exactRealm?.text }
    public var host: String { origin.host }
    public var port: UInt16 { origin.port }
    public var `protocol`: NetworkProtocol { origin.protocol }
    public var isProxy: Bool { origin.isProxy }

    /// Whether an eavesdropper cannot read the credential: the connection uses TLS, or the method does not send the
    /// credential itself.
    public var receivesCredentialSecurely: Bool {
        origin.protocol == .https || !authenticationMethod.traits.revealsCredential
    }

    /// The space whose credential is used if this space has none. For methods with a password: the server with any
    /// realm and method, since files like netrc contain neither. For a token: the server with any realm. Nil for other
    /// methods.
    public var general: ProtectionSpace? {
        switch authenticationMethod.traits.credential {
        case .password, .ticket: ProtectionSpace(origin: origin, realm: nil, authenticationMethod: .default)
        case .token where realm != nil:
            ProtectionSpace(origin: origin, realm: nil, authenticationMethod: authenticationMethod)
        case .token, .certificate, .exception, nil: nil
        }
    }

    /// The space at any port of the host, in which credentials of netrc files are kept.
    public var onAnyPort: ProtectionSpace {
        var space = self
        space.origin = origin.onAnyPort
        return space
    }

    /// The spaces whose credentials are used if this space has none, the most specific first.
    public var moreGeneral: [ProtectionSpace] {
        let isShared = authenticationMethod.isOfResponses && authenticationMethod != .other
        return isShared ? [general, onAnyPort, general?.onAnyPort].compactMap(\.self) : []
    }

    /// The name in logs and rules of a credential that is stored for this space.
    public func credentialName(of user: String) -> String { "\(user)@\(host):\(origin.portText)" }

    /// The user in such a name; nil if the name is not of this space.
    public func user(ofCredentialNamed name: String) -> String? {
        let (bytes, suffix) = (name.utf8, credentialName(of: "").utf8)
        guard bytes.count >= suffix.count, bytes.suffix(suffix.count).elementsEqual(suffix) else { return nil }
        return String(bytes.dropLast(suffix.count))
    }
}

/// The server that sends a challenge: one host at one port, as an origin or as a proxy.
public struct Origin: Sendable, Hashable {
    private let exactHost: ExactText
    /// The port; `anyPort` only in the space of a stored credential.
    public private(set) var port: UInt16
    public let `protocol`: NetworkProtocol
    public let isProxy: Bool

    public init(host: String, port: UInt16, protocol: NetworkProtocol, isProxy: Bool = false) {
        exactHost = ExactText(HostSpelling.canonical(host))
        self.port = port
        self.protocol = `protocol`
        self.isProxy = isProxy
    }

    /// The name or address in its canonical spelling (`HostSpelling`).
    public var host: String { exactHost.text }

    /// The port of an origin that represents all ports of its host. No request is sent to it.
    public static let anyPort: UInt16 = 0

    /// The port in names and URLs; `*` for `anyPort`.
    public var portText: String { port == Self.anyPort ? "*" : "\(port)" }

    public var onAnyPort: Origin {
        var origin = self
        origin.port = Self.anyPort
        return origin
    }

    /// Whether `HOST` or `HOST:PORT` of a URL, in any spelling, names this server.
    func isNamed(by authority: Span<UInt8>) -> Bool {
        let isBracketed = authority.count > 0 && authority[0] == UInt8(ascii: "[")
        let close = isBracketed ? authority.firstIndex(of: UInt8(ascii: "]")) ?? authority.count : 0
        let colon = authority.firstIndex(of: .colon, from: close) ?? authority.count
        guard authority.extracting(first: colon).isSpelling(of: host.utf8Span.span) else { return false }
        guard colon + 1 < authority.count else { return port == (`protocol` == .https ? 443 : 80) }
        var named = 0
        for offset in colon + 1..<authority.count {
            guard authority[offset].isDigit, named < 10_000 else { return false }
            named = named * 10 + Int(authority[offset] & 0xF)
        }
        return named == port
    }
}
