import Bytes
import HTTP

/// All decisions and measures of one exchange: the log, the metrics and `Proxy-Status` are views of it.
///
/// One record serves a client connection for its life: `reset()` between requests keeps the client and the memory,
/// so that a kept connection costs no allocation. It belongs to one task at a time and holds no secret: names of
/// credentials, never their values.
public final class ExchangeRecord {
    /// Which connection carried the request upstream.
    public enum Upstream: Sendable {
        case none
        case opened
        case reused
    }

    /// The protocol in a tunnel that was to be looked into.
    public enum Tunnel: Sendable {
        /// TLS; the requests in it have records of their own.
        case https
        /// HTTP in clear; the same.
        case http
        /// Another protocol, relayed unseen.
        case opaque

        var token: StaticString {
            switch self {
            case .https: "https"
            case .http: "http"
            case .opaque: "opaque"
            }
        }
    }

    /// How the target is written: with a scheme, as an authority (CONNECT), or as the bare path where no host is known.
    public enum TargetForm: Sendable {
        case http
        case https
        case ftp
        case authority
        case path
    }

    /// The parts of an exchange that a log may ask for. The bytes of others are not copied.
    public struct Parts: OptionSet, Sendable {
        public let rawValue: UInt8

        public init(rawValue: UInt8) { self.rawValue = rawValue }

        public static var requestLine: Parts { Parts(rawValue: 1) }
        /// The client's `Referer` and `User-Agent`.
        public static var agent: Parts { Parts(rawValue: 2) }
        /// The size of the response's head, its type, and the address of the server that it came from.
        public static var response: Parts { Parts(rawValue: 4) }
    }

    public let parts: Parts

    /// The name under which the client authenticated to the proxy.
    public var user: String?
    /// The minor version of HTTP/1.x that the client spoke.
    public var minorVersion = 1
    /// The status sent to the client, 0 while there is none.
    public var status = 0
    /// Body or tunnel bytes that came from the client.
    public var bytesIn = 0
    /// Body or tunnel bytes that went to the client.
    public var bytesOut = 0

    /// Bytes of the response's head that went to the client.
    public var headBytesOut = 0
    /// The server that the request went to last: an origin, or a parent.
    public var server: IPAddress?

    /// The pattern of the `route` that matched.
    public var route: String?
    /// The parent proxy that the request went through.
    public var parent: ParentFigures?
    /// The answer to challenges of the origin, and that to the parent's, or the rule about them; nil: there is neither.
    public var answer: AnswerRecord?
    public var parentAnswer: AnswerRecord?
    /// How many times this exchange sent a credential.
    public var attempts = 0
    /// The challenge that it met; nil where none came, as in a space that is known.
    public var challenge: ChallengeRecord?

    public var upstream = Upstream.none
    /// Nil for requests, and for tunnels that are relayed unseen because no route says otherwise.
    public var tunnel: Tunnel?
    /// How the origin was met by TLS; nil where it was not.
    public var security: SecurityRecord?
    /// Whether the connection that was opened took an earlier session up again.
    public var isResumed = false
    /// From the first byte of the request until it was done, in nanoseconds.
    public var duration: UInt64 = 0
    /// Name lookup and connecting, in nanoseconds; nil where a kept connection served.
    public var connecting: UInt64?
    /// From the request sent upstream to the first byte of the response, in nanoseconds.
    public var wait: UInt64?
    /// The trace that the request belongs to; nil: none, as no route says otherwise.
    public var trace: RequestTrace?

    /// Why the proxy ended the exchange itself.
    public var error: ProxyError?
    /// One sentence about `error` for the operator.
    public var details: String?

    private(set) var targetForm = TargetForm.path
    private(set) var port = 0
    private(set) var clientRange = 0..<0
    private(set) var methodRange = 0..<0
    private(set) var hostRange = 0..<0
    private(set) var pathRange = 0..<0
    /// Nil: the client did not send it.
    private(set) var refererRange: Range<Int>?
    private(set) var agentRange: Range<Int>?
    /// Of the response.
    private(set) var typeRange = 0..<0
    /// The client's address, and behind it what the request line brought.
    private(set) var text = ByteBuffer(capacity: 192)
    private(set) var client: IPAddress?

