import Authentication
import Model
import Rules

extension ChallengeQuery {
    /// The question to the rules about a protection space.
    public init(_ space: ProtectionSpace, client: ClientIdentity, failures: Int = 0) {
        self.init(
            host: space.host, port: space.port, protocol: space.protocol, realm: space.realm,
            method: space.authenticationMethod, client: client)
        isProxy = space.isProxy
        isSecure = space.receivesCredentialSecurely
        self.failures = failures
    }
}

extension RuleSet {
    /// The challenges of a response that can be answered, in the order in which they are tried: as the strongest one whose
    /// rule has an `order` says, else by strength. What no rule speaks of comes last, since it would end the round.
    ///
    /// - Returns: the offers, and the rule that ordered them.
    public func offers(
        in challenges: [HeaderChallenge], from origin: Origin, client: ClientIdentity, failures: Int = 0,
        order: ChallengeOrder = ChallengeOrder()
    ) -> (offers: [Offer], orderedBy: RuleReference?) {
        var spokenOf: [Offer] = []
        var others: [Offer] = []
        for offer in order.offers(in: challenges, from: origin) {
            let rule = decide(ChallengeQuery(offer.space, client: client, failures: failures))
            if !rule.order.isEmpty {
                let methods = rule.order
                return (order.offers(in: challenges, from: origin, preferring: methods), rule.rule)
            }
            if rule.rule == nil { others.append(offer) } else { spokenOf.append(offer) }
        }
        spokenOf += others
        return (spokenOf, nil)
    }
}
