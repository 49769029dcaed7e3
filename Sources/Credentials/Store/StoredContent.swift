import Authentication
import Bytes
import Crypto
import Model
import TLS

extension StoredCredential {
    /// The content of a credential before it is sealed: a byte for its kind, then its data.
    enum Content {
        private static let password = UInt8(ascii: "p")
        private static let token = UInt8(ascii: "t")
        /// Certificates and key in PEM.
        private static let certificate = UInt8(ascii: "c")
        /// `sha256/BASE64 YYYY-MM-DD`
        private static let trust = UInt8(ascii: "x")

        /// Nil for credentials that no storage keeps, or whose key cannot be exported.
        static func secret(of credential: Credential) -> Secret? {
            switch credential.content {
            case .password(_, let password): return secret(Self.password, password)
            case .token(let token): return secret(Self.token, token)
            case .identity(let identity):
                guard let pem = try? (identity as? Identity)?.pem() else { return nil }
                return secret(certificate, pem)
            case .trust(let exception): return secret(trust, Secret("\(exception.pin) \(exception.until)"))
            case .signingKey, .grant, .principal, .registryToken, .tokenAndIdentity, .given: return nil
            }
        }

        /// Nil for content that this version does not write for that space.
        static func content(
            in secret: Secret, of name: String, for space: ProtectionSpace
        ) -> Credential.Content? {
            secret.withBytes { bytes in
                guard bytes.count > 0 else { return nil }
                let rest = bytes.extracting(1..<bytes.count)
                switch (bytes[0], space.authenticationMethod.storedKind) {
                case (password, .password): return .password(user: name, password: Secret(rest))
                case (token, .token): return .token(Secret(rest))
                case (certificate, .certificate):
                    return (try? Identity(certificate: .content(Secret(rest)))).map { .identity($0) }
                case (trust, .trust):
                    let words = rest.text.split(separator: " ")
                    guard words.count == 2, let pin = KeyPin(words[0]), let until = Day(String(words[1])) else {
                        return nil
                    }
                    return .trust(TrustException(pin: pin, until: until))
                default: return nil
                }
            }
        }

        private static func secret(_ kind: UInt8, _ rest: Secret) -> Secret {
            var content: [UInt8] = []
            // Reserved at once, since a growing array leaves copies behind.
            content.reserveCapacity(1 + rest.count)
            content.append(kind)
            content.append(rest)
            return Secret(wiping: &content)
        }
    }
}

extension Credential {
    /// Creates a credential from a storage.
    ///
    /// - Parameters:
    ///   - name: the name under which it is stored.
    ///   - fingerprint: a new one whenever it is set.
    convenience init(content: Content, keptAs name: String, for space: ProtectionSpace, fingerprint: UInt128) {
        var principal: (any KerberosPrincipal)?
        if case .password(let user, let password) = content { principal = KerberosTickets(user, .password(password)) }
        self.init(
            name: space.credentialName(of: name), content: content, persistence: .permanent, fingerprint: fingerprint,
            principal: principal)
    }
}

extension Identity {
    /// The certificates and the key, as a text from which an identity can be read.
    fileprivate func pem() throws(Failure) -> Secret {
        let key = try key.pem()
        let certificates = ([leaf] + intermediates).map(\.pem).joined()
        var text: [UInt8] = []
        text.reserveCapacity(certificates.utf8.count + key.count)
        text += Array(certificates.utf8)
        text.append(key)
        return Secret(wiping: &text)
    }
}
