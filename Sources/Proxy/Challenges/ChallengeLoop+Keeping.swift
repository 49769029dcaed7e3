import Authentication
import Credentials
import IO
import Rules
import Telemetry

/// What is kept of a request's answer, and found for a later one.
extension ChallengeLoop {
    /// A `401` may show that a client's own answer is needed.
    func noteChallenges(_ challenges: [HeaderChallenge]) {
        if let sighting { learning.sawChallenges(challenges, to: sighting) }
    }

    private var learning: Learning {
        Learning(upstreams: upstreams, policy: policy, origin: origin, delegate: delegate)
    }

    /// What is kept for the space: from this client's session, else what this response has just proven that the client
    /// knows, else the storage's default.
    func kept(for space: ProtectionSpace) -> Credential? {
        let limit = policy.rules.configuration.timeouts.session.milliseconds
        let ofSession = shared.sessionCredentials.credential(
            for: space, of: delegate.client, at: loop.epochMilliseconds, limit: limit)
        if let ofSession { return ofSession }
        if let sighting, let proven = learning.proven(for: space, by: sighting) { return proven }
        return shared.storage.defaultCredential(for: space) ?? space.general.flatMap(shared.storage.defaultCredential)
    }

    /// Whether processes to come will have the credential too: the rule file names it, or it is stored.
    func isLasting(_ answer: Authentication.Answer) -> Bool {
        let version = answer.credential.version
        if (try? policy.credentials.credential(named: version.name)) != nil { return true }
        guard let user = answer.credential.user else { return false }
        return [answer.space, answer.space.general].contains { space in
            space.map { shared.storage.version(of: user, for: $0) == version } ?? false
        }
    }

    /// Keeps what came with the request's URL, for as long as a rule says; what the rule file names is kept there.
    func keep(_ answer: Authentication.Answer) {
        let (shared, credential, space) = (shared, answer.credential, answer.space)
        guard credential.version == urlCredential?.version, record.ruleLine > 0 else { return }
        switch credential.persistence {
        case .none: break
        case .session:
            shared.sessionCredentials.put(
                credential, for: space, of: delegate.client, at: loop.epochMilliseconds,
                limit: policy.rules.configuration.timeouts.session.milliseconds)
            shared.sessionOrigins.insert([space.origin])
        case .permanent: loop.spawn { await shared.keep(credential, for: space) }
        }
    }
}
