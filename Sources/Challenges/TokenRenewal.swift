import Authentication
import Crypto
import IO

/// One fetch of a token for a grant, for all who want it.
struct TokenRenewal {
    let credential: Credential
    let grant: TokenGrant
    /// The rules' word to the client whose request began it.
    let delegate: RuleDelegate
    let terms: RetryTerms
    let loop: EventLoop
    let fetcher: any TokenFetching
    /// Milliseconds that a fetch may take.
    let patience: Int

    private var version: CredentialVersion { credential.version }
    private var state: ChallengeState { delegate.state }

    /// Milliseconds between two looks at another process's fetch.
    private static let pause = 250

    func run() async {
        let token: Credential?
        if let family = RefreshTokenFamily(of: grant, named: version.name) {
            token = await renew(family)
        } else {
            do throws(TokenError) {
                let response = try await judged { () throws(TokenError) in try await fetcher.fetch(grant) }
                token = state.tokens.land(.success(response), for: version, at: loop.epochMilliseconds)
            } catch {
                fail(error)
                token = nil
            }
        }
        if let token { state.spaces.accounts.renew(with: token.version) }
    }

    private func fail(_ error: TokenError) {
        // Of a refusal the account reports.
        if !error.isRefusal { state.report("cannot get a token for credential \(version.name): \(error)") }
        state.tokens.fail(version, error, at: loop.epochMilliseconds)
    }

    /// Asks the grant's account before the endpoint, and reports the endpoint's verdict to it.
    private func judged<Value>(_ fetch: () async throws(TokenError) -> Value) async throws(TokenError) -> Value {
        let evidence = state.spaces.accounts.evidence(of: credential, at: grant.server)
        let now = loop.epochMilliseconds
        let admission = await evidence.admission(
            under: terms, within: delegate.policy.timeouts.connect, at: now)
        switch admission {
        case .send(let attempt)?:
            do throws(TokenError) {
                let value = try await fetch()
                attempt.settle(.accepted, by: delegate.client, now: loop.epochMilliseconds)
                return value
            } catch {
                attempt.settle(
                    error.isRefusal ? .refused : .none, because: error.reason, by: delegate.client,
                    now: loop.epochMilliseconds)
                throw error
            }
        case .refused(_, let nextTry)?:
            let reason = state.spaces.accounts.standings(at: grant.server, now: now)
                .first { version.isNamed($0.name) }?.reason
            throw .held(reason: reason, pause: nextTry.map { max(0, $0 - now) })
        case .wait?, nil: throw .undecided
        }
    }

    // MARK: - Refresh tokens

    private func renew(_ family: RefreshTokenFamily) async -> Credential? {
        switch await claim(family) {
        case .renewed(let fetched): return state.tokens.land(fetched)
        case .granted(let rotation): return await fetch(with: family, rotation)
        case .taken: fail(.unclaimed("another process takes too long with it"))
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

    private func fetch(with family: RefreshTokenFamily, _ known: RefreshTokenRotation) async -> Credential? {
        var rotation = known
        do throws(TokenError) {
            let response = try await judged { () throws(TokenError) in try await fetch(with: &rotation) }
            let last = response.refreshToken ?? rotation.token
            rotation = rotation.next(with: last == family.first ? nil : last)
            let fetched = FetchedToken(
                response, for: version, generation: rotation.generation, at: loop.epochMilliseconds)
            await state.tokens.end(family, at: rotation, with: fetched)
            return state.tokens.land(fetched)
        } catch {
            await state.tokens.end(family, at: rotation, with: nil)
            fail(error)
            return nil
        }
    }

    /// Fetches with the refresh token that the endpoint gave last; where the endpoint refuses that one, which is another value
    /// than the configured one, with that.
    private func fetch(with rotation: inout RefreshTokenRotation) async throws(TokenError) -> TokenResponse {
        if let last = rotation.token {
            do throws(TokenError) { return try await fetcher.fetch(grant.renewed(by: last)) } catch {
                guard error.isInvalidGrant else { throw error }
                state.report(
                    "credential \(version.name): the latest refresh token is refused; the configured one "
                        + "is tried")
                rotation = rotation.next(with: nil)
            }
        }
        return try await fetcher.fetch(grant)
    }
}
