import Bytes
import Crypto
import Model

/// Signs requests by OAuth 1.0a (RFC 5849 section 3): each request has a signature of its own, over its method, URL and
/// parameters, in `Authorization`.
///
/// Content that is no form is covered by `oauth_body_hash` (OAuth Request Body Hash 1.0, draft 4).
public struct OAuth1Signature: Sendable {
    /// The part of a request's content that is signed.
    public enum Content: Sendable, Equatable {
        case none
        /// A form, whose parameters are signed.
        case form([UInt8])
        /// The hash of the content.
        case digest([UInt8])
    }

    public let key: SigningKey.OAuth1

    public init(_ key: SigningKey.OAuth1) { self.key = key }

    /// The hash for `oauth_body_hash`; nil if the method has none.
    public var bodyHash: DigestAlgorithm? {
        switch key.method {
        case .hmacSHA1, .rsaSHA1: .sha1
        case .hmacSHA256: .sha256
        case .plaintext: nil
        }
    }

    /// Whether the signature covers the parameters of a form.
    public var coversForms: Bool { key.method != .plaintext }

    /// The value of `Authorization`; nil if the key cannot sign. With PLAINTEXT it contains the secrets.
    ///
    /// - Parameters:
    ///   - isSecure: whether the server is asked over TLS.
    ///   - nonce: a text that no other request with this time has.
    public func authorization(
        for request: SignedRequest, isSecure: Bool, content: Content, at time: WallTime, nonce: String
    ) -> Secret? {
        var protocolParameters = [("oauth_consumer_key", key.consumerKey)]
        if let token = key.token { protocolParameters.append(("oauth_token", token.identifier)) }
        protocolParameters += [
            ("oauth_signature_method", key.method.name), ("oauth_timestamp", String(time.seconds)),
            ("oauth_nonce", nonce),
            ("oauth_version", "1.0"),
        ]
        if case .digest(let digest) = content {
            protocolParameters.append(("oauth_body_hash", Base64.encode(digest)))
        }
        let base = Self.baseString(request, isSecure: isSecure, content: content, parameters: protocolParameters)
        guard let signature = signature(of: base) else { return nil }
        var value = Array("OAuth ".utf8)
        value.reserveCapacity(1024 + signature.count)
        if let realm = key.realm { value += Array("realm=\"\(realm)\", ".utf8) }
        for (name, text) in protocolParameters {
            value += Array("\(name)=\"".utf8) + PercentEncoding.encode(text.utf8) + Array("\", ".utf8)
        }
        value += Array("oauth_signature=\"".utf8)
        value.append(signature)
        value.append(.quote)
        return Secret(wiping: &value)
    }

    /// The signature base string (RFC 5849 section 3.4.1).
    ///
    /// - Parameter parameters: those of `Authorization` but the realm and the signature, not encoded.
    static func baseString(
        _ request: SignedRequest, isSecure: Bool, content: Content, parameters: [(String, String)]
    ) -> [UInt8] {
        var all = SignedRequest.Parameters()
        if let query = request.query { all.addForm(query) }
        for (name, value) in parameters { all.add(name, value) }
        if case .form(let form) = content { all.addForm(form) }
        let path = request.path.isEmpty ? [.slash] : request.path
        let location = Array((isSecure ? "https://" : "http://").utf8) + request.authority(isSecure: isSecure) + path
        let parts = [request.method.map { (0x61...0x7A).contains($0) ? $0 & 0xDF : $0 }, location, all.normalised]
        return Array(parts.map { PercentEncoding.encode($0) }.joined(separator: [.ampersand]))
    }

    /// The signature of a base string (RFC 5849 sections 3.4.2 to 3.4.4), encoded for the field; nil if the key cannot
    /// sign.
    func signature(of base: [UInt8]) -> Secret? {
        let code: [UInt8]
        switch (key.method, key.proof) {
        case (.hmacSHA1, .secret(let secret)):
            code = MessageAuthenticationCode(.sha1, key: sharedKey(secret)).code(of: base.span).array
        case (.hmacSHA256, .secret(let secret)):
            code = MessageAuthenticationCode(.sha256, key: sharedKey(secret)).code(of: base.span).array
        case (.plaintext, .secret(let secret)):
            return sharedKey(secret).withBytes { bytes in
                var encoded: [UInt8] = []
                encoded.reserveCapacity(bytes.count * 3)
                for offset in 0..<bytes.count { PercentEncoding.append(bytes[offset], to: &encoded) }
                return Secret(wiping: &encoded)
            }
        case (.rsaSHA1, .key(let signer)):
            guard let signature = signer.signature(of: base) else { return nil }
            code = signature
        case (.rsaSHA1, .secret), (.hmacSHA1, .key), (.hmacSHA256, .key), (.plaintext, .key): return nil
        }
        var encoded = PercentEncoding.encode(Base64.encode(code).utf8)
        return Secret(wiping: &encoded)
    }

    /// Both secrets, encoded and joined (RFC 5849 section 3.4.2).
    private func sharedKey(_ secret: Secret) -> Secret {
        var text: [UInt8] = []
        text.reserveCapacity(1 + 3 * (secret.count + (key.token?.secret?.count ?? 0)))
        let append = { (text: inout [UInt8], secret: Secret) in
            secret.withBytes { bytes in
                for offset in 0..<bytes.count { PercentEncoding.append(bytes[offset], to: &text) }
            }
        }
        append(&text, secret)
        text.append(.ampersand)
        if let tokenSecret = key.token?.secret { append(&text, tokenSecret) }
        return Secret(wiping: &text)
    }
}
