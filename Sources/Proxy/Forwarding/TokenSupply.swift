import Authentication
import IO

/// Exchanges credentials for the tokens that they are given for: those at hand, or fetched now, once for all who wait.
struct TokenSupply {
    let upstreams: Upstreams
    let policy: Policy

    private var store: TokenStore { upstreams.shared.tokens }

    /// What answers with the credential right now: itself, unless a token has to be fetched first.
    func current(_ credential: Credential) -> Credential? {
        guard credential.grant != nil else { return credential }
        return store.current(for: credential.version, at: upstreams.loop.epochMilliseconds)?.with(
            credential.persistence)
    }

    /// What answers with the credential in this space.
    ///
    /// - Parameter refused: a token that was just refused.
    func token(
        for credential: Credential, in space: ProtectionSpace, besides refused: CredentialVersion?
    ) async throws(TokenError) -> Credential {
        var refused = refused
        // Each round ends a wait, or a parked token.
        for _ in 0..<4 {
            switch store.supply(for: credential.version, besides: refused, at: upstreams.loop.epochMilliseconds) {
            case .token(let token, let fetches):
                if fetches { fetch(credential) }
                let isParked = upstreams.shared.spaces.parked.contains(token.version, for: space)
                guard isParked, refused != token.version else { return token.with(credential.persistence) }
                refused = token.version
            case .wait(let waiter, let fetches):
                if fetches { fetch(credential) }
                let alarm = Alarm(on: upstreams.loop) { waiter.expire() }
                alarm.set(after: policy.timeouts.connect * 2 + policy.timeouts.response)
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

    /// Goes on by itself, whatever becomes of the request that began it.
    private func fetch(_ credential: Credential) {
        guard let grant = credential.grant else { return }
        let client = LoopBound(TokenClient(upstreams: upstreams, policy: policy), to: upstreams.loop)
        let (shared, loop) = (upstreams.shared, upstreams.loop)
        loop.spawn {
            let result: Result<TokenResponse, TokenError>
            do throws(TokenError) { result = .success(try await client.value.fetch(grant)) } catch {
                shared.report("credential \(credential.version.name) gets no token: \(error)")
                result = .failure(error)
            }
            let token = shared.tokens.land(result, for: credential.version, at: loop.epochMilliseconds)
            // What was refused of the one before is nobody's any more.
            if let token { shared.spaces.parked.keepOnly(token.version) }
        }
    }
}
