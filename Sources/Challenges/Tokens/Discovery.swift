import Authentication
import Bytes
import IO
import Model

/// Finds token endpoints in the metadata of their issuers (RFC 8414, OpenID Connect Discovery 1.0). Sends no secret.
public struct Discovery {
    let state: ChallengeState
    let loop: EventLoop
    let fetcher: any TokenFetching

    public init(state: ChallengeState, loop: EventLoop, fetcher: any TokenFetching) {
        self.state = state
        self.loop = loop
        self.fetcher = fetcher
    }

    /// The limit of a discovery, over all places.
    static let limit: Milliseconds = 10_000

    /// The grant with its token endpoint.
    ///
    /// - Throws: the reason why it has no endpoint, or why the endpoint does not support the client's authentication.
    func found(_ grant: TokenGrant) async throws(TokenError) -> TokenGrant {
        guard case .issuer(let issuer) = grant.server else { return grant }
        let metadata = try await metadata(of: issuer)
        if let trouble = metadata.trouble(with: grant.proof) {
            throw .undiscovered(issuer: "\(issuer)", trouble, isDefinite: true)
        }
        return grant.at(metadata.endpoint)
    }

    /// Has the metadata read again when it is next needed.
    func forget(_ grant: TokenGrant) {
        if case .issuer(let issuer) = grant.server { state.issuers.forget("\(issuer)") }
    }

    /// The issuer's metadata.
    private func metadata(of issuer: TokenIssuer) async throws(TokenError) -> IssuerMetadata {
        try await document(
            "\(issuer)", in: state.issuers,
            orElse: .undiscovered(issuer: "\(issuer)", "no metadata within 10 seconds", isDefinite: false)
        ) { fetcher, loop in await Self.read(issuer, by: fetcher, on: loop) }
    }

    /// A document, read once for all that wait, in a task that continues even if the request that began it ends.
    ///
    /// - Parameter timeout: the error if it takes too long.
    private func document<Document>(
        _ name: String, in store: MetadataStore<Document>, orElse timeout: TokenError,
        _ read: @escaping @Sendable (any TokenFetching, EventLoop) async -> Result<Document, TokenError>
    ) async throws(TokenError) -> Document {
        // Each round ends a wait.
        for _ in 0..<2 {
            switch store.supply(for: name, at: loop.wallTime) {
            case .known(let outcome): return try outcome.get()
            case .wait(let waiter, let reads):
                if reads {
                    let (fetcher, loop) = (LoopBound(fetcher, to: loop), loop)
                    loop.spawn {
                        let outcome = await read(fetcher.value, loop)
                        store.land(outcome, for: name, at: loop.wallTime)
                    }
                }
                let alarm = Alarm(on: loop) { waiter.expire() }
                alarm.set(after: Self.limit)
                defer { alarm.cancel() }
                if case .expired = await waiter.outcome() { throw timeout }
            }
        }
        throw timeout
    }

    /// Tries each place until one has the issuer's metadata.
    private static func read(
        _ issuer: TokenIssuer, by fetcher: any TokenFetching, on loop: EventLoop
    ) async -> Result<IssuerMetadata, TokenError> {
        let end = loop.now + limit
        var failure = TokenError.undiscovered(issuer: "\(issuer)", "it has no metadata", isDefinite: false)
        for (number, place) in issuer.metadata.enumerated() where loop.now < end {
            do throws(TokenError) {
                let response = try await fetcher.read(place)
                let metadata = try IssuerMetadata(status: response.status, content: response.content, of: issuer)
                return .success(metadata)
            } catch {
                // The other places are on the same server.
                if case .unreachable = error { return .failure(error) }
                // A document that cannot be used explains more than one that is missing.
                if number == 0 || error.isDefinite { failure = error }
            }
        }
        return .failure(failure)
    }
}

/// Tokens that servers announce (RFC 9728). The rule file names issuer, client and the scopes that may be asked for; the
/// server names its resource and, within these, the scopes.
extension Discovery {
    /// The token that the server wants for the request.
    ///
    /// - Parameter target: the target of the request.
    func wanted(
        _ credential: Credential, for challenge: AuthenticationChallenge, at target: [UInt8]
    ) async throws(TokenError) -> AnswerSource.WantedToken {
        let space = challenge.protectionSpace
        guard let grant = credential.grant, let issuer = grant.server.issuer else {
            return AnswerSource.WantedToken(for: credential, in: space)
        }
        let known = state.announced.exact(for: credential.version, at: space.origin, target: target.span)
        let bearer = challenge.failureResponse?.challenges.filter { $0.scheme == "bearer" } ?? []
        let announcing = bearer.first { $0.text("resource_metadata") != nil } ?? bearer.first
        // The scopes of this challenge have just been added to the known ones.
        if let known, announcing?.isOfScope == true {
            return AnswerSource.WantedToken(for: credential, exactly: known, in: space)
        }
        let metadata = try await metadata(
            on: space.origin, announced: announcing?.text("resource_metadata"), for: target)
        try metadata?.check(issuer, on: space.origin)
        var scopes = try ResourceMetadata.scopes(announcing?.text("scope"), of: metadata, within: grant.scopes)
        if let known = known?.grant, known.isFor(metadata?.resource) {
            scopes = ResourceMetadata.scopesTogether(scopes, known.scopes) ?? scopes
        }
        let exact = Credential(
            name: credential.version.name, grant: grant.narrowed(to: metadata?.resource, scopes: scopes),
            persistence: credential.persistence)
        state.announced.put(exact, for: credential.version, at: space.origin, path: metadata?.path ?? [])
        return AnswerSource.WantedToken(for: credential, exactly: exact, in: space)
    }

