import Authentication
import Credentials
import Forwarding
import HTTP
import IO
import Model
import Rules
import TLS
import Upstream

/// Sends a request to a server from this machine, as the proxy would send it by the rules.
enum ServerProbe {
    /// The response to the request without a credential. Blocks.
    static func response(
        to request: ExplainedRequest, by configuration: Configuration
    ) throws(CommandError) -> ChallengeProbe.Response {
        try ask(request, by: configuration, readsPage: true)
            .mapError { CommandError.failed("no response: \($0.sentence)") }.get()
    }

    /// Sends the request. Blocks.
    ///
    /// - Parameters:
    ///   - credentials: those of the rules, refreshed; nil: none is sent.
    ///   - readsPage: whether the response's HTML page is read.
    /// - Throws: if the rules do not allow the request.
    static func ask(
        _ request: ExplainedRequest, by configuration: Configuration, trying credentials: ConfiguredCredentials? = nil,
        readsPage: Bool = false
    ) throws(CommandError) -> Result<ChallengeProbe.Response, ChallengeProbe.Failure> {
        let (probe, question) = try probe(request, by: configuration, trying: credentials, readsPage: readsPage)
        return try CommandError.failing { try BlockingTask.run { loop in await probe.ask(question, on: loop) } }
    }

    /// The metadata of a server that announces its tokens (RFC 9728); nil if it has none. Blocks.
    ///
    /// - Parameter challenge: the server's challenge for a token; nil if it sends none.
    static func metadata(
        of origin: Origin, for request: ExplainedRequest, by configuration: Configuration, _ challenge: HeaderChallenge?
    ) throws(CommandError) -> Result<ResourceMetadata?, TokenError> {
        let (probe, question) = try probe(request, by: configuration)
        let (announced, target) = (challenge?.text("resource_metadata"), Array(request.target.utf8))
        do throws(IOError) {
            return try BlockingTask.run { loop in
                await probe.metadata(of: origin, announced: announced, for: target, besides: question, on: loop)
            }
        } catch { throw .failed("\(error)") }
    }

    /// - Throws: if the rules do not allow the request.
    private static func probe(
        _ request: ExplainedRequest, by configuration: Configuration, trying credentials: ConfiguredCredentials? = nil,
        readsPage: Bool = false
    ) throws(CommandError) -> (ChallengeProbe, ChallengeProbe.Request) {
        let rules = RuleSet(configuration)
        let route = rules.route(host: request.host.utf8Span.span, port: request.port)
        if route.action == .deny { throw .failed("not sent: the route says 'deny'") }
        if request.isInTunnel, !rules.egress.permitsConnect(port: request.port) {
            throw .failed(
                "not sent: CONNECT is not allowed to port \(request.port); add it to 'egress { connect-ports … }'")
        }
        guard let scheme = request.scheme else { throw .failed("only http and https servers can be asked") }
        let trust = try CommandError.failing { try TrustSources(rules) }
        let isSecure = scheme == .https || route.upgrade != nil
        if isSecure || route.parentList != nil { trust.readSystem() }
        for error in trust.refresh() { Console.error("\(error)") }
        let probe = ChallengeProbe(
            configuration, trust: trust, automaticParents: configuration.automaticParents, trying: credentials,
            exceptions: isSecure ? TrustInquiry(configuration).exceptions(for: request.host, port: request.port) : [])
        var sent = ChallengeProbe.Request(
            method: request.method, url: request.url, scheme: scheme, host: request.host, port: request.port)
        sent.readsPage = readsPage
        return (probe, sent)
    }
}

extension ExplainedRequest {
    /// Returns this request with another target of its server.
    func reaching(_ target: String) -> ExplainedRequest {
        if target == self.target { return self }
        var other = self
        let host = host.contains(":") ? "[\(host)]" : host
        other.url = "\(`protocol` == .https ? "https" : "http")://\(host):\(port)\(target)"
        other.target = target
        return other
    }

    /// The scheme; nil for a request that no HTTP server gets.
    fileprivate var scheme: Scheme? {
        switch `protocol` {
        case .http: .http
        case .https: .https
        case .ftp, .socks: nil
        }
    }
}
