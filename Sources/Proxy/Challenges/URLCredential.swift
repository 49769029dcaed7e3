import Authentication
import Bytes
import Crypto
import HTTP

/// The credential in a request's URL, `http://user:password@host/` (RFC 3986 section 3.2.1).
enum URLCredential {
    /// Nil when the URL has none, or one that cannot be decoded.
    static func of(_ request: RequestHead, in head: Span<UInt8>) -> Credential? {
        guard let userinfo = request.target.userinfo, !userinfo.isEmpty else { return nil }
        let colon = head.firstIndex(of: .colon, in: userinfo)
        guard let user = PercentEncoding.decode(head.extracting(userinfo.lowerBound..<(colon ?? userinfo.upperBound))),
            var password = PercentEncoding.decode(
                head.extracting((colon.map { $0 + 1 } ?? userinfo.upperBound)..<userinfo.upperBound))
        else { return nil }
        // What logs call it: that it came with a request, and for whom.
        let text = user.span.text
        return Credential(
            name: "url:\(text)", user: text, password: Secret(wiping: &password), persistence: .session)
    }
}
