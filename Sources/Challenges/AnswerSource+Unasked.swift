import Authentication
import Bytes
import Credentials
import IO
import Model
import Rules

/// What a request itself says to credentials that rules send unasked.
public struct UnaskedTerms {
    /// Whether the client's own `Authorization` goes on, beside which no challenge is answered.
    public var keepsAuthorization = false
    /// Whether a parent proxy could read what is sent.
    public var isReadOnTheWay = false
    /// Whether the client itself says something in that place, which goes on.
    public var keeps: ((CredentialPlacement) -> Bool)?

    public init() {}
}

/// Credentials that rules send with every request, whether anybody asks for them or not.
extension AnswerSource {
    /// The answer that a rule gives in a place of its own.
    func placed(at target: ByteBuffer, with token: Credential?) -> Finding? {
        policy.rules.speaks(of: .places) ? unasked([.default], at: target, with: token) : nil
    }

    /// The answer that a rule gives in the field of answers.
    func preempted(at target: ByteBuffer, with token: Credential?) -> Finding? {
        policy.rules.speaks(of: .preemption) ? unasked([.bearer, .basic], at: target, with: token) : nil
    }

    /// The answer that a rule gives with that credential in each request; nil where it gives none.
    func unaskedAnswer(with credential: Credential, at target: ByteBuffer) -> PreparedAnswer? {
        let token = credential.token == nil ? nil : credential
        switch placed(at: target, with: token) ?? preempted(at: target, with: token) {
        case .answer(let prepared, _)?, .unproven(let prepared, _)?:
            return prepared.answer.credential.version == credential.version ? prepared : nil
        default: return nil
        }
    }

    /// The challenge that a server need not make: what it says no to is judged as an answer to this.
    func unaskedOffer() -> Offer? {
        let rules = policy.rules
        guard rules.speaks(of: .places) || rules.speaks(of: .preemption) else { return nil }
        let methods: [AuthenticationMethod] = terms.keepsAuthorization ? [.default] : [.default, .bearer, .basic]
        guard let (space, rule) = unaskedRule(for: methods), case .use(let names) = rule.action, let name = names.first,
            let named = try? policy.credentials.credential(named: name), !isKept(named)
        else { return nil }
        return Offer(space: space, challenge: .unasked, strength: Strength.unknown)
    }

    private func unaskedRule(for methods: [AuthenticationMethod]) -> (ProtectionSpace, Ruling)? {
        guard !terms.isReadOnTheWay, [.http, .https].contains(challenger.origin.protocol) else { return nil }
        for method in methods {
            let space = ProtectionSpace(origin: challenger.origin, realm: nil, authenticationMethod: method)
            let rule = delegate.rule(for: space, failures: 0)
            // A rule that also holds for origins sends nothing to a parent before it asks.
            if challenger.isProxy, !rule.isForParents { continue }
            if method == .default ? rule.isPlaced : rule.preemption == .always { return (space, rule) }
        }
        return nil
    }

    /// Whether the client's own word stands in its place.
    private func isKept(_ credential: Credential) -> Bool {
        guard let keeps = terms.keeps else { return false }
        return credential.placements.contains(where: keeps)
    }

    /// - Returns: nil where there is none, or it is not sent to that target before its time.
    private func unasked(
        _ methods: [AuthenticationMethod], at target: ByteBuffer, with token: Credential?
    ) -> Finding? {
        guard let (space, rule) = unaskedRule(for: methods), case .use(let names) = rule.action, let name = names.first
        else { return nil }
        let named: Credential
        do throws(CredentialError) { named = try policy.credentials.credential(named: name) } catch {
            return .unusable("\(error)", credential: name)
        }
        if isKept(named) { return nil }
        let fetched = token.flatMap { $0.version.isNamed(name) ? $0 : nil }
        guard let credential = fetched ?? state.current(named, at: loop.epochMilliseconds) else {
            return .awaitsToken(WantedToken(for: named, in: space))
        }
        let known = knownOrigin?.space(space)
        let answer =
            known?.answer(
                with: credential, kept: rule.persistence, isForAll: true, by: evidence(of: credential))
            ?? Answer(
                space: space, challenge: .unasked, credential: credential.with(rule.persistence),
                evidence: evidence(of: credential))
        var authenticator = known?.authenticator(for: credential.version)
        do throws(AuthenticationError) {
            if authenticator == nil {
                authenticator = try policy.order.authenticator(for: answer, at: target.readable)
            }
        } catch { return .unusable("\(error)", credential: name) }
        return authenticator.flatMap { authenticator in
            let prepared = PreparedAnswer(authenticator: authenticator, answer: answer)
            return evidence(of: credential).isGood
                ? .answer(prepared, by: rule.rule) : .unproven(prepared, by: rule.rule)
        }
    }
}
