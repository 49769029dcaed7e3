import Authentication
import IO
import Rules

/// Asks a token endpoint for a token. Implemented by the side that makes requests.
public protocol TokenFetching {
    func fetch(_ grant: TokenGrant) async throws(TokenError) -> TokenResponse
}

/// Why there is no token to answer with.
enum MissingToken: Error, CustomStringConvertible {
    /// The request is one that a token is fetched by.
    case ownRequest
    /// The endpoint has refused the grant, now or before: it counts as refused.
    ///
    /// - Parameter pause: milliseconds until the next try; nil: not known.
    case refused(Credential, String, pause: Int?)
    /// The sentence says which credential has none, and why.
    case failed(String)

    public var description: String {
        switch self {
        case .ownRequest: "none can be fetched through it"
        case .refused(_, let sentence, _), .failed(let sentence): sentence
        }
    }
}

/// Exchanges credentials for the tokens that they are given for: those at hand, or fetched now, once for all who wait.
public struct TokenSupply {
    public let delegate: RuleDelegate
    public let loop: EventLoop
    public let fetcher: any TokenFetching

    private var state: ChallengeState { delegate.state }
    private var store: TokenStore { state.tokens }

    /// How often a token answers that the server refuses, since another may be good: once renewed, it counts against nobody's
    /// account.
    static func attempts(_ decision: Decision) -> Int { decision.attempts > 0 ? max(2, decision.attempts) : 0 }

    /// Whether the decision's credential is exchanged for a token: it is a grant, whose tokens were not refused too often.
    static func isWanted(by decision: Decision, on challenge: AuthenticationChallenge) -> Bool {
        guard case .useCredential(let credential) = decision.disposition, credential.grant != nil,
            !challenge.refused.contains(credential.version)
        else { return false }
        return challenge.refused.count { $0.key == credential.version.key } < attempts(decision)
    }

    /// The decision with the token in the credential's place.
    ///
    /// - Parameter isOwn: whether the request is the proxy's own, which waits for no token.
    func exchange(
        _ decision: Decision, for challenge: AuthenticationChallenge, isOwn: Bool
    ) async throws(MissingToken) -> Decision {
        guard case .useCredential(let credential) = decision.disposition, credential.grant != nil else {
            return decision
        }
        let refused = challenge.refused.last { $0.key == credential.version.key }
        if isOwn {
            guard let token = state.current(credential, at: loop.epochMilliseconds), token.version != refused else {
                throw .ownRequest
            }
            return Decision(.useCredential(token), reason: decision.reason)
        }
        do throws(TokenError) {
            let token = try await token(for: credential, in: challenge.protectionSpace, besides: refused)
            return Decision(
                .useCredential(token), attempts: Self.attempts(decision), reason: decision.reason)
        } catch {
            let sentence = "credential \(credential.version.name) has no token: \(error)"
            if case .held(_, let pause) = error { throw .refused(credential, sentence, pause: pause) }
            throw error.isRefusal ? .refused(credential, sentence, pause: nil) : .failed(sentence)
        }
    }

    /// The token that answers with the credential in this space.
    ///
    /// - Parameter refused: a token that was just refused.
    public func token(
        for credential: Credential, in space: ProtectionSpace, besides refused: CredentialVersion?
    ) async throws(TokenError) -> Credential {
        var refused = refused
        // Each round ends a wait, or a token that is on hold.
        for _ in 0..<4 {
            switch store.supply(for: credential.version, besides: refused, at: loop.epochMilliseconds) {
            case .token(let token, let fetches):
                if fetches { fetch(credential, for: space) }
                let isHeld = state.spaces.accounts.hold(on: token.version, at: space.origin.serverName, now: 0) != nil
                guard isHeld, refused != token.version else { return token.with(credential.persistence) }
                refused = token.version
            case .wait(let waiter, let fetches):
                if fetches { fetch(credential, for: space) }
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
    private var patience: Int { delegate.policy.timeouts.connect * 2 + delegate.policy.timeouts.response }

    /// Goes on by itself, whatever becomes of the request that began it.
    private func fetch(_ credential: Credential, for space: ProtectionSpace) {
        guard let grant = credential.grant else { return }
        let fetcher = LoopBound(fetcher, to: loop)
        let (delegate, loop, patience) = (delegate, loop, patience)
        loop.spawn {
            let renewal = TokenRenewal(
                credential: credential, grant: grant, delegate: delegate,
                terms: RetryTerms(retry: delegate.rule(for: space, failures: 0).retry), loop: loop,
                fetcher: fetcher.value, patience: patience)
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