    /// Above this a long URL's memory is given back when the exchange ends.
    private static let keptCapacity = 1024

    public init(keeping parts: Parts) {
        self.parts = parts
    }

    /// Names the client; its text is made once for each new address, as `unmapped`.
    public func setClient(_ address: IPAddress) {
        if client == address { return }
        client = address
        text.clear()
        text.append(address: address.unmapped)
        clientRange = 0..<text.count
        forgetRequestLine()
    }

    /// Copies the request line if a log wants it. User information in `host` is left out.
    public func setTarget(
        method: Span<UInt8>, form: TargetForm, host: Span<UInt8>, port: Int, path: Span<UInt8>
    ) {
        targetForm = form
        self.port = port
        guard parts.contains(.requestLine) else { return }
        forgetRequestLine()
        methodRange = keep(method)
        hostRange = keep(host.extracting(Redaction.withoutUserInformation(host)))
        pathRange = keep(path)
    }

    /// Copies a line of the client's `Referer`, if a log wants it; behind `setTarget`. User information in it is left out.
    public func addReferer(_ value: Span<UInt8>) {
        guard parts.contains(.agent) else { return }
        let authority = Redaction.authority(ofURL: value)
        let user = Redaction.withoutUserInformation(value.extracting(authority)).lowerBound
        guard user > 0 else {
            refererRange = keep(value, behind: refererRange)
            return
        }
        let shown = ByteBuffer(capacity: value.count)
        shown.append(value.extracting(first: authority.lowerBound))
        shown.append(value.extracting(authority.lowerBound + user..<value.count))
        refererRange = keep(shown.readable, behind: refererRange)
    }

    /// The same of its `User-Agent`; behind the `Referer`.
    public func addAgent(_ value: Span<UInt8>) {
        guard parts.contains(.agent) else { return }
        agentRange = keep(value, behind: agentRange)
    }

    /// Copies the response's `Content-Type`, if a log wants it.
    public func setType(_ value: Span<UInt8>) {
        guard parts.contains(.response) else { return }
        typeRange = keep(value)
    }

    /// From now on the value of that parameter of the URL is not shown.
    public func hideParameter(_ name: Span<UInt8>) {
        pathRange = hide(name, in: pathRange)
        refererRange = refererRange.map { hide(name, in: $0) }
    }

    private func hide(_ name: Span<UInt8>, in url: Range<Int>) -> Range<Int> {
        guard !url.isEmpty else { return url }
        let (text, shown) = (text, ByteBuffer(capacity: url.count + 8))
        QueryParameters.append(text.readable.extracting(url), hiding: name, to: shown)
        return keep(shown.readable)
    }

    /// Forgets the exchange, keeps the client and the memory.
    public func reset() {
        if text.capacity > Self.keptCapacity {
            let large = text
            text = ByteBuffer(capacity: 192)
            text.append(large.readable.extracting(clientRange))
        }
        forgetRequestLine()
        targetForm = .path
        port = 0
        user.forget()
        minorVersion = 1
        status = 0
        bytesIn = 0
        bytesOut = 0
        headBytesOut = 0
        server = nil
        route.forget()
        parent.forget()
        answer.forget()
        parentAnswer.forget()
        attempts = 0
        challenge.forget()
        upstream = .none
        tunnel = nil
        security.forget()
        isResumed = false
        duration = 0
        connecting = nil
        wait = nil
        trace.forget()
        error = nil
        details.forget()
    }

    /// The client left before the exchange was done. It may have been told a status by then.
    public func noteDeparture() {
        error = .connectionTerminated
        details = "the client left"
    }

