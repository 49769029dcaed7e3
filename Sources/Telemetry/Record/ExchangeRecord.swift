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

    /// The protocol in a tunnel that was to be intercepted, by its name in the log.
    public enum Tunnel: String, Sendable {
        /// TLS; the requests in it have their own records.
        case https
        /// HTTP without TLS; the requests in it have their own records.
        case http
        /// A different protocol, which is relayed without inspection.
        case opaque
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

    /// A challenge that was decided about, and the result of the answer. It contains no credential.
    public struct MetChallenge {
        let decision: ChallengeDecision
        /// The result; nil if no answer was judged.
        var result: AnswerResult?
    }

    /// The places of a request's parts in a text.
    struct Ranges {
        var method = 0..<0
        var host = 0..<0
        var path = 0..<0
        /// The range of `Referer`; nil if the client did not send it.
        var referer: Range<Int>?
        var agent: Range<Int>?
        /// The range of the response's type.
        var type = 0..<0
    }

    public let parts: Parts

    /// The properties of the current request. `reset` assigns a new value, so that no property outlives its request.
    public var facts = Facts()
    /// The decisions about challenges, if the record keeps `challenges`. They are no part of `facts`, because the next
    /// request uses their memory again.
    public private(set) var challenges: [MetChallenge] = []

    /// The client's address, followed by the parts of the request. It is no part of `facts`, because the next request
    /// uses the address and the memory again.
    private(set) var text = ByteBuffer(capacity: 192)
    private(set) var clientRange = 0..<0
    /// The places of the request's parts in `text`.
    private(set) var ranges = Ranges()
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
        facts.targetForm = form
        facts.port = port
        guard parts.contains(.requestLine) else { return }
        if text.count > clientRange.upperBound { forgetRequestLine() }
        ranges.method = keep(method)
        ranges.host = keep(host.extracting(Redaction.withoutUserInformation(host)))
        ranges.path = keep(path)
    }

    /// Copies a line of the client's `Referer`, if a log needs it. Call it after `setTarget`. User information in the
    /// line is left out.
    public func addReferer(_ value: Span<UInt8>) {
        guard parts.contains(.agent) else { return }
        let authority = Redaction.authority(ofURL: value)
        let user = Redaction.withoutUserInformation(value.extracting(authority)).lowerBound
        guard user > 0 else {
            ranges.referer = keep(value, behind: ranges.referer)
            return
        }
        let shown = ByteBuffer(capacity: value.count)
        shown.append(value.extracting(first: authority.lowerBound))
        shown.append(value.extracting(authority.lowerBound + user..<value.count))
        ranges.referer = keep(shown.readable, behind: ranges.referer)
    }

    /// Copies a line of the client's `User-Agent`, if a log needs it. Call it after the `Referer`.
    public func addAgent(_ value: Span<UInt8>) {
        guard parts.contains(.agent) else { return }
        ranges.agent = keep(value, behind: ranges.agent)
    }

    /// Copies the response's `Content-Type`, if a log needs it.
    public func setType(_ value: Span<UInt8>) {
        guard parts.contains(.response) else { return }
        ranges.type = keep(value)
    }

    /// Hides the value of that parameter of the URL from now on.
    public func hideParameter(_ name: Span<UInt8>) {
        ranges.path = hide(name, in: ranges.path)
        ranges.referer = ranges.referer.map { hide(name, in: $0) }
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
        guard facts.trace != nil || isKept else { return }
        let decision = decision()
        facts.trace?.note(decision)
        if isKept { challenges.append(MetChallenge(decision: decision)) }
    }

    /// Records the result of the answer to the last challenge.
    public func note(_ result: AnswerResult) {
        facts.trace?.note(result)
        noteResult(result)
    }

    /// Records that the response is a challenge.
    ///
    /// - Parameter result: its verdict on the request's answer; nil if the request had none.
    public func meet(after result: AnswerResult?) {
        facts.trace?.meet(after: result)
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
        facts = Facts()
        if !challenges.isEmpty { challenges.removeAll(keepingCapacity: true) }
    }

    /// Notes that the client left before the exchange was complete. It may already have got a status.
    public func noteDeparture() {
        facts.error = .connectionTerminated
        facts.details = "the client left"
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
        ranges = Ranges()
    }

    // The durations in the units of logs.
    var milliseconds: Int { Int(clamping: facts.duration / 1_000_000) }
    var connectMilliseconds: Int? { facts.connecting.map { Int(clamping: $0 / 1_000_000) } }
    var waitMilliseconds: Int? { facts.wait.map { Int(clamping: $0 / 1_000_000) } }

    /// Whether the client is on the proxy's own machine.
    var isOfThisMachine: Bool { client?.unmapped.isLoopback == true }

    /// The beginning of a target with a scheme.
    var targetScheme: StaticString {
        switch facts.targetForm {
        case .http: "http://"
        case .https: "https://"
        case .ftp: "ftp://"
        case .authority, .path: ""
        }
    }

    /// The default port, which is not written.
    var usualPort: Int {
        switch facts.targetForm {
        case .http: 80
        case .https: 443
        case .ftp: 21
        case .authority: 0
        case .path: facts.port
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
