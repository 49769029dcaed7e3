import Authentication
import IO

/// Asks a token endpoint for a token. Implemented by the side that makes requests.
public protocol TokenFetching {
    func fetch(_ grant: TokenGrant) async throws(TokenError) -> TokenResponse
}

/// Why there is no token to answer with.
enum MissingToken: Error, CustomStringConvertible {
    /// The request is one that a token is fetched by.
    case ownRequest
    /// The sentence says which credential has none, and why.
    case failed(String)

    public var description: String {
        switch self {
        case .ownRequest: "none can be fetched through it"
        case .failed(let sentence): sentence
        }
    }
}

/// Exchanges credentials for the tokens that they are given for: those at hand, or fetched now, once for all who wait.
public struct TokenSupply {
    public let state: ChallengeState
    public let timeouts: ChallengePolicy.Timeouts
    public let loop: EventLoop
    public let fetcher: any TokenFetching

    private var store: TokenStore { state.tokens }

    /// The decision with the token in the credential's place. A token that a server refuses is renewed once: it counts
    /// against nobody's account.
    ///
    /// - Parameter isOwn: whether the request is the proxy's own, which waits for no token.
    func exchange(
        _ decision: Decision, for challenge: AuthenticationChallenge, isOwn: Bool
    ) async throws(MissingToken) -> Decision {
        guard case .useCredential(let credential) = decision.disposition, credential.grant != nil else {
            return decision
        }
        let refused = challenge.previousFailureCount > 0 ? challenge.proposedCredential?.version : nil
        if isOwn {
            guard let token = state.current(credential, at: loop.epochMilliseconds), token.version != refused else {
                throw .ownRequest
            }
            return Decision(.useCredential(token), reason: decision.reason)
        }
        do throws(TokenError) {
            let token = try await token(for: credential, in: challenge.protectionSpace, besides: refused)
            return Decision(
                .useCredential(token), attempts: max(2, decision.attempts), reason: decision.reason)
        } catch { throw .failed("credential \(credential.version.name) has no token: \(error)") }
    }

    /// The token that answers with the credential in this space.
    ///
    /// - Parameter refused: a token that was just refused.
    public func token(
        for credential: Credential, in space: ProtectionSpace, besides refused: CredentialVersion?
    ) async throws(TokenError) -> Credential {
        var refused = refused
        // Each round ends a wait, or a parked token.
        for _ in 0..<4 {
            switch store.supply(for: credential.version, besides: refused, at: loop.epochMilliseconds) {
            case .token(let token, let fetches):
                if fetches { fetch(credential) }
                let isParked = state.spaces.parked.contains(token.version, for: space)
                guard isParked, refused != token.version else { return token.with(credential.persistence) }
                refused = token.version
            case .wait(let waiter, let fetches):
                if fetches { fetch(credential) }
                let alarm = Alarm(on: loop) { waiter.expire() }
                alarm.set(after: patience)
                defer { alarm.cancel() }
                if case .expired = await waiter.outcome() {
                    throw .unreachable(endpoint: credential.grant.map { "\($0.endpoint)" } ?? "", "it takes too long")
                }
                refused = nil
            case .none(let error): throw error
            }
        }
        throw .unreachable(endpoint: credential.grant.map { "\($0.endpoint)" } ?? "", "its tokens are refused")
    }

    /// Milliseconds that a fetch may take.
    private var patience: Int { timeouts.connect * 2 + timeouts.response }

    /// Goes on by itself, whatever becomes of the request that began it.
    private func fetch(_ credential: Credential) {
        guard let grant = credential.grant else { return }
        let fetcher = LoopBound(fetcher, to: loop)
        let (state, loop, patience) = (state, loop, patience)
        loop.spawn {
            let renewal = TokenRenewal(
                version: credential.version, grant: grant, state: state, loop: loop, fetcher: fetcher.value,
                patience: patience)
            await renewal.run()
        }
    }
}

extension ChallengeState {
    /// The credential that answers right now: itself, or the token at hand; nil where one has to be fetched first.
    ///
    /// - Parameter now: milliseconds since 1970.
    public func current(_ credential: Credential, at now: @autoclosure () -> Int) -> Credential? {
        guard credential.grant != nil else { return credential }
        return tokens.current(for: credential.version, at: now())?.with(credential.persistence)
    }
}
