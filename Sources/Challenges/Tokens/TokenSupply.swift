import Authentication
import Bytes
import Credentials
import Crypto
import HTTP
import IO
import Model
import Rules

/// Requests tokens and the documents that name their endpoints. The side that makes requests implements this. It
/// follows no redirect, and reads at most 64 KiB.
public protocol TokenFetching {
    /// Requests a token.
    ///
    /// - Parameter grant: a grant whose token endpoint is known.
    func fetch(_ grant: TokenGrant) async throws(TokenError) -> TokenResponse
    /// Reads a document by GET, without a credential.
    func read(_ document: HTTPEndpoint) async throws(TokenError) -> (status: Int, content: [UInt8])
}

/// Exchanges credentials for tokens: cached ones, or new ones, fetched once for all requests that wait.
public struct TokenSupply {
    /// The reason why there is no token to answer with.
    enum Missing: Error, CustomStringConvertible {
        /// The request itself fetches a token.
        case ownRequest
        /// The endpoint has refused the grant, now or before: it counts as refused.
        ///
        /// - Parameter pause: the time until the next try; nil if unknown.
        case refused(Credential, String, pause: Milliseconds?)
        /// The sentence says that the credential has no token, and why.
        ///
        /// - Parameter isTransient: whether the same request may succeed later.
        case failed(Credential, String, isTransient: Bool)

        /// The sentence about a credential whose issuer is named, or that is for a registry, so that the client gets the challenge; nil otherwise.
        var sentenceForChallenge: String? {
            switch self {
            case .refused(let credential, let sentence, _), .failed(let credential, let sentence, _):
                credential.isAnnounced || credential.grant?.server.issuer != nil ? sentence : nil
            case .ownRequest: nil
            }
        }

        var description: String {
            switch self {
            case .ownRequest: "none can be fetched through it"
            case .refused(_, let sentence, _), .failed(_, let sentence, _): sentence
            }
        }

        var isTransient: Bool { if case .failed(_, _, let isTransient) = self { isTransient } else { false } }
    }

    public let delegate: RuleDelegate
    public let loop: EventLoop
    public let fetcher: any TokenFetching

    var state: ChallengeState { delegate.state }
    private var store: TokenStore { state.tokens }

    /// The number of answers with a token that the server refuses, because another may be accepted. A renewed token
    /// does not count against the account.
    static func attempts(_ decision: Decision) -> Int { decision.attempts > 0 ? max(2, decision.attempts) : 0 }

    /// Whether the decision's credential is exchanged for a token: it is a grant whose tokens were not refused too
    /// often.
    static func isWanted(by decision: Decision, on challenge: AuthenticationChallenge) -> Bool {
        guard case .useCredential(let credential) = decision.disposition, credential.grant != nil,
            !challenge.refused.contains(credential.version)
        else { return false }
        return challenge.refused.count { $0.key == credential.version.key } < attempts(decision)
    }

    /// Returns the decision with the token instead of the credential.
    ///
    /// - Parameters:
    ///   - target: the target of the request.
    ///   - method: the method of the request.
    ///   - sent: the credential that the request was sent with; nil if none.
    ///   - isOwn: whether the request is the proxy's own, which waits for no token.
    func exchange(
        _ decision: Decision, for challenge: AuthenticationChallenge, at target: [UInt8], by method: Method,
        after sent: Credential?, isOwn: Bool
    ) async throws(TokenSupply.Missing) -> Decision {
        guard case .useCredential(let credential) = decision.disposition, credential.grant != nil else {
            return decision
        }
        var refused = challenge.refused.last { $0.key == credential.version.key }
        if isOwn {
            guard let token = state.current(credential, at: loop.wallTime), token.version != refused else {
                throw .ownRequest
            }
            return Decision(.useCredential(token), reason: decision.reason)
        }
        do throws(TokenError) {
            var wanted = AnswerSource.WantedToken(for: credential, in: challenge.protectionSpace)
            if credential.isRegistry {
                let place = RegistryPlace(of: method, at: target.span)
                wanted = try registryToken(credential, for: challenge, at: place, after: sent, besides: refused)
                // The registry has not said what it wants instead of the token.
                let isSame = sent?.registryScopes == wanted.exact.registryWish
                if isSame { refused = refused ?? sent?.version }
            } else if credential.isAnnounced {
                let discovery = Discovery(state: state, loop: loop, fetcher: fetcher)
                wanted = try await discovery.wanted(credential, for: challenge, at: target)
            }
            let token = try await token(wanted, besides: refused)
            return Decision(
                .useCredential(token), attempts: Self.attempts(decision), reason: decision.reason)
        } catch {
            let sentence = "credential \(credential.version.name) has no token: \(error)"
            if case .held(_, let pause) = error { throw .refused(credential, sentence, pause: pause) }
            throw error.isRefusal
                ? .refused(credential, sentence, pause: nil)
                : .failed(credential, sentence, isTransient: error.isTransient)
        }
    }