    /// Adds the scopes that a response wants beyond those of the token that it refused (RFC 6750 section 3.1).
    ///
    /// - Returns: whether the next token has more scopes. A text says why not.
    static func widen(
        _ credential: Credential, by challenge: HeaderChallenge, at origin: Origin, target: Span<UInt8>,
        in state: ChallengeState
    ) -> Result<Void, TokenError> {
        let fail = { (why: String) in Result<Void, TokenError>.failure(.unannounced(why, isDefinite: false)) }
        guard let grant = credential.grant,
            let path = state.announced.path(for: credential.version, at: origin, target: target),
            let known = state.announced.exact(for: credential.version, at: origin, target: target)?.grant
        else { return fail("its scopes are fixed in the rule file") }
        guard let wanted = challenge.text("scope"), !wanted.isEmpty else { return fail("the server does not name it") }
        // RFC 6749 section 6: the scopes of a refresh token cannot be exceeded.
        if case .refreshToken = grant.kind { return fail("a refresh token cannot get more scopes") }
        let scopes: [String]
        do throws(TokenError) {
            scopes = try ResourceMetadata.scopes(wanted, of: nil, within: grant.scopes)
        } catch { return .failure(error) }
        guard let union = ResourceMetadata.scopesTogether(scopes, known.scopes) else {
            return fail("the server asks for more scopes than one token may have")
        }
        if union == known.scopes { return fail("the token already has the scopes that the rule file allows") }
        var resource: String?
        if case .url(let url) = known.resource { resource = url }
        let exact = Credential(
            name: credential.version.name, grant: grant.narrowed(to: resource, scopes: union),
            persistence: credential.persistence)
        state.announced.put(exact, for: credential.version, at: origin, path: path)
        return .success(())
    }

    /// The server's metadata; nil if it announces none.
    ///
    /// - Parameters:
    ///   - announced: the value of `resource_metadata` in the challenge.
    ///   - target: the target of the request.
    public func metadata(
        on origin: Origin, announced: String?, for target: [UInt8]
    ) async throws(TokenError) -> ResourceMetadata? {
        let (places, isAnnounced) = ResourceMetadata.places(on: origin, announced: announced, for: target)
        guard let first = places.first else { return nil }
        return try await document(
            "\(first)", in: state.resources,
            orElse: .unannounced("the server's metadata takes more than 10 seconds", isDefinite: false)
        ) { fetcher, loop in
            await Self.read(places, isAnnounced: isAnnounced, on: origin, for: target, by: fetcher, until: loop)
        }
    }

    private static func read(
        _ places: [HTTPEndpoint], isAnnounced: Bool, on origin: Origin, for target: [UInt8],
        by fetcher: any TokenFetching, until loop: EventLoop
    ) async -> Result<ResourceMetadata?, TokenError> {
        let end = loop.now + limit
        var failure: TokenError?
        for place in places where loop.now < end {
            do throws(TokenError) {
                let response = try await fetcher.read(place)
                // A server may refuse all requests without a token.
                if !isAnnounced, (400..<500).contains(response.status), ![408, 429].contains(response.status) {
                    continue
                }
                let metadata = try ResourceMetadata(
                    status: response.status, content: response.content, on: origin, for: target)
                return .success(metadata)
            } catch {
                if case .unreachable = error { return .failure(error) }
                failure = failure ?? error
            }
        }
        return failure.map { .failure($0) } ?? .success(nil)
    }
}

extension HeaderChallenge {
    /// Whether the token is valid, and its scopes do not suffice (RFC 6750 section 3.1).
    var isOfScope: Bool { scheme == "bearer" && text("error") == "insufficient_scope" }
}

extension TokenGrant {
    fileprivate func isFor(_ resource: String?) -> Bool {
        switch self.resource {
        case .url(let url): resource.map { url.utf8.elementsEqual($0.utf8) } ?? false
        case .none: resource == nil
        case .auto: false
        }
    }
}
