import Authentication
import Bytes
import Challenges
import Credentials
import HTTP
import IO
import Model
import Rules
import Telemetry
import Upstream

/// The keys by which requests are signed.
extension ForwardingContext {
    /// The signing of the request; nil if no rule signs it, or the client has signed it. Call it only if a rule signs.
    /// - Parameter keepsAuthorization: whether the client's own `Authorization` is forwarded.
    func signing(keepsAuthorization: Bool = false) throws(Refusal) -> RequestSigning? {
        guard isConcerned, let (name, rule) = signer else { return nil }
        let credential: Credential
        do throws(CredentialError) { credential = try policy.credentials.credential(named: name) } catch {
            exchange.record.facts.details = "\(error)"
            // The server then says what it wants.
            if error.isOfProgram {
                exchange.credentials.unsigned = "\(error)"
                return nil
            }
            downstream.shared.report("\(error)")
            throw Refusal(
                .badGateway, .httpRequestDenied,
                "credential \(name), which signs requests to this server, cannot be read; the proxy's log says why")
        }
        guard let key = credential.signingKey, !keepsAuthorization || key.scheme == .message else { return nil }
        let target = exchange.target
        let head = exchange.headBytes
        if RequestSigning.isPresigned(target.readable, by: key.scheme) { return nil }
        let isSigned = RequestSigning.isSigned(exchange.request, in: head.readable, by: key.scheme)
        if isSigned, authorization == .keep { return nil }
        let answer = AnswerRecord(scheme: .signature(key.scheme), credential: name, rule: rule.rule)
        return try RequestSigning(
            exchange.request, in: head.readable, with: key, over: origin.isSecure,
            isDue: key.scheme != .message || rule.preemption == .always, recordedAs: answer)
    }

    /// The credential of the rule for requests without a challenge; nil if it has places of its own.
    private var signer: (name: String, rule: RuleDecision)? {
        var query = ChallengeQuery(
            host: origin.hostText, port: origin.port, protocol: origin.authority.protocol, method: .default,
            client: downstream.identity(in: exchange))
        query.isSecure = origin.isSecure
        let rule = rules.decide(query)
        guard !rule.isReport, case .use(let names) = rule.action, let name = names.first, !rule.isPlaced else {
            return nil
        }
        return (name, rule)
    }

    /// The question to the program that gives the key by which the request is signed; nil if it need not run now. A key
    /// that is about to end is read again meanwhile.
    @inline(__always)
    var signingQuestion: HelperQuestion? { rules.speaks(of: .signatures) ? signingQuestionByRule : nil }

    private var signingQuestionByRule: HelperQuestion? {
        let credentials = policy.credentials
        guard credentials.hasHelpers, !exchange.credentials.hasSoughtKey, isConcerned, let (name, _) = signer else {
            return nil
        }
        let now = downstream.loop.wallTime
        if let question = credentials.question(name, for: nil, at: now) { return question }
        if let question = credentials.renewal(name, for: origin.authority, at: now) {
            let state = downstream.shared.challenges
            downstream.loop.spawn { _ = await state.ask(question, of: credentials) }
        }
        return nil
    }
}
