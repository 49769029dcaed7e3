import Model

/// The supported schemes, and the order in which a response's challenges are tried.
public struct ChallengeOrder: Sendable {
    public let schemes: [any AuthenticationScheme]

    /// - Parameter schemes: the schemes; the one that protects credentials best comes first.
    public init(
        schemes: [any AuthenticationScheme] = [
            NegotiateScheme(), NTLMScheme(), DigestScheme(), BearerScheme(), FormScheme(), BasicScheme(),
        ]
    ) {
        self.schemes = schemes
    }

    /// The challenges that can be answered, strongest first; equal ones stay in the server's order.
    ///
    /// - Parameter preferred: the methods that a rule puts first, in its order. The others follow by strength.
    public func offers(
        in challenges: [HeaderChallenge], from origin: Origin, preferring preferred: [AuthenticationMethod] = []
    ) -> [Offer] {
        let offers = challenges.compactMap { offer(of: $0, from: origin) }
        guard offers.count > 1 else { return offers }
        let rank = { (offer: Offer) in
            preferred.firstIndex(of: offer.space.authenticationMethod) ?? preferred.count
        }
        return offers.enumerated().sorted { left, right in
            (rank(left.element), -left.element.strength, left.offset)
                < (rank(right.element), -right.element.strength, right.offset)
        }.map(\.element)
    }

    private func offer(of challenge: HeaderChallenge, from origin: Origin) -> Offer? {
        for (place, scheme) in schemes.enumerated() {
            guard let strength = scheme.strength(of: challenge) else { continue }
            return Offer(
                space: ProtectionSpace(origin: origin, realm: challenge.realm, authenticationMethod: scheme.method),
                challenge: challenge, strength: (schemes.count - place) * 4 + strength)
        }
        return nil
    }

    /// The challenges of unsupported schemes, in the server's order. A delegate may decide about them, but no scheme
    /// can answer them.
    public func unknownOffers(in challenges: [HeaderChallenge], from origin: Origin) -> [Offer] {
        let methods = schemes.map(\.method).filter { $0 != .htmlForm }
        return challenges.filter { challenge in
            challenge != .loginPage && challenge != .socksPassword
                && !methods.contains { $0.rawValue == challenge.scheme }
        }.map { challenge in
            Offer(
                space: ProtectionSpace(origin: origin, realm: challenge.realm, authenticationMethod: .other),
                challenge: challenge, strength: 0)
        }
    }

    /// The authenticator for `answer`, which must have a challenge.
    ///
    /// - Parameter nonces: the counts of the nonces that the space's server has named so far; nil if it has named none.
    public func authenticator(
        for answer: Answer, at target: Span<UInt8>, counting nonces: NonceCounts? = nil
    ) throws(AuthenticationError) -> any Authenticator {
        let method = answer.space.authenticationMethod
        if answer.isPreemptive {
            return try PreemptiveScheme.authenticator(in: answer.space, with: answer.credential, by: schemes)
        }
        if let given = answer.credential.given, let challenge = answer.challenge {
            return GivenScheme.authenticator(with: given, for: challenge, in: answer.space, at: target)
        }
        guard let challenge = answer.challenge, let scheme = schemes.first(where: { $0.method == method }) else {
            throw .unusableChallenge(method: method)
        }
        if let digest = scheme as? DigestScheme, let nonces {
            return try digest.authenticator(
                for: challenge, in: answer.space, at: target, with: answer.credential, counting: nonces)
        }
        return try scheme.authenticator(for: challenge, in: answer.space, at: target, with: answer.credential)
    }
}
