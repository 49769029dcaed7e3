import Authentication
import Bytes
import Challenges
import Crypto
import IO
import Model
import TLS
import Upstream

/// Requests tokens from token endpoints, and reads the metadata that names them.
struct TokenClient: TokenFetching {
    let upstreams: Upstreams
    let policy: Policy

    func fetch(_ grant: TokenGrant) async throws(TokenError) -> TokenResponse {
        guard let endpoint = grant.server.endpoint else {
            throw .undiscovered(issuer: "\(grant.server)", "it was not looked for", isDefinite: false)
        }
        if case .registry(let login) = grant.kind { return try await fetch(grant, with: login, at: endpoint) }
        let request = try TokenRequest(grant, at: upstreams.loop.wallTime)
        var fetch = InternalFetch(upstreams: upstreams, policy: policy, endpoint: endpoint)
        if case .certificate(let shown) = grant.proof { fetch.identity = shown as? Identity }
        var response = try await Self.post(request, by: fetch)
        return try TokenResponse(
            status: response.status, content: &response.content, from: endpoint, isExchange: grant.isExchange,
            retryAfter: response.retryAfter)
    }

    /// Requests a registry's token by GET.
    private func fetch(
        _ grant: TokenGrant, with login: Credential?, at server: HTTPEndpoint
    ) async throws(TokenError) -> TokenResponse {
        if let login, login.isIdentityToken { return try await fetch(grant, byIdentityTokenAt: server) }
        guard let url = TokenRequest.url(of: grant, at: server) else {
            throw .malformed(endpoint: server.withoutQuery, "cannot be asked for")
        }
        let authorization = login.flatMap(TokenRequest.basic)
        let fetch = InternalFetch(upstreams: upstreams, policy: policy, endpoint: url)
        var response: InternalFetch.Response
        do throws(InternalFetch.Failure) {
            response = try await fetch.send { head in
                head.append("Accept: application/json\r\n" as StaticString)
                Self.write(authorization, to: head)
            }
        } catch { throw error.tokenError(at: server) }
        return try TokenResponse(
            status: response.status, content: &response.content, for: grant, from: server,
            retryAfter: response.retryAfter, at: upstreams.loop.wallTime)
    }

    /// Requests a registry's token by POST, with an identity token instead of a user and a password.
    private func fetch(
        _ grant: TokenGrant, byIdentityTokenAt server: HTTPEndpoint
    ) async throws(TokenError) -> TokenResponse {
        let now = upstreams.loop.wallTime
        let request = try TokenRequest(grant, at: now)
        var response = try await Self.post(
            request, by: InternalFetch(upstreams: upstreams, policy: policy, endpoint: server))
        return try TokenResponse(
            status: response.status, content: &response.content, for: grant, from: server,
            retryAfter: response.retryAfter, at: now)
    }

    func read(_ document: HTTPEndpoint) async throws(TokenError) -> (status: Int, content: [UInt8]) {
        let fetch = InternalFetch(upstreams: upstreams, policy: policy, endpoint: document)
        do throws(InternalFetch.Failure) {
            let response = try await fetch.send { $0.append("Accept: application/json\r\n" as StaticString) }
            return (response.status, response.content)
        } catch { throw error.tokenError(at: document) }
    }

    /// Sends the request for a token.
    private static func post(
        _ request: TokenRequest, by fetch: InternalFetch
    ) async throws(TokenError) -> InternalFetch.Response {
        do throws(InternalFetch.Failure) {
            return try await fetch.send(
                fields: { head in
                    head.append("Content-Type: application/x-www-form-urlencoded\r\nAccept: application/json\r\n")
                    write(request.authorization, to: head)
                },
                content: (
                    length: request.content.count, append: { buffer in request.content.withBytes { buffer.append($0) } }
                ))
        } catch { throw error.tokenError(at: fetch.endpoint) }
    }

    private static func write(_ authorization: Secret?, to head: ByteBuffer) {
        guard let authorization else { return }
        head.append("Authorization: " as StaticString)
        authorization.withBytes { head.append($0) }
        head.append("\r\n" as StaticString)
    }
}

extension InternalFetch.Failure {
    fileprivate func tokenError(at endpoint: HTTPEndpoint) -> TokenError {
        switch self {
        case .unreachable(let reason): .unreachable(endpoint: "\(endpoint)", reason)
        case .malformed(let reason): .malformed(endpoint: "\(endpoint)", reason)
        }
    }
}
