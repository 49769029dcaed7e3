import Bytes
import HTTP
import Model

/// All decisions and measurements of one exchange. The log, the metrics and `Proxy-Status` are views of it.
///
/// One record serves a client connection for its whole life: `reset()` between requests keeps the client and the
/// memory, so that a kept connection allocates nothing. It belongs to one task at a time and contains no secrets: names
/// of credentials, never their values.
public final class ExchangeRecord {
    /// The kind of connection that carried the request upstream.
    public enum Upstream: Sendable {
        case none
        case opened
        case reused
    }

    /// The protocol in a tunnel that was to be intercepted.
    public enum Tunnel: Sendable {
        /// TLS; the requests in it have their own records.
        case https
        /// HTTP without TLS; the requests in it have their own records.
        case http
        /// A different protocol, which is relayed without inspection.
        case opaque

        var token: StaticString {
            switch self {
            case .https: "https"
            case .http: "http"
            case .opaque: "opaque"
            }
        }
    }

    /// The form of the target: with a scheme, as an authority (CONNECT), or as the path alone if no host is known.
    public enum TargetForm: Sendable {
        case http
        case https
        case ftp
        case authority
        case path
    }

    /// The parts of an exchange that a log may need. The bytes of others are not copied.
    public struct Parts: OptionSet, Sendable {
        public let rawValue: UInt8

        public init(rawValue: UInt8) { self.rawValue = rawValue }

        public static var requestLine: Parts { Parts(rawValue: 1) }
        /// The client's `Referer` and `User-Agent`.
        public static var agent: Parts { Parts(rawValue: 2) }
        /// The size of the response's head, its type, and the server's address.
        public static var response: Parts { Parts(rawValue: 4) }
        /// Each challenge of the exchange and its `Proxy-Status`, as the dashboard shows them.
        public static var challenges: Parts { Parts(rawValue: 8) }
    }

    public let parts: Parts

    /// The user as whom the client authenticated to the proxy.
    public var user: String?
    /// The version of SOCKS by which the client asked; nil: it asked by HTTP.
    public var socks: SOCKSVersion?
    /// Whether the client knows of no proxy, and its connection was redirected here.
    public var isRedirected = false
    /// The version of HTTP that the client spoke.
    public var version = Version.http11
    /// The status sent to the client; 0 before it is sent.
    public var status = 0
    /// The bytes of body or tunnel from the client.
    public var bytesIn = 0
    /// The bytes of body or tunnel to the client.
    public var bytesOut = 0

    /// The bytes of the response's head that were sent to the client.
    public var headBytesOut = 0
    /// The server of the last attempt: an origin, or a parent.
    public var server: IPAddress?

    /// The pattern of the `route` that matched.
    public var route: String?
    /// The parent proxy of the request.
    public var parent: ParentFigures?
    /// The answer to the origin's challenges, or the rule about them; nil if neither. `parentAnswer` is for the
    /// parent's.
    public var answer: AnswerRecord?
    public var parentAnswer: AnswerRecord?
    /// The number of times that this exchange sent a credential.
    public var attempts = 0
    /// The challenge of the exchange; nil if none came, as in a known space.
    public var challenge: ChallengeRecord?

    public var upstream = Upstream.none
    /// The protocol in the tunnel; nil for requests, and for tunnels that are relayed without inspection because no
    /// route says otherwise.
    public var tunnel: Tunnel?
    /// The TLS with the origin; nil without TLS.
    public var security: SecurityRecord?
    /// Whether the new connection resumed an earlier TLS session.
    public var isResumed = false
    /// Whether the parent is asked by HTTP/2; meaningless without a parent.
    public var asksParentByHTTP2 = false
    /// The time from the first byte of the request to its end, in nanoseconds.
    public var duration: UInt64 = 0
    /// The time of DNS lookup and connecting, in nanoseconds; nil for a kept connection.
    public var connecting: UInt64?
    /// The time from sending the request upstream to the first byte of the response, in nanoseconds.
    public var wait: UInt64?
    /// The time from the first challenge to the response after the last answer, in nanoseconds; nil if the proxy
    /// answered none.
    public var answering: UInt64?
    /// The decisions about challenges, if the record keeps `challenges`.
    public private(set) var challenges: [MetChallenge] = []
    /// The value of `Proxy-Status` that was sent to the client, if the record keeps `challenges`; nil if none was sent.
    public var proxyStatus: String?
    /// The trace of the request; nil if no route requests one.
    public var trace: RequestTrace?

