import Bytes
import Crypto
import HTTP
import IO
import Telemetry

/// Answers the requests of the administrator's listener, without sockets.
final class AdminSite: AdminResponder {
    let sources: AdminSources
    var via: Via? { sources.via }
    private let practice: PracticeOrigin?
    let dashboard: DashboardSite?

    /// - Parameters:
    ///   - practice: nil if the system gave no random bytes for nonces.
    ///   - dashboard: nil if none.
    init(sources: AdminSources, practice: PracticeOrigin?, dashboard: DashboardSite? = nil) {
        self.sources = sources
        self.practice = practice
        self.dashboard = dashboard
    }

    func acceptsBody(of request: AdminRequest, at local: SocketAddress?) -> Bool {
        guard let dashboard, !request.isForwarded else { return false }
        return dashboard.hasSession(request, port: local?.port ?? 0)
    }

    func response(to request: AdminRequest, at local: SocketAddress?, now: LoopInstant) async -> AdminResponse {
        guard let dashboard, !request.isForwarded, DashboardSite.contains(request.path) else {
            return answer(to: request, at: local, now: now)
        }
        if let refusal = Self.refusal(of: request, at: local) { return refusal }
        return await dashboard.response(to: request, port: local?.port ?? 0)
    }

    /// The refusal of a request that was meant for another server; nil if it was not.
    private static func refusal(of request: AdminRequest, at local: SocketAddress?) -> AdminResponse? {
        if let authority = request.authority, !isOurs(authority, at: local) {
            return .text(
                .misdirectedRequest, "this is the admin address of the proxy: use the address of 'listen' as the proxy")
        }
        guard isDirect(request.host, at: local) else {
            return .text(.misdirectedRequest, "use the address itself or localhost as the host of this URL")
        }
        return nil
    }

    /// The answer for everything but the dashboard.
    func answer(to request: AdminRequest, at local: SocketAddress?, now: LoopInstant) -> AdminResponse {
        if let refusal = Self.refusal(of: request, at: local) { return refusal }
        guard request.method == .get || request.method == .head else {
            return .text(
                .methodNotAllowed, "only GET and HEAD are supported here", [.init(name: "Allow", value: "GET, HEAD")])
        }
        if let space = PracticeOrigin.Space.allCases.first(where: { request.path.span.isPath(below: $0.traits.path) }) {
            return (try? practice?.response(to: request, in: space, at: 0 + now.time(since: .zero)))
                ?? .text(.serviceUnavailable, "the practice server does not work: the system gave no random bytes")
        }
        if request.isForwarded {
            return .text(.forbidden, "through the proxy, only the practice pages of this address can be reached")
        }
        switch String(decoding: request.path, as: UTF8.self) {
        case "/": return index
        case "/healthz": return .text(.ok, "ok")
        case "/readyz": return readiness
        case "/metrics":
            if let token = sources.metricsToken, !Self.admits(request.authorization, by: token()) {
                return .unauthorized(isFirst: request.authorization.isEmpty)
            }
            return .metrics(sources.metrics, as: MetricsPage.Format(accepting: request.accept))
        default: return .text(.notFound, "there is no such page; / lists the pages")
        }
    }

    /// Whether a request has the token (RFC 6750 section 2.1).
    ///
    /// - Parameter authorization: the values of its `Authorization` lines.
    private static func admits(_ authorization: [[UInt8]], by token: Secret?) -> Bool {
        let scheme: StaticString = "bearer "
        let length = scheme.utf8CodeUnitCount
        guard let token, authorization.count == 1, let value = authorization.first, value.count > length else {
            return false
        }
        let span = value.span
        guard span.extracting(first: length).equalsIgnoringCase(scheme) else { return false }
        let sent = Array(value.dropFirst(length).drop { $0 == .space })
        // Digests are of one length, so that the time tells nothing about the token.
        let right = token.withBytes { MessageDigest.digest(.sha256, of: $0) }
        let given = MessageDigest.digest(.sha256, of: sent.span)
        return right.withHexadecimal { right in given.withHexadecimal { ConstantTime.equal(right, $0) } }
    }

