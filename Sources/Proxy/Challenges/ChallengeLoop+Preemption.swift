import Authentication
import Bytes
import Credentials
import Rules

/// Answers that are given before they are asked for.
extension ChallengeLoop {
    /// Whether the answer to give unasked, or that none is to be given, could be found without waiting.
    mutating func prepareAtOnce() -> Bool {
        let (host, target) = (origin.host, exchange.target)
        guard let known = shared.spaces.known(host: host.span, port: origin.port, protocol: origin.authority.protocol)
        else { return false }
        guard let (space, rule) = space(of: target, in: known) else { return known.isOpen(target.readable) }
        guard case .use(let name) = rule.answer,
            let stated = try? policy.credentials.credential(named: name), let credential = tokens.current(stated)
        else { return false }
        return preempt(space, of: known, by: rule, with: credential) || isLeftOpen(target, in: known, to: credential)
    }

    /// Whether the target lies in a space that accepted this client's credential before.
    mutating func preempt(_ target: ByteBuffer) async -> Bool {
        let host = origin.host
        guard let known = shared.spaces.known(host: host.span, port: origin.port, protocol: origin.authority.protocol),
            let (space, rule) = space(of: target, in: known)
        else { return false }
        return preempt(space, of: known, by: rule, with: await credential(rule, for: space.space))
    }

    /// The space that the target lies in, and what the rules say of it, if it may be answered unasked.
    private func space(of target: ByteBuffer, in known: KnownOrigin) -> (KnownSpace, Rules.Decision)? {
        guard let space = known.space(covering: target.readable) else { return nil }
        let rule = delegate.rule(for: space.space, failures: 0)
        return rule.isPreemptive ? (space, rule) : nil
    }

    private mutating func preempt(
        _ space: KnownSpace, of known: KnownOrigin, by rule: Rules.Decision, with credential: Credential?
    ) -> Bool {
        guard let credential,
            let authenticator = space.authenticator(for: credential.version) ?? successor(in: space, with: credential)
        else { return false }
        if case .connection = authenticator.binding, isLeftOpen(exchange.target, in: known, to: credential) {
            return false
        }
        let answer = space.answer(with: credential, kept: Credential.Persistence(rule.persistence))
        task = ChallengeTask(urlCredential: urlCredential, preempted: answer)
        take(authenticator, for: answer)
        note(rule)
        return true
    }

    /// Whether a login would be begun for a target that was last seen to need none. There is no space then whose
    /// requests carry an answer, only connections, and the client has none that is logged in.
    private func isLeftOpen(_ target: ByteBuffer, in known: KnownOrigin, to credential: Credential) -> Bool {
        known.isOpen(target.readable) && !logins.holds(credential.version, to: origin)
    }

    private func credential(_ rule: Rules.Decision, for space: ProtectionSpace) async -> Credential? {
        switch rule.answer {
        case .use(let name):
            guard let stated = try? policy.credentials.credential(named: name) else { return nil }
            return await exchanged(stated, for: space)
        case .performDefault:
            if let urlCredential { return urlCredential }
            return await kept(for: space)
        case .reject, .cancel, .trust: return nil
        }
    }
}
