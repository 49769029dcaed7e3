import Authentication
import Bytes
import HTTP
import Rules
import Telemetry

/// What of a request's challenges is ours to answer, by its rules, its URL and what is stored for its origin.
struct RequestAnswers {
    let requester: Requester
    let exchange: Exchange
    let destination: Destination
    private var rules: RuleSet { exchange.policy.rules }

    /// Whether a challenge of this origin is ours to answer: a rule speaks of it, or the URL or the storage has a
    /// credential, and the client brings no `Authorization` of its own that is to be kept. A TRACE response would show the
    /// credential.
    var mayAnswer: Bool {
        let (request, origin) = (exchange.request, destination.origin)
        guard request.target.userinfo != nil || origin.isConcerned(by: rules, in: requester.shared),
            request.method != .trace
        else { return false }
        guard request.fields.present.contains(.authorization) else { return true }
        let host = origin.host
        return rules.authorization(
            host: host.span, port: origin.port, protocol: ChallengeProtocol(origin.authority.protocol),
            isSecure: origin.isSecure, client: requester.identity(in: exchange)) == .replace
    }

    /// What signs the request; nil where no rule has it signed.
    func signing() throws(Refusal) -> RequestSigning? {
        try RequestSigning(
            exchange, to: destination.origin, from: requester.identity(in: exchange), requester.shared)
    }

    /// What answers the origin's challenges.
    var challenges: ChallengeLoop {
        let head = exchange.headBytes
        return ChallengeLoop(
            requester: requester, exchange: exchange, origin: destination.origin, over: exchange.upstream,
            target: exchange.target, hasBody: !exchange.body.isEmpty,
            urlCredential: URLCredential.of(exchange.request, in: head.readable),
            forms: LoginForms.of(requester: requester, exchange: exchange, destination: destination))
    }

    /// The client's own answer that goes to the origin, where a rule wants to know what becomes of it.
    var lesson: Lesson? {
        guard exchange.request.fields.present.contains(.authorization), exchange.challengers?.hasOrigin != true,
            exchange.signing == nil, destination.origin.mayLearn(by: rules)
        else { return nil }
        return Lesson(exchange, to: destination.origin)
    }

    /// Learns from the response's head.
    func learn() {
        guard let lesson = exchange.lesson else { return }
        lesson.judge(exchange, by: Learning(requester: requester, exchange: exchange, origin: destination.origin))
    }
}
