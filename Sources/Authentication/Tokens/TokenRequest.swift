import Bytes
import Crypto
import Model

/// A request to a token endpoint (RFC 6749 section 4.4.2), without the parts that all requests share.
public struct TokenRequest: Sendable {
    /// The value of `Authorization`.
    public let authorization: Secret?
    /// The content, `application/x-www-form-urlencoded`.
    public let content: Secret

    /// - Parameter time: the time of the request, for an assertion with an expiry.
    public init(_ grant: TokenGrant, at time: WallTime) throws(TokenError) {
        var form: [UInt8] = []
        let add = { (name: String, value: [UInt8]) in
            if !form.isEmpty { form.append(UInt8(ascii: "&")) }
            form += Array(name.utf8) + [.equals] + PercentEncoding.encode(value)
        }
        switch grant.kind {
        case .clientCredentials: add("grant_type", Array("client_credentials".utf8))
        case .refreshToken(let token):
            add("grant_type", Array("refresh_token".utf8))
            add("refresh_token", token.withBytes { $0.array })
        case .assertion(let input):
            add("grant_type", Array(Self.jwtBearer.utf8))
            add("assertion", try Self.bytes(of: input))
        case .signed(let key, let id, let audience, let subject):
            add("grant_type", Array(Self.jwtBearer.utf8))
            let claims = Claims(
                issuer: grant.clientID ?? "", subject: subject ?? grant.clientID ?? "",
                audience: audience ?? "\(grant.server)", scopes: grant.scopes)
            add("assertion", try claims.signed(by: key, id: id, at: time))
        case .exchange(let subject, let actor, let requested):
            add("grant_type", Array("urn:ietf:params:oauth:grant-type:token-exchange".utf8))
            let inputs: [(String, TokenGrant.Input?)] = [("subject_token", subject), ("actor_token", actor)]
            for case (let name, let input?) in inputs {
                add(name, try Self.bytes(of: input))
                add("\(name)_type", Array(input.type.identifier.utf8))
            }
            if let requested { add("requested_token_type", Array(requested.identifier.utf8)) }
        case .registry(let login): Self.identityToken(of: login).forEach(add)
        }
        if !grant.scopes.isEmpty { add("scope", Array(grant.scopes.joined(separator: " ").utf8)) }
        if let audience = grant.audience { add(grant.isRegistry ? "service" : "audience", Array(audience.utf8)) }
        if case .url(let resource) = grant.resource { add("resource", Array(resource.utf8)) }
        for parameter in grant.parameters { add(parameter.name, parameter.value.withBytes { $0.array }) }
        var authorization: Secret?
        let clientID = grant.clientID.map { Array($0.utf8) }
        switch grant.proof {
        case .secret(let secret, inBody: false):
            var pair = PercentEncoding.encode(clientID ?? []) + [.colon]
            pair += PercentEncoding.encode(secret.withBytes { $0.array })
            authorization = Secret("Basic \(Base64.encode(pair))")
            _ = Secret(wiping: &pair)
        case .secret(let secret, inBody: true):
            add("client_id", clientID ?? [])
            add("client_secret", secret.withBytes { $0.array })
        case .key(let key, let id, let audience):
            add("client_id", clientID ?? [])
            add("client_assertion_type", Array(Self.clientAssertion.utf8))
            let client = grant.clientID ?? ""
            let claims = Claims(issuer: client, subject: client, audience: audience ?? "\(grant.server)", scopes: [])
            add("client_assertion", try claims.signed(by: key, id: id, at: time))
        case .assertion(let input):
            if let clientID { add("client_id", clientID) }
            add("client_assertion_type", Array(Self.clientAssertion.utf8))
            add("client_assertion", try Self.bytes(of: input))
        case .none, .certificate: if let clientID { add("client_id", clientID) }
        }
        self.authorization = authorization
        content = Secret(wiping: &form)
    }

    /// The fields for Docker's identity token (the token specification of the distribution project).
    private static func identityToken(of login: Credential?) -> [(String, [UInt8])] {
        [
            ("grant_type", Array("refresh_token".utf8)), ("client_id", Array("attache".utf8)),
            ("refresh_token", login?.password?.withBytes { $0.array } ?? []),
        ]
    }

    private static let jwtBearer = "urn:ietf:params:oauth:grant-type:jwt-bearer"
    private static let clientAssertion = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"

    private static func bytes(of input: TokenGrant.Input) throws(TokenError) -> [UInt8] {
        guard case .secret(let secret) = input.source else { throw .noInput("it was not read") }
        return secret.withBytes { $0.array }
    }

    /// The claims of an assertion (RFC 7523 section 3).
    private struct Claims {
        let issuer: String
        let subject: String
        let audience: String
        /// Some servers read the scopes from the assertion.
        let scopes: [String]

        /// The assertion in the compact form of RFC 7515 section 3.1; valid for a minute.
        func signed(by key: any AssertionSigner, id: String?, at time: WallTime) throws(TokenError) -> [UInt8] {
            guard let number = try? RandomBytes.make(16) else { throw .noRandomness }
            let name = id.map { ",\"kid\":\($0.jsonString)" } ?? ""
            let head = "{\"alg\":\"\(key.algorithm)\",\"typ\":\"JWT\"\(name)}"
            let seconds = time.seconds
            let scope = scopes.isEmpty ? "" : ",\"scope\":\(scopes.joined(separator: " ").jsonString)"
            let claims =
                "{\"iss\":\(issuer.jsonString),\"sub\":\(subject.jsonString),\"aud\":\(audience.jsonString)"
                + ",\"jti\":\"\(Hex.encode(number))\",\"iat\":\(seconds),\"exp\":\(seconds + 60)\(scope)}"
            let text = [head, claims].map { Base64.encodeForURL(Array($0.utf8)) }.joined(separator: ".")
            guard let signature = key.signature(of: Array(text.utf8)) else { throw .unusableKey }
            return Array("\(text).\(Base64.encodeForURL(signature))".utf8)
        }
    }
}