    /// The token that answers for the credential in this space.
    ///
    /// - Parameter refused: a token that was just refused.
    func token(
        _ wanted: AnswerSource.WantedToken, besides refused: CredentialVersion?
    ) async throws(TokenError) -> Credential {
        let terms = Evidence.RetryTerms(retry: delegate.rule(for: wanted.space, failures: 0).retry)
        return try await token(
            for: wanted.credential, exactly: wanted.exact, at: wanted.space.origin.serverName, under: terms,
            besides: refused)
    }

    /// The token of a credential that a token request contains.
    ///
    /// - Parameters:
    ///   - server: the account name of the authorization server that gets the token.
    ///   - refused: a token that this server just refused.
    func input(
        named name: String, for server: String, under terms: Evidence.RetryTerms, besides refused: CredentialVersion?
    ) async throws(TokenError) -> Credential {
        let named: Credential
        let credentials = delegate.policy.credentials
        if credentials.hasHelpers, let question = credentials.question(name, for: nil, at: loop.wallTime) {
            _ = await state.ask(question, of: credentials)
        }
        do throws(CredentialError) { named = try delegate.policy.credentials.credential(named: name) } catch {
            throw .noInput("\(error)", isTransient: error.isTransient)
        }
        if named.token != nil { return named }
        do throws(TokenError) {
            return try await token(
                for: named, exactly: named, at: server, under: terms, besides: refused, asInput: true)
        } catch { throw .noInput("credential \(name) has no token: \(error)", isTransient: error.isTransient) }
    }

    /// - Parameters:
    ///   - exact: the credential with the grant of exactly this token.
    ///   - server: the account name of the server that gets the token.
    private func token(
        for credential: Credential, exactly exact: Credential, at server: String, under terms: Evidence.RetryTerms,
        besides refused: CredentialVersion?, asInput isInput: Bool = false
    ) async throws(TokenError) -> Credential {
        var refused = refused
        // Each round ends a wait, or a token that is on hold.
        for _ in 0..<4 {
            let now = loop.wallTime
            switch store.supply(for: exact.version, besides: refused, asInput: isInput, at: now) {
            case .token(let token, let fetches):
                if fetches { fetch(exact, of: credential, under: terms) }
                let isHeld = state.spaces.accounts.hold(on: token.version, at: server, now: 0) != nil
                guard isHeld, refused != token.version else { return token.with(credential.persistence) }
                refused = token.version
            case .wait(let waiter, let fetches):
                if fetches { fetch(exact, of: credential, under: terms) }
                let alarm = Alarm(on: loop) { waiter.expire() }
                alarm.set(after: patience(for: credential))
                defer { alarm.cancel() }
                if case .expired = await waiter.outcome() {
                    throw .unreachable(endpoint: credential.grant.map { "\($0.server)" } ?? "", "it takes too long")
                }
                refused = nil
            case .none(let error): throw error
            }
        }
        throw .unreachable(endpoint: credential.grant.map { "\($0.server)" } ?? "", "its tokens are refused")
    }

    /// The limit of a fetch, with discovery and the tokens that it needs.
    private func patience(for credential: Credential) -> Milliseconds {
        let fetch = delegate.policy.timeouts.connect * 2 + delegate.policy.timeouts.response
        let isDiscovered = credential.grant?.server.endpoint == nil
        let needsTokens = credential.grant?.inputs.contains { $0.isOfCredential } ?? false
        return (fetch + (isDiscovered ? Discovery.limit : 0)) * (needsTokens ? 4 : 1)
    }

