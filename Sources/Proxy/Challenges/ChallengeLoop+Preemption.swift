import Authentication
import Bytes
import Credentials
import Rules

/// Answers that are given before they are asked for.
extension ChallengeLoop {
    /// Whether the answer to give unasked, or that none is to be given, could be found without waiting.
    mutating func prepareAtOnce() -> Bool {
        guard let known = knownOrigin else { return false }
        guard let (space, rule) = space(of: target, in: known) else { return known.isOpen(target.readable) }
        guard let credential = credentialAtOnce(rule, for: space.space) else { return false }
        return preempt(space, of: known, by: rule, with: credential) || isLeftOpen(target, in: known, to: credential)
    }

    /// Whether the target lies in a space that accepted this client's credential before.
    mutating func preempt(_ target: ByteBuffer) async -> Bool {
        guard let known = knownOrigin, let (space, rule) = space(of: target, in: known)
        else { return false }
        return preempt(space, of: known, by: rule, with: await credential(rule, for: space.space))
    }

    /// The request goes out again, which this server has let pass: what it was answered with then is given unasked.
    mutating func renew() {
        answered = answered.map { Authentication.Answer(space: $0.space, challenge: nil, credential: $0.credential) }
        task = ChallengeTask(urlCredential: urlCredential, preempted: answered)
    }

    private var knownOrigin: KnownOrigin? {
        let host = origin.host
        return shared.spaces.known(
            host: host.span, port: origin.port, protocol: origin.authority.protocol, isProxy: origin.isProxy)
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
        // Another process may have found out that it is no good any more.
        guard let credential, !shared.spaces.parked.contains(credential.version, for: space.space),
            let authenticator = space.authenticator(for: credential.version) ?? successor(in: space, with: credential)
        else { return false }
        if case .connection = authenticator.binding, isLeftOpen(target, in: known, to: credential) {
            return false
        }
        if case .session(let session) = authenticator.binding, !session.isOpen { return false }
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

    /// The credential that the rules give this client there; nil also for one that has to be exchanged for a token first.
    private func credentialAtOnce(_ rule: Rules.Decision, for space: ProtectionSpace) -> Credential? {
        switch rule.answer {
        case .use(let name): (try? policy.credentials.credential(named: name)).flatMap { tokens.current($0) }
        case .performDefault where space.authenticationMethod == .negotiate && !rule.namesMethod: nil
        case .performDefault: urlCredential ?? kept(for: space)
        case .reject, .cancel, .trust: nil
        }
    }

    private func credential(_ rule: Rules.Decision, for space: ProtectionSpace) async -> Credential? {
        guard case .use(let name) = rule.answer else { return credentialAtOnce(rule, for: space) }
        guard let stated = try? policy.credentials.credential(named: name) else { return nil }
        return await exchanged(stated, for: space)
    }
}
