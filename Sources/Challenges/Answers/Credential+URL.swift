import Authentication
import Bytes
import Crypto
import HTTP
import Model

extension Credential {
    /// Creates the credential in a request's URL, `http://user:password@host/` (RFC 3986 section 3.2.1). Nil if the URL
    /// has none, or one that cannot be decoded.
    public static func inURL(of request: RequestHead, in head: Span<UInt8>) -> Credential? {
        guard let userinfo = request.target.userinfo, !userinfo.isEmpty else { return nil }
        let colon = head.firstIndex(of: .colon, in: userinfo)
        guard let user = PercentEncoding.decode(head.extracting(userinfo.lowerBound..<(colon ?? userinfo.upperBound))),
            var password = PercentEncoding.decode(
                head.extracting((colon.map { $0 + 1 } ?? userinfo.upperBound)..<userinfo.upperBound))
        else { return nil }
        let (text, mayBeToken) = (user.span.text, password.isEmpty)
        let secret = Secret(wiping: &password)
        let name = mayBeToken ? fingerprint(of: text, secret) : printable(text)
        return Credential(name: "url:\(name)", user: text, password: secret, persistence: .session, isBrought: true)
    }

    /// The name in logs. It says that the credential came with a request, and its user. But a user without a password
    /// is often a token, and then a secret.
    private static func fingerprint(of user: String, _ password: Secret) -> String {
        let version = Credential(name: "url", user: user, password: password).version
        return "#" + String(version.fingerprint & 0xFF_FFFF, radix: 16)
    }

    /// Makes a name printable: it cannot end a line of a log, or be shown in another order.
    private static func printable(_ user: String) -> String {
        String(String.UnicodeScalarView(user.unicodeScalars.map { $0.isInvisible ? "?" : $0 }))
    }
}