    /// Fetches a token in its own task, which continues even if the request that began it ends.
    private func fetch(_ exact: Credential, of credential: Credential, under terms: Evidence.RetryTerms) {
        guard let grant = exact.grant else { return }
        let fetcher = LoopBound(fetcher, to: loop)
        let (delegate, loop, patience) = (delegate, loop, patience(for: credential))
        loop.spawn {
            let renewal = TokenSupply.Renewal(
                credential: credential, exact: exact, grant: grant, delegate: delegate, terms: terms, loop: loop,
                fetcher: fetcher.value, patience: patience)
            await renewal.run()
        }
    }

    /// One fetch of a token for a grant, for all waiters.
    struct Renewal {
        /// The credential of the rule file, whose account is asked.
        let credential: Credential
        /// The credential with the grant of exactly this token.
        let exact: Credential
        let grant: TokenGrant
        /// The delegate of the client whose request began it.
        let delegate: RuleDelegate
        let terms: Evidence.RetryTerms
        let loop: EventLoop
        let fetcher: any TokenFetching
        /// The limit of a fetch.
        let patience: Milliseconds

        private var version: CredentialVersion { exact.version }
        private var state: ChallengeState { delegate.state }

        /// The time between two checks of another process's fetch.
        private static let pause: Milliseconds = 250

        func run() async {
            let former = state.tokens.version(for: version)
            let token: Credential?
            if let family = RefreshTokenFamily(of: grant, named: version.name) {
                token = await renew(family)
            } else {
                do throws(TokenError) {
                    let response = try await judged { (grant) throws(TokenError) in try await fetch(grant) }
                    token = state.tokens.land(.success(response), for: version, at: loop.wallTime)
                } catch {
                    fail(error)
                    token = nil
                }
            }
            guard let token else { return }
            if exact === credential {
                state.spaces.accounts.renew(with: token.version)
            } else if let former, former != token.version {
                state.spaces.accounts.renew(former, with: token.version)
            }
        }

        // MARK: - Tokens of other programs and credentials

        /// A grant with the values of its inputs, and the versions of those that are tokens of other credentials.
        private struct Filled {
            let grant: TokenGrant
            let values: [Secret]
            var versions: [CredentialVersion?] = []
        }

        /// Reads the inputs of a grant.
        ///
        /// - Parameter used: the versions of the former values, which were refused.
        private func filled(
            _ grant: TokenGrant, besides used: [CredentialVersion?] = []
        ) async throws(TokenError) -> Filled {
            var (values, versions): ([Secret], [CredentialVersion?]) = ([], [])
            for (number, input) in self.grant.inputs.enumerated() {
                var version: CredentialVersion?
                switch input.source {
                case .secret(let secret): values.append(secret)
                case .file(let file):
                    let read = await BlockingPool.shared.run {
                        Result { () throws(TokenGrant.FileFailure) in try file.read() }
                    }
                    values.append(try read.mapError { TokenError.noInput($0.sentence) }.get())
                case .credential(let name):
                    let supply = TokenSupply(delegate: delegate, loop: loop, fetcher: fetcher)
                    let former = used.indices.contains(number) ? used[number] : nil
                    let token = try await supply.input(
                        named: name, for: grant.serverName ?? "", under: terms, besides: former)
                    guard let secret = token.token else { throw .noInput("credential \(name) has no token") }
                    values.append(secret)
                    version = token.version
                }
                versions.append(version)
            }
            return Filled(grant: grant.with(values), values: values, versions: versions)
        }

        /// Fetches with the values of the inputs. If the endpoint refuses those and there are others by now, fetches
        /// once more.
        private func fetch(_ filled: Filled) async throws(TokenError) -> TokenResponse {
            do throws(TokenError) { return try await fetcher.fetch(filled.grant) } catch {
                guard error.mayConcernInputs, !filled.values.isEmpty,
                    let again = try? await self.filled(filled.grant, besides: filled.versions),
                    again.values != filled.values
                else { throw error }
                return try await fetcher.fetch(again.grant)
            }
        }

