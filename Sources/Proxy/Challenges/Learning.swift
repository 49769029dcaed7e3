import Authentication
import Crypto
import IO
import Rules
import Telemetry

/// Keeps what clients' own answers taught, as the rules say.
struct Learning {
    let upstreams: Upstreams
    let policy: Policy
    let origin: Origin
    let delegate: RuleDelegate

    init(upstreams: Upstreams, policy: Policy, origin: Origin, delegate: RuleDelegate) {
        self.upstreams = upstreams
        self.policy = policy
        self.origin = origin
        self.delegate = delegate
    }

    init(requester: Requester, exchange: Exchange, origin: Origin) {
        let client = requester.identity(in: exchange)
        self.init(
            upstreams: requester.upstreams, policy: exchange.policy, origin: origin,
            delegate: RuleDelegate(policy: exchange.policy, shared: requester.shared, client: client))
    }

    private var shared: SharedState { upstreams.shared }
    var sightings: AnswerSightings<SessionClient> { shared.sightings }
    var sessionClient: SessionClient { SessionClient(delegate.client) }

    /// A `401` came. The spaces are that of Basic, and of Digest for the same realm: behind both is the same account.
    func sawChallenges(_ challenges: [HeaderChallenge], to request: AnswerSightings<SessionClient>.Request) {
        let offers = policy.order.offers(in: challenges, from: origin.authority).map(\.space)
        guard let basic = offers.first(where: { $0.authenticationMethod == .basic }) else { return }
        sightings.challenged(
            request,
            for: offers.filter { [.basic, .digest].contains($0.authenticationMethod) && $0.realm == basic.realm })
    }

    /// What the client itself has shown to be right for a space that a response names just now, and is kept from now on.
    func proven(
        for space: ProtectionSpace, by request: AnswerSightings<SessionClient>.Request
    ) -> Credential? {
        guard learns(space) != nil else { return nil }
        let proven = sightings.proven(
            for: space, by: sessionClient, to: request, at: upstreams.loop.epochMilliseconds,
            limit: policy.rules.configuration.timeouts.session.milliseconds)
        guard let proven, let user = proven.user, let password = proven.password else { return nil }
        return keep(user, password, for: space)
    }

    /// Nil when no rule wants it to be learned.
    private func learns(_ space: ProtectionSpace) -> Credential.Persistence? {
        let rule = delegate.rule(for: space, failures: 0)
        guard rule.learns, rule.answer == .performDefault else { return nil }
        let persistence = Credential.Persistence(rule.persistence)
        return persistence == .none ? nil : persistence
    }

    @discardableResult
    func keep(_ user: String, _ password: Secret, for space: ProtectionSpace) -> Credential? {
        guard let persistence = learns(space) else { return nil }
        let credential = Credential(
            name: space.credentialName(of: user), user: user, password: password, persistence: persistence)
        if persistence == .session {
            shared.sessionCredentials.put(
                credential, for: space, of: delegate.client, at: upstreams.loop.epochMilliseconds,
                limit: policy.rules.configuration.timeouts.session.milliseconds)
        } else {
            let shared = shared
            upstreams.loop.spawn { await shared.keep(credential, for: space) }
        }
        return credential
    }
}
