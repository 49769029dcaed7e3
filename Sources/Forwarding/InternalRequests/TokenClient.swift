import Authentication
import Bytes
import Challenges
import Crypto
import IO
import Model
import TLS
import Upstream

/// Requests a token from a token endpoint.
struct TokenClient: TokenFetching {
    let upstreams: Upstreams
    let policy: Policy

    func fetch(_ grant: TokenGrant) async throws(TokenError) -> TokenResponse {
        let request = try TokenRequest(grant, at: upstreams.loop.epochMilliseconds)
        var post = InternalPost(upstreams: upstreams, policy: policy, endpoint: grant.endpoint)
        if case .certificate(let shown) = grant.proof { post.identity = shown as? Identity }
        var response: InternalPost.Response
        do throws(InternalPost.Failure) {
            response = try await post.send(
                fields: { Self.write(request, to: $0) },
                content: (request.content.count, { buffer in request.content.withBytes { buffer.append($0) } }))
        } catch {
            switch error {
            case .unreachable(let reason): throw .unreachable(endpoint: "\(grant.endpoint)", reason)
            case .malformed(let reason): throw .malformed(endpoint: "\(grant.endpoint)", reason)
            }
        }
        return try TokenResponse(status: response.status, content: &response.content, from: grant.endpoint)
    }

    private static func write(_ request: TokenRequest, to head: ByteBuffer) {
        head.append("Content-Type: application/x-www-form-urlencoded\r\nAccept: application/json\r\n" as StaticString)
        guard let authorization = request.authorization else { return }
        head.append("Authorization: " as StaticString)
        authorization.withBytes { head.append($0) }
        head.append("\r\n" as StaticString)
    }
}