    /// The reason why the proxy itself ended the exchange.
    public var error: ProxyError?
    /// A sentence about `error` for the operator.
    public var details: String?

    private(set) var targetForm = TargetForm.path
    private(set) var port = 0
    private(set) var clientRange = 0..<0
    private(set) var methodRange = 0..<0
    private(set) var hostRange = 0..<0
    private(set) var pathRange = 0..<0
    /// The range of `Referer`; nil if the client did not send it.
    private(set) var refererRange: Range<Int>?
    private(set) var agentRange: Range<Int>?
    /// The range of the response's type.
    private(set) var typeRange = 0..<0
    /// The client's address, followed by the parts of the request.
    private(set) var text = ByteBuffer(capacity: 192)
    /// The client's address; nil at a unix socket.
    private(set) var client: IPAddress?
    /// The user id of the client's process at a unix socket; nil for other clients.
    private(set) var uid: UInt32?

    /// The limit of challenges that are kept for one exchange.
    private static let challengeLimit = 16

    /// The limit above which a long URL's memory is freed when the exchange ends.
    private static let keptCapacity = 1024

    public init(keeping parts: Parts) {
        self.parts = parts
    }

    /// Sets the client; the text of its address is made once for each new address, as `unmapped`.
    public func setClient(_ address: IPAddress) {
        if client == address { return }
        client = address
        uid = nil
        text.clear()
        text.append(address: address.unmapped)
        clientRange = 0..<text.count
        forgetRequestLine()
    }

    /// Sets a client at a unix socket.
    /// - Parameter uid: the user id of its process.
    public func setLocalClient(uid: UInt32) {
        client = nil
        self.uid = uid
        text.clear()
        text.append(ClientIdentity.local)
        clientRange = 0..<text.count
        forgetRequestLine()
    }

    /// Copies the request line if a log needs it. User information in `host` is left out.
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

    /// Copies a line of the client's `Referer`, if a log needs it. Call it after `setTarget`. User information in the
    /// line is left out.
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

    /// Copies a line of the client's `User-Agent`, if a log needs it. Call it after the `Referer`.
    public func addAgent(_ value: Span<UInt8>) {
        guard parts.contains(.agent) else { return }
        agentRange = keep(value, behind: agentRange)
    }

    /// Copies the response's `Content-Type`, if a log needs it.
    public func setType(_ value: Span<UInt8>) {
        guard parts.contains(.response) else { return }
        typeRange = keep(value)
    }

    /// Hides the value of that parameter of the URL from now on.
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

    /// Records the decision about a challenge. It is made only for a trace or the dashboard.
    public func note(_ decision: @autoclosure () -> ChallengeDecision) {
        let isKept = parts.contains(.challenges) && challenges.count < Self.challengeLimit
        guard trace != nil || isKept else { return }
        let decision = decision()
        trace?.note(decision)
        if isKept { challenges.append(MetChallenge(decision: decision)) }
    }

    /// Records the result of the answer to the last challenge.
    public func note(_ result: AnswerResult) {
        trace?.note(result)
        noteResult(result)
    }

    /// Records that the response is a challenge.
    ///
    /// - Parameter result: its verdict on the request's answer; nil if the request had none.
    public func meet(after result: AnswerResult?) {
        trace?.meet(after: result)
        result.map(noteResult)
    }

    private func noteResult(_ result: AnswerResult) {
        guard let last = challenges.indices.last else { return }
        if result != .unjudged || challenges[last].result == nil { challenges[last].result = result }
    }

