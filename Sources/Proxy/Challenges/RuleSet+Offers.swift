import Authentication
import Rules

extension ChallengeQuery {
    /// What the rules are asked about a protection space.
    public init(_ space: ProtectionSpace, client: ClientIdentity, failures: Int = 0) {
        self.init(
            host: space.host, port: space.port, protocol: ChallengeProtocol(space.protocol), realm: space.realm,
            method: ChallengeMethod(space.authenticationMethod), isProxy: space.isProxy,
            isSecure: space.receivesCredentialSecurely, client: client, failures: failures)
    }
}

extension RuleSet {
    /// What can be answered of a response's challenges, in the order in which it is tried: as the strongest one whose
    /// rule has an `order` says, else by strength.
    ///
    /// - Returns: the offers, and the rule that ordered them.
    public func offers(
        in challenges: [HeaderChallenge], from origin: Authentication.Origin, client: ClientIdentity, failures: Int = 0,
        order: ChallengeOrder = ChallengeOrder()
    ) -> (offers: [Offer], orderedBy: RuleReference?) {
        let offers = order.offers(in: challenges, from: origin)
        for offer in offers {
            let rule = decide(ChallengeQuery(offer.space, client: client, failures: failures))
            guard !rule.order.isEmpty else { continue }
            let methods = rule.order.map { AuthenticationMethod($0) }
            return (order.offers(in: challenges, from: origin, preferring: methods), rule.rule)
        }
        return (offers, nil)
    }
}
