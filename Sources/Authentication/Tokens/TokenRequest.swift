import Bytes
import Crypto

/// A request to a token endpoint (RFC 6749 section 4.4.2), without the parts that all requests share.
public struct TokenRequest: Sendable {
    /// The value of `Authorization`.
    public let authorization: Secret?
    /// The content, `application/x-www-form-urlencoded`.
    public let content: Secret

    /// - Parameter time: milliseconds since 1970, for an assertion with an expiry.
    public init(_ grant: TokenGrant, at time: Int) throws(TokenError) {
        var form: [UInt8] = []
        let add = { (name: String, value: [UInt8]) in
            if !form.isEmpty { form.append(UInt8(ascii: "&")) }
            form += Array(name.utf8) + [.equals] + Self.encoded(value)
        }
        switch grant.kind {
        case .clientCredentials: add("grant_type", Array("client_credentials".utf8))
        case .refreshToken(let token):
            add("grant_type", Array("refresh_token".utf8))
            add("refresh_token", token.withBytes { $0.array })
        case .assertion(let token):
            add("grant_type", Array("urn:ietf:params:oauth:grant-type:jwt-bearer".utf8))
            add("assertion", token.withBytes { $0.array })
        }
        if !grant.scopes.isEmpty { add("scope", Array(grant.scopes.joined(separator: " ").utf8)) }
        if let audience = grant.audience { add("audience", Array(audience.utf8)) }
        var authorization: Secret?
        switch grant.proof {
        case .secret(let secret, inBody: false):
            var pair = Self.encoded(Array(grant.clientID.utf8)) + [.colon]
            pair += Self.encoded(secret.withBytes { $0.array })
            authorization = Secret("Basic \(Base64.encode(pair))")
            _ = Secret(wiping: &pair)
        case .secret(let secret, inBody: true):
            add("client_id", Array(grant.clientID.utf8))
            add("client_secret", secret.withBytes { $0.array })
        case .key(let key, let id, let audience):
            add("client_id", Array(grant.clientID.utf8))
            add("client_assertion_type", Array("urn:ietf:params:oauth:client-assertion-type:jwt-bearer".utf8))
            let recipient = audience ?? "\(grant.server)"
            add("client_assertion", try Self.assertion(of: grant, for: recipient, signedBy: key, id: id, at: time))
        case .none, .certificate: add("client_id", Array(grant.clientID.utf8))
        }
        self.authorization = authorization
        content = Secret(wiping: &form)
    }

    /// An assertion of RFC 7523 section 3, in the compact form of RFC 7515 section 3.1; valid for a minute.
    private static func assertion(
        of grant: TokenGrant, for audience: String, signedBy key: any AssertionSigner, id: String?, at time: Int
    ) throws(TokenError) -> [UInt8] {
        guard let number = try? RandomBytes.make(16) else { throw .noRandomness }
        let head = "{\"alg\":\"\(key.algorithm)\",\"typ\":\"JWT\"" + (id.map { ",\"kid\":\(quoted($0))" } ?? "") + "}"
        let seconds = time / 1000
        let claims =
            "{\"iss\":\(quoted(grant.clientID)),\"sub\":\(quoted(grant.clientID)),\"aud\":\(quoted(audience))"
            + ",\"jti\":\"\(Hex.encode(number))\",\"iat\":\(seconds),\"exp\":\(seconds + 60)}"
        let text = [head, claims].map { base64URL(Array($0.utf8)) }.joined(separator: ".")
        guard let signature = key.signature(of: Array(text.utf8)) else { throw .unusableKey }
        return Array("\(text).\(base64URL(signature))".utf8)
    }

    private static func quoted(_ text: String) -> String {
        let escaped = text.unicodeScalars.map { scalar -> String in
            switch scalar {
            case "\"", "\\": "\\\(scalar)"
            case let scalar where scalar.value < 0x20:
                "\\u00\(scalar.value < 0x10 ? "0" : "")\(String(scalar.value, radix: 16))"
            default: String(scalar)
            }
        }
        return "\"\(escaped.joined())\""
    }

    /// Base64 for URLs (RFC 4648 section 5), without padding.
    private static func base64URL(_ bytes: [UInt8]) -> String {
        Base64.encode(bytes).replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
    }

    /// Encodes the value of a form field: all but the unreserved characters.
    private static func encoded(_ bytes: [UInt8]) -> [UInt8] {
        var encoded: [UInt8] = []
        for byte in bytes {
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
                UInt8(ascii: "~"):
                encoded.append(byte)
            default: encoded += Array("%\(Hex.encode([byte]).uppercased())".utf8)
            }
        }
        return encoded
    }
}
