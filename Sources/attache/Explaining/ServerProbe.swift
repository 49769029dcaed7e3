import Credentials
import Forwarding
import HTTP
import IO
import Model
import PAC
import Rules
import TLS
import Upstream

/// A request to a server from this machine, as the proxy would send it by the rules.
enum ServerProbe {
    /// Blocks.
    /// - Parameter credentials: those of the rules, refreshed; nil: none is sent.
    static func response(
        to request: ExplainedRequest, by configuration: Configuration, trying credentials: ConfiguredCredentials? = nil
    ) throws(CommandError) -> ChallengeProbe.Response {
        let rules = RuleSet(configuration)
        let route = rules.route(host: request.host.utf8Span.span, port: request.port)
        if route.action == .deny { throw .failed("not sent: the route says 'deny'") }
        if request.isInTunnel, !rules.egress.permitsConnect(port: request.port) {
            throw .failed(
                "not sent: CONNECT is not allowed to port \(request.port); add it to 'egress { connect-ports … }'")
        }
        guard let scheme = request.scheme else { throw .failed("only http and https servers can be asked") }
        let trust: TrustSources
        do throws(TrustAnchorsError) { trust = try TrustSources(rules) } catch { throw .failed("\(error)") }
        if scheme == .https || route.upgrade != nil || route.parentList != nil { trust.readSystem() }
        for error in trust.refresh() { Console.error("\(error)") }
        let automatic = configuration.parents.compactMap { parent in
            parent.automatic.map { (parent.name, PACFile(path: $0)) }
        }
        let probe = ChallengeProbe(
            configuration, trust: trust, automaticParents: Dictionary(automatic) { $1 }, trying: credentials)
        return try answer(
            of: probe,
            to: ChallengeProbe.Request(
                method: request.method, url: request.url, scheme: scheme, host: request.host, port: request.port))
    }

    private static func answer(
        of probe: ChallengeProbe, to request: ChallengeProbe.Request
    ) throws(CommandError) -> ChallengeProbe.Response {
        let result: Result<ChallengeProbe.Response, ChallengeProbe.Failure>
        do throws(IOError) {
            result = try BlockingTask.run { loop in await probe.ask(request, on: loop) }
        } catch { throw .failed("\(error)") }
        switch result {
        case .failure(let failure): throw .failed("no response: \(failure.sentence)")
        case .success(let response): return response
        }
    }
}

extension ExplainedRequest {
    /// Nil for one that no HTTP server gets.
    fileprivate var scheme: Scheme? {
        switch `protocol` {
        case .http: .http
        case .https: .https
        case .ftp, .socks: nil
        }
    }
}
