import Forwarding
import HTTP
import IO
import Model
import PAC
import Rules
import TLS
import Upstream

/// The response that a server gives to the request itself, without a credential.
struct ExplainedAnswer {
    /// Nil: it does not challenge.
    let challenges: ExplainedChallenges?
    /// What came back, for the explanation.
    let words: String

    /// Sends the request. Blocks.
    static func fetch(
        for request: ExplainedRequest, by configuration: Configuration
    ) throws(CommandError) -> ExplainedAnswer {
        let rules = RuleSet(configuration)
        let route = rules.route(host: request.host.utf8Span.span, port: request.port)
        if route.action == .deny { throw .failed("nobody is asked: the route denies it") }
        if request.isInTunnel, !rules.egress.permitsConnect(port: request.port) {
            throw .failed("nobody is asked: 'connect-ports' does not have port \(request.port)")
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
            configuration, trust: trust, automaticParents: Dictionary(automatic) { $1 })
        return try answer(
            of: probe,
            to: ChallengeProbe.Request(
                method: request.method, url: request.url, scheme: scheme, host: request.host, port: request.port))
    }

    private static func answer(
        of probe: ChallengeProbe, to request: ChallengeProbe.Request
    ) throws(CommandError) -> ExplainedAnswer {
        let result: Result<ChallengeProbe.Response, ChallengeProbe.Failure>
        do throws(IOError) {
            result = try BlockingTask.run { loop in await probe.ask(request, on: loop) }
        } catch { throw .failed("\(error)") }
        switch result {
        case .failure(let failure): throw .failed("no response came: \(failure.sentence)")
        case .success(let response): return ExplainedAnswer(response)
        }
    }

    private init(_ response: ChallengeProbe.Response) {
        let giver = response.isOfParent ? "the parent" : "the origin"
        let isChallenge = response.status == (response.isOfParent ? 407 : 401)
        let hasLines = isChallenge && !response.lines.isEmpty
        challenges =
            hasLines ? ExplainedChallenges(values: response.lines, isOfParent: response.isOfParent) : nil
        if hasLines {
            words = "\(giver) answers \(response.status): \(response.lines.joined(separator: ", "))"
        } else {
            words = "\(giver) answers \(response.status), and does not challenge"
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