    /// Whether a target names this listener. A target that names another host was meant for the proxy. Names other than
    /// `localhost` cannot be distinguished from that. A client writes them into a target only if it takes the listener
    /// for a proxy.
    private static func isOurs(_ authority: AdminRequest.NamedAuthority, at local: SocketAddress?) -> Bool {
        guard let local, authority.isHTTP, authority.port == local.port else { return false }
        return authority.host == "localhost" || IPAddress(authority.host)?.unmapped == local.address.unmapped
    }

    /// Whether no other party can make the requested name lead here. A web page may let its own name resolve to a
    /// loopback address. Its scripts could then read this listener in the browser of a visitor. At other addresses,
    /// names are how clients find the listener.
    private static func isDirect(_ host: String?, at local: SocketAddress?) -> Bool {
        guard let host, let local = local?.address.unmapped else { return true }
        return !local.isLoopback || host == "localhost" || IPAddress(host) != nil
    }

    private var readiness: AdminResponse {
        switch sources.readiness() {
        case .ready: .text(.ok, "ready")
        case .degraded(let reason): .text(.ok, "ready, but \(reason)")
        case .notReady(let reason): .text(.serviceUnavailable, reason)
        }
    }

    private var index: AdminResponse {
        AdminResponse(
            status: .ok,
            body: """
                attache \(sources.version)

                /dashboard/               the dashboard; 'attache admin token' prints a link that logs in
                /healthz                  200 while the process lives
                /readyz                   200 while the proxy takes work, else 503 and why
                /metrics                  counters and times, in Prometheus' text format or as OpenMetrics
                /practice/basic           asks for Basic credentials
                /practice/digest          asks for Digest credentials (MD5)
                /practice/digest-sha256   asks for Digest credentials (SHA-256)

                """)
    }
}

extension AdminResponse {
    /// The challenge for the token of the metrics (RFC 6750 section 3).
    ///
    /// - Parameter isFirst: whether the request had no credential.
    fileprivate static func unauthorized(isFirst: Bool) -> AdminResponse {
        let error = isFirst ? "" : ", error=\"invalid_token\""
        return .text(
            .unauthorized, "the metrics need the token of 'metrics token file' in the rule file",
            [.init(name: "WWW-Authenticate", value: "Bearer realm=\"Attache metrics\"\(error)")])
    }

    static func metrics(_ page: (MetricsPage.Format) -> String, as format: MetricsPage.Format) -> AdminResponse {
        AdminResponse(
            status: .ok, contentType: format.contentType, fields: [.init(name: "Vary", value: "Accept")],
            body: page(format))
    }
}

/// The facts that the administrator's listener gets from the rest of the program.
///
/// The closures are called on the listener's loop, once for each request, and must not block.
public struct AdminSources: Sendable {
    /// The readiness of the proxy, for `/readyz`.
    public enum Readiness: Sendable, Equatable {
        case ready
        /// The proxy works, but something that it needs does not. Taking it out of service would make that worse.
        case degraded(reason: String)
        /// The reason is one sentence for operators.
        case notReady(reason: String)
    }

    /// The program's version, as `attache version` prints it.
    public let version: String
    /// The name in `Via` of requests that came through the proxy; nil if none.
    public let via: Via?
    public let readiness: @Sendable () -> Readiness
    public let metrics: @Sendable (MetricsPage.Format) -> String
    /// The token that readers of the metrics must send; its result is nil while all are refused. Nil: they need none.
    public var metricsToken: (@Sendable () -> Secret?)?

    public init(
        version: String, via: Via? = nil, readiness: @escaping @Sendable () -> Readiness,
        metrics: @escaping @Sendable (MetricsPage.Format) -> String
    ) {
        self.version = version
        self.via = via
        self.readiness = readiness
        self.metrics = metrics
    }
}
