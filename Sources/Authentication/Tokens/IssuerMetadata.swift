import Bytes
import Model

/// The parts of an issuer's metadata that a token request needs (RFC 8414 section 2, OpenID Connect Discovery 1.0
/// section 3).
public struct IssuerMetadata: Sendable {
    public let endpoint: HTTPEndpoint
    /// The values of `token_endpoint_auth_methods_supported`; nil if absent.
    private let authentications: [[UInt8]]?

    /// - Parameters:
    ///   - status: the status of the response.
    ///   - content: the content of the response.
    public init(status: Int, content: [UInt8], of issuer: TokenIssuer) throws(TokenError) {
        let fail = { (why: String, isDefinite: Bool) in
            TokenError.undiscovered(issuer: "\(issuer)", why, isDefinite: isDefinite)
        }
        guard status == 200 else { throw fail("its metadata has status \(status)", false) }
        guard let members = JSONMembers(content) else { throw fail("its metadata is not a JSON object", false) }
        let named = members.text("issuer") ?? []
        // RFC 8414 section 3.3: the values must be identical. Another issuer might get what belongs to this one.
        guard named.elementsEqual(issuer.description.utf8) else {
            let other = named.isEmpty ? "no issuer" : "the issuer '\(TokenResponse.printable(named))'"
            throw fail("its metadata names \(other)", true)
        }
        guard let text = members.text("token_endpoint"), let endpoint = HTTPEndpoint(text.span.text) else {
            throw fail("its metadata has no usable token_endpoint", true)
        }
        guard endpoint.isSecure || !issuer.url.isSecure && endpoint.isLocal else {
            throw fail("its token_endpoint is not https", true)
        }
        self.endpoint = endpoint
        authentications = members.texts("token_endpoint_auth_methods_supported")
    }

    /// Checks that the endpoint supports the client's authentication. Servers often do not list `none`, for clients
    /// without a secret.
    ///
    /// - Returns: the reason why it does not; nil if it does, or the metadata does not say.
    public func trouble(with proof: TokenGrant.Proof) -> String? {
        guard let authentications else { return nil }
        let names: [String]
        var hint = ""
        switch proof {
        case .none: return nil
        case .secret(_, let inBody):
            names = [inBody ? "client_secret_post" : "client_secret_basic"]
            let other = inBody ? "client_secret_basic" : "client_secret_post"
            if authentications.contains(where: { $0.elementsEqual(other.utf8) }) {
                hint = ": write 'client-authentication \(inBody ? "basic" : "post")'"
            }
        case .key, .assertion: names = ["private_key_jwt"]
        case .certificate: names = ["tls_client_auth", "self_signed_tls_client_auth"]
        }
        if authentications.contains(where: { method in names.contains { method.elementsEqual($0.utf8) } }) {
            return nil
        }
        return "it does not support \(names.joined(separator: " or "))\(hint)"
    }
}