    /// Forgets the exchange, but keeps the client and the memory.
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
        socks = nil
        isRedirected = false
        version = .http11
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
        asksParentByHTTP2 = false
        duration = 0
        connecting = nil
        wait = nil
        trace.forget()
        answering = nil
        if !challenges.isEmpty { challenges.removeAll(keepingCapacity: true) }
        proxyStatus.forget()
        error = nil
        details.forget()
    }

    /// Notes that the client left before the exchange was complete. It may already have got a status.
    public func noteDeparture() {
        error = .connectionTerminated
        details = "the client left"
    }

    private func keep(_ bytes: Span<UInt8>) -> Range<Int> {
        let start = text.count
        text.append(bytes)
        return start..<text.count
    }

    /// Appends a value, joined with those of former lines of the field (RFC 9110 section 5.3).
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

    // The durations in the units of logs.
    var milliseconds: Int { Int(clamping: duration / 1_000_000) }
    var connectMilliseconds: Int? { connecting.map { Int(clamping: $0 / 1_000_000) } }
    var waitMilliseconds: Int? { wait.map { Int(clamping: $0 / 1_000_000) } }

    /// Whether the client is on the proxy's own machine.
    var isOfThisMachine: Bool {
        guard let client = client?.unmapped else { return false }
        return client.family == .v4 ? client.low >> 24 == 127 : client.high == 0 && client.low == 1
    }

    /// The beginning of a target with a scheme.
    var targetScheme: StaticString {
        switch targetForm {
        case .http: "http://"
        case .https: "https://"
        case .ftp: "ftp://"
        case .authority, .path: ""
        }
    }

    /// The default port, which is not written.
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

/// The challenge of an exchange.
public final class ChallengeRecord: Sendable {
    /// The schemes by the server's names, in lower case.
    public let schemes: String
    public let realm: String?

    public init(schemes: String, realm: String?) {
        self.schemes = schemes
        self.realm = realm
    }
}

/// A challenge that was decided about, and the result of the answer. It contains no credential.
public struct MetChallenge {
    let decision: ChallengeDecision
    /// The result; nil if no answer was judged.
    var result: AnswerResult?
}

/// The TLS with an origin: the common part of the records of all exchanges on one connection.
public final class SecurityRecord: Sendable {
    /// The version of TLS, such as `1.3`; nil if TLS failed, and for HTTP/2 without TLS.
    public let version: StaticString?
    /// The problems of the origin's certificate, in the words of the rule file: refused, or forgiven by `trustRule`.
    public let trustFindings: String?
    /// The rule that decided about the origin's certificate.
    public let trustRule: RuleReference?
    /// Whether a stored exception forgave the problems.
    public let isException: Bool
    /// The name of the credential whose certificate was shown to the origin.
    public let identity: String?
    /// Whether the server is asked by HTTP/2.
    public let speaksHTTP2: Bool
    /// The record of a connection that speaks HTTP/2 without TLS.
    public static let clearHTTP2 = SecurityRecord(speaksHTTP2: true)
    /// The old version of TLS, if it is one.
    public let dated: WeakMechanisms

    public init(
        version: StaticString? = nil, trustFindings: String? = nil, trustRule: RuleReference? = nil,
        isException: Bool = false, identity: String? = nil, speaksHTTP2: Bool = false
    ) {
        self.version = version
        self.trustFindings = trustFindings
        self.trustRule = trustRule
        self.isException = isException
        self.identity = identity
        self.speaksHTTP2 = speaksHTTP2
        dated =
            switch version.map({ "\($0)" }) {
            case "1.0": .tls10
            case "1.1": .tls11
            default: []
            }
    }
}

/// Keeps credentials out of texts about a request.
public enum Redaction {
    /// The part of an authority after its user information (RFC 3986 section 3.2.1): everything after the last `@`.
    public static func withoutUserInformation(_ authority: Span<UInt8>) -> Range<Int> {
        var start = 0
        while let at = authority.firstIndex(of: UInt8(ascii: "@"), from: start) { start = at + 1 }
        return start..<authority.count
    }

    /// The range of the authority in a URL; empty if it has none.
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
