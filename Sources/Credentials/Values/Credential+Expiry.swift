import Authentication
import Bytes
import Crypto
import Model
import TLS

extension Credential {
    /// The last day on which the credential is valid, as far as that is known without a request.
    public var lastDay: Day? {
        if case .trust(let exception) = content { exception.until } else { expiry.map { Day(of: $0) } }
    }

    /// The time of the expiry.
    public var expiry: WallTime? {
        switch content {
        case .identity(let identity): (identity as? Identity)?.leaf.notAfter
        case .token(let token): Credential.JSONWebToken.expiry(of: token)
        case .tokenAndIdentity(let token, let identity):
            [(identity as? Identity)?.leaf.notAfter, Credential.JSONWebToken.expiry(of: token)].compactMap(\.self).min()
        case .trust(let exception): exception.until.end
        case .password, .signingKey, .grant, .principal, .registryToken, .given: nil
        }
    }

    /// A token that contains claims (RFC 7519). They are not trusted; only the expiry is used, for people to read.
    fileprivate enum JSONWebToken {
        /// The expiry, at most in the year 9999.
        static func expiry(of token: Secret) -> WallTime? {
            token.withBytes { bytes in
                guard bytes.count <= limit else { return nil }
                let parts = bytes.text.split(separator: ".", omittingEmptySubsequences: false)
                guard parts.count == 3, let claims = Base64.decode(standard(parts[1])).flatMap(JSONMembers.init),
                    case .number(let seconds)? = claims["exp"], seconds >= 0, seconds < 253_402_300_800
                else { return nil }
                return WallTime(seconds: Int(seconds))
            }
        }

        /// Converts the Base64 of RFC 7515, which has two other characters and no padding, to the usual form.
        private static func standard(_ text: Substring) -> String {
            let padding = String(repeating: "=", count: (4 - text.utf8.count % 4) % 4)
            return text.replacing("-", with: "+").replacing("_", with: "/") + padding
        }

        private static let limit = 64 << 10
    }
}