        private func fail(_ error: TokenError) {
            // The account reports refusals.
            if !error.isRefusal { state.report("cannot get a token for credential \(version.name): \(error)") }
            state.tokens.fail(version, error, at: loop.wallTime)
        }

        /// Finds the endpoint, asks the grant's account before it, and reports the endpoint's verdict to the account.
        ///
        /// - Parameter fetch: gets the grant with its token endpoint and inputs.
        private func judged<Value>(
            _ fetch: (Filled) async throws(TokenError) -> Value
        ) async throws(TokenError) -> Value {
            let discovery = Discovery(state: state, loop: loop, fetcher: fetcher)
            let found = try await filled(discovery.found(grant))
            let server = grant.serverName ?? ""
            let evidence = state.spaces.accounts.evidence(of: credential, at: server)
            let now = loop.wallTime
            let registry = grant.isRegistry ? grant.server.endpoint : nil
            if let registry, let error = state.registries.pause(for: credential.version, at: registry, now: now) {
                throw error
            }
            let admission = await evidence.admission(
                under: terms, within: delegate.policy.timeouts.connect, at: now)
            switch admission {
            case .send(let attempt)?:
                do throws(TokenError) {
                    let value = try await fetch(found)
                    attempt.settle(.accepted, by: delegate.client, now: loop.wallTime)
                    return value
                } catch {
                    if error.mayHaveMoved { discovery.forget(grant) }
                    if let registry {
                        state.registries.notePause(
                            error, for: credential.version, at: registry, now: loop.wallTime)
                    }
                    attempt.settle(
                        error.isRefusal ? .refused : .none, because: error.reason, by: delegate.client,
                        now: loop.wallTime)
                    throw error
                }
            case .refused(_, let nextTry)?:
                let reason = state.spaces.accounts.standings(at: server, now: now)
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
        private func claim(_ family: RefreshTokenFamily) async -> TokenStore.RenewalClaim.Outcome {
            let end = loop.now + patience
            while true {
                let now = loop.wallTime
                let outcome = await state.tokens.claim(family, for: version, at: now, until: now + patience)
                guard case .taken = outcome, loop.now < end else { return outcome }
                _ = await Expectation<Void>().value(within: Self.pause)
            }
        }

        private func fetch(with family: RefreshTokenFamily, _ known: RefreshTokenFamily.Rotation) async -> Credential? {
            var rotation = known
            do throws(TokenError) {
                let response = try await judged { (grant) throws(TokenError) in
                    try await fetch(grant, with: &rotation)
                }
                let last = response.refreshToken ?? rotation.token
                rotation = rotation.next(with: last == family.first ? nil : last)
                let fetched = TokenStore.FetchedToken(
                    response, for: version, generation: rotation.generation, at: loop.wallTime)
                await state.tokens.end(family, at: rotation, with: fetched)
                return state.tokens.land(fetched)
            } catch {
                await state.tokens.end(family, at: rotation, with: nil)
                fail(error)
                return nil
            }
        }

        /// Fetches with the refresh token that the endpoint gave last. If the endpoint refuses that, and it differs
        /// from the configured one, fetches with the configured one.
        private func fetch(
            _ filled: Filled, with rotation: inout RefreshTokenFamily.Rotation
        ) async throws(TokenError) -> TokenResponse {
            if let last = rotation.token {
                do throws(TokenError) { return try await fetcher.fetch(filled.grant.renewed(by: last)) } catch {
                    guard error.isInvalidGrant else { throw error }
                    state.report(
                        "credential \(version.name): the latest refresh token is refused; the configured one "
                            + "is tried")
                    rotation = rotation.next(with: nil)
                }
            }
            return try await fetch(filled)
        }
    }
}

extension TokenGrant.Input {
    fileprivate var isOfCredential: Bool {
        if case .credential = source { true } else { false }
    }
}

extension ChallengeState {
    /// The credential that answers right now: itself, or the cached token; nil where one has to be fetched first.
    public func current(_ credential: Credential, at now: @autoclosure () -> WallTime) -> Credential? {
        guard credential.version.isGrant else { return credential }
        return tokens.current(for: credential.version, at: now())?.with(credential.persistence)
    }
}