    private func keep(_ bytes: Span<UInt8>) -> Range<Int> {
        let start = text.count
        text.append(bytes)
        return start..<text.count
    }

    /// The values of several lines of a field, as one (RFC 9110 section 5.3).
    private func keep(_ bytes: Span<UInt8>, behind value: Range<Int>?) -> Range<Int> {
        guard let value, value.upperBound == text.count else { return keep(bytes) }
        text.append(", ")
        return value.lowerBound..<keep(bytes).upperBound
    }

    private func forgetRequestLine() {
        text.truncate(to: clientRange.upperBound)
        methodRange = 0..<0
        hostRange = 0..<0
        pathRange = 0..<0
        refererRange = nil
        agentRange = nil
        typeRange = 0..<0
    }
}

extension ExchangeRecord {
    // As logs have them.
    var milliseconds: Int { Int(clamping: duration / 1_000_000) }
    var connectMilliseconds: Int? { connecting.map { Int(clamping: $0 / 1_000_000) } }
    var waitMilliseconds: Int? { wait.map { Int(clamping: $0 / 1_000_000) } }

    /// Whether the client is on the proxy's own machine.
    var isOfThisMachine: Bool {
        guard let client = client?.unmapped else { return false }
        return client.family == .v4 ? client.low >> 24 == 127 : client.high == 0 && client.low == 1
    }

    /// What the target begins with, where it has a scheme.
    var targetScheme: StaticString {
        switch targetForm {
        case .http: "http://"
        case .https: "https://"
        case .ftp: "ftp://"
        case .authority, .path: ""
        }
    }

    /// The port that is not written.
    var usualPort: Int {
        switch targetForm {
        case .http: 80
        case .https: 443
        case .ftp: 21
        case .authority: 0
        case .path: port
        }
    }
}

/// The challenge that an exchange met.
public final class ChallengeRecord: Sendable {
    /// As the server names them, in lower case.
    public let schemes: String
    public let realm: String?

    public init(schemes: String, realm: String?) {
        self.schemes = schemes
        self.realm = realm
    }
}

/// How an origin was met by TLS: the common part of the records of all exchanges on one connection.
public final class SecurityRecord: Sendable {
    /// `1.3`; nil where TLS did not come about.
    public let version: StaticString?
    /// The findings about the origin's certificate, in the words of the rule file: refused, or forgiven by `trustRule`.
    public let trustFindings: String?
    /// The rule that decided about the origin's certificate.
    public let trustRule: String?
    /// The name of the credential whose certificate the origin was shown.
    public let identity: String?
    /// A version that should be given up.
    public let dated: DatedWays

    public init(
        version: StaticString? = nil, trustFindings: String? = nil, trustRule: String? = nil, identity: String? = nil
    ) {
        self.version = version
        self.trustFindings = trustFindings
        self.trustRule = trustRule
        self.identity = identity
        dated =
            switch version.map({ "\($0)" }) {
            case "1.0": .tls10
            case "1.1": .tls11
            default: []
            }
    }
}

/// Keeps credentials out of what is written about a request.
public enum Redaction {
    /// The part of an authority behind its user information (RFC 3986 section 3.2.1): all after the last `@`.
    public static func withoutUserInformation(_ authority: Span<UInt8>) -> Range<Int> {
        var start = 0
        while let at = authority.firstIndex(of: UInt8(ascii: "@"), from: start) { start = at + 1 }
        return start..<authority.count
    }

    /// The place of the authority in a URL; empty where it has none.
    static func authority(ofURL url: Span<UInt8>) -> Range<Int> {
        guard let colon = url.firstIndex(of: .colon, from: 0), colon + 2 < url.count, url[colon + 1] == .slash,
            url[colon + 2] == .slash
        else { return 0..<0 }
        let start = colon + 3
        var end = start
        while end < url.count, url[end] != .slash, url[end] != UInt8(ascii: "?"), url[end] != UInt8(ascii: "#") {
            end += 1
        }
        return start..<end
    }
}
