import Bytes
import Crypto

/// The origin's side of HTTP Digest (RFC 7616 with MD5 and `auth`): one nonce for the whole run, every response checked.
struct DigestGuard: Sendable {
    static let user = "bench"
    static let password = "secret"
    private static let realm = "bench"
    private static let nonce = "7c4f2d9a1be80355"

    let challenge: [UInt8] = Array(
        """
        HTTP/1.1 401 Unauthorized\r
        WWW-Authenticate: Digest realm="\(realm)", qop="auth", algorithm=MD5, nonce="\(nonce)"\r
        Content-Length: 0\r
        \r\n
        """.utf8)
    private let secret = Self.hash("\(user):\(realm):\(password)")

    /// Whether `authorization` proves the password for a GET of `path`.
    func admits(_ authorization: String, to path: String) -> Bool {
        guard authorization.hasPrefix("Digest ") else { return false }
        var given: [Substring: Substring] = [:]
        for parameter in authorization.dropFirst("Digest ".count).split(separator: ",") {
            let pair = parameter.drop(while: { $0 == " " }).split(separator: "=", maxSplits: 1)
            guard pair.count == 2 else { return false }
            let isQuoted = pair[1].count >= 2 && pair[1].first == "\"" && pair[1].last == "\""
            given[pair[0]] = isQuoted ? pair[1].dropFirst().dropLast() : pair[1]
        }
        guard given["username"] == Self.user[...], given["realm"] == Self.realm[...], given["uri"] == path[...],
            given["nonce"] == Self.nonce[...], given["qop"] == "auth", let count = given["nc"], count.utf8.count == 8,
            let clientNonce = given["cnonce"], let response = given["response"]
        else { return false }
        let request = Self.hash("GET:\(path)")
        return response == Self.hash("\(secret):\(Self.nonce):\(count):\(clientNonce):auth:\(request)")[...]
    }

    private static func hash(_ text: String) -> String {
        Hex.encode(MessageDigest.digest(.md5, of: text.utf8Span.span).array)
    }
}
