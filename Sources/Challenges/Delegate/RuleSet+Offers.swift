import Authentication
import IO
import Model
import Rules

extension ChallengeQuery {
    /// Creates the query about a protection space.
    public init(_ space: ProtectionSpace, client: ClientIdentity, failures: Int = 0) {
        self.init(
            host: space.host, port: space.port, protocol: space.protocol, realm: space.realm,
            method: space.authenticationMethod, client: client)
        isProxy = space.isProxy
        isSecure = space.receivesCredentialSecurely
        self.failures = failures
    }

    /// Creates the query about a challenge.
    public init(_ challenge: AuthenticationChallenge, client: ClientIdentity) {
        self.init(challenge.protectionSpace, client: client, failures: challenge.previousFailureCount)
        guard MethodSet.tls.contains(method) else { return }
        issuers = challenge.distinguishedNames
        findings = challenge.findings
        today = Day(of: SystemClock.wallTime)
    }
}

extension RuleSet {
    /// The challenges of a response that can be answered, in the order in which they are tried. The order is that of
    /// the strongest challenge whose rule has an `order`, else by strength. Challenges that no rule covers come last,
    /// because they would end the round. After them come those of unknown schemes that a rule covers.
    ///
    /// - Returns: the offers, and the rule that ordered them.
    public func offers(
        in challenges: [HeaderChallenge], from origin: Origin, client: ClientIdentity, failures: Int = 0,
        order: ChallengeOrder = ChallengeOrder()
    ) -> (offers: [Offer], orderedBy: RuleReference?) {
        let known = order.offers(in: challenges, from: origin)
        // A single challenge needs no order, and the rules are asked about it later.
        if challenges.count == 1, known.count == 1 { return (known, nil) }
        let others = known.count < challenges.count ? order.unknownOffers(in: challenges, from: origin) : []
        let unknown = others.filter {
            decide(ChallengeQuery($0.space, client: client, failures: failures)).rule != nil
        }
        var spokenOf: [Offer] = []
        var unspokenOf: [Offer] = []
        for offer in known {
            let rule = decide(ChallengeQuery(offer.space, client: client, failures: failures))
            if !rule.order.isEmpty {
                let methods = rule.order
                return (order.offers(in: challenges, from: origin, preferring: methods) + unknown, rule.rule)
            }
            if rule.rule == nil { unspokenOf.append(offer) } else { spokenOf.append(offer) }
        }
        return (spokenOf + unspokenOf + unknown, nil)
    }
}
