import Authentication
import Crypto
import IO

/// One fetch of a token for a grant, for all who want it.
struct TokenRenewal {
    let version: CredentialVersion
    let grant: TokenGrant
    let state: ChallengeState
    let loop: EventLoop
    let fetcher: any TokenFetching
    /// Milliseconds that a fetch may take.
    let patience: Int

    /// Milliseconds between two looks at another process's fetch.
    private static let pause = 250

    func run() async {
        let token: Credential?
        if let family = RefreshTokenFamily(of: grant, named: version.name) {
            token = await renew(family)
        } else {
            do throws(TokenError) {
                let response = try await fetcher.fetch(grant)
                token = state.tokens.land(.success(response), for: version, at: loop.epochMilliseconds)
            } catch {
                fail(error)
                token = nil
            }
        }
        if let token { state.spaces.accounts.renew(with: token.version) }
    }

    private func fail(_ error: TokenError) {
        state.report("credential \(version.name) gets no token: \(error)")
        state.tokens.fail(version, error, at: loop.epochMilliseconds)
    }

    // MARK: - Refresh tokens

    private func renew(_ family: RefreshTokenFamily) async -> Credential? {
        switch await claim(family) {
        case .renewed(let fetched): return state.tokens.land(fetched)
        case .granted(let rotation): return await fetch(with: family, rotation)
        case .taken: fail(.unclaimed("another process does not come to an end with it"))
        case .unavailable(let cause): fail(.unclaimed(cause))
        }
        return nil
    }

    /// Waits while another process fetches.
    private func claim(_ family: RefreshTokenFamily) async -> TokenRenewalClaim.Outcome {
        let end = loop.now &+ UInt64(clamping: patience)
        while true {
            let now = loop.epochMilliseconds
            let outcome = await state.tokens.claim(family, for: version, at: now, until: now + patience)
            guard case .taken = outcome, loop.now < end else { return outcome }
            _ = await Expectation<Void>().value(within: Self.pause)
        }
    }

    /// Fetches with the refresh token that the endpoint gave last; where the endpoint refuses that one, with the first one,
    /// once.
    private func fetch(with family: RefreshTokenFamily, _ known: RefreshTokenRotation) async -> Credential? {
        var rotation = known
        while true {
            var grant = grant
            if let last = rotation.token { grant = grant.renewed(by: last) }
            do throws(TokenError) {
                let response = try await fetcher.fetch(grant)
                let last = response.refreshToken ?? rotation.token
                rotation = rotation.next(with: last == family.first ? nil : last)
                let fetched = FetchedToken(
                    response, for: version, generation: rotation.generation, at: loop.epochMilliseconds)
                await state.tokens.end(family, at: rotation, with: fetched)
                return state.tokens.land(fetched)
            } catch {
                guard error.isInvalidGrant, rotation.token != nil else {
                    await state.tokens.end(family, at: rotation, with: nil)
                    fail(error)
                    return nil
                }
                state.report(
                    "credential \(version.name): the refresh token that was given last is refused; the configured one "
                        + "is tried")
                rotation = rotation.next(with: nil)
            }
        }
    }
}
