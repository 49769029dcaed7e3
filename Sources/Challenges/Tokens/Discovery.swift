import Authentication
import Bytes
import IO
import Model

/// Finds token endpoints in the metadata of their issuers (RFC 8414, OpenID Connect Discovery 1.0). Sends no secret.
struct Discovery {
    let state: ChallengeState
    let loop: EventLoop
    let fetcher: any TokenFetching

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

    /// The issuer's metadata, read once for all that wait.
    private func metadata(of issuer: TokenIssuer) async throws(TokenError) -> IssuerMetadata {
        let name = "\(issuer)"
        // Each round ends a wait.
        for _ in 0..<2 {
            switch state.issuers.supply(for: name, at: loop.epochMilliseconds) {
            case .known(let outcome): return try outcome.get()
            case .wait(let waiter, let reads):
                if reads { read(issuer) }
                let alarm = Alarm(on: loop) { waiter.expire() }
                alarm.set(after: Self.limit)
                defer { alarm.cancel() }
                if case .expired = await waiter.outcome() {
                    throw .undiscovered(issuer: name, "no metadata within 10 seconds", isDefinite: false)
                }
            }
        }
        throw .undiscovered(issuer: name, "its metadata does not stay the same", isDefinite: false)
    }

    /// Reads the metadata in its own task, which continues even if the request that began it ends.
    private func read(_ issuer: TokenIssuer) {
        let fetcher = LoopBound(fetcher, to: loop)
        let (state, loop) = (state, loop)
        loop.spawn {
            let outcome = await Self.read(issuer, by: fetcher.value, on: loop)
            state.issuers.land(outcome, for: "\(issuer)", at: loop.epochMilliseconds)
        }
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
