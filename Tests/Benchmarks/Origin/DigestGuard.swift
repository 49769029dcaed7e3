import Bytes
import Crypto

/// The origin's side of HTTP Digest (RFC 7616 with MD5 and `auth`): one nonce for the whole run, every response checked.
///
/// It works on bytes alone: an origin that is slower than the contestants would let them idle between requests, and a
/// contestant that idles pays for a wake-up with each.
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
    /// The expected value of each parameter that is the same in all requests.
    private let expected: [(name: [UInt8], value: [UInt8])]
    /// The digest that begins with the secret and the nonce, and the end of its input: the request's own digest.
    private let beginning: MessageDigest
    private let request: [UInt8]

    init(path: String) {
        expected = [
            ("username", Self.user), ("realm", Self.realm), ("uri", path), ("nonce", Self.nonce), ("qop", "auth"),
        ].map { (Array($0.utf8), Array($1.utf8)) }
        let secret = Self.hash("\(Self.user):\(Self.realm):\(Self.password)")
        var beginning = MessageDigest(.md5)
        beginning.update(utf8: "\(secret):\(Self.nonce):")
        self.beginning = beginning
        request = Array(Self.hash("GET:\(path)").utf8)
    }

    /// Whether `authorization` proves the password for a GET of the path.
    func admits(_ authorization: Span<UInt8>) -> Bool {
        guard authorization.count > 7, authorization.extracting(0..<7).equals("Digest ") else { return false }
        var (count, clientNonce, response) = (0..<0, 0..<0, 0..<0)
        var matches = 0
        var start = 7
        while start < authorization.count {
            let end = authorization.firstIndex(of: .comma, from: start) ?? authorization.count
            let pair = authorization.trimmingBlanks(start..<end)
            start = end + 1
            guard let equals = authorization.firstIndex(of: .equals, in: pair) else { return false }
            let name = authorization.extracting(pair.lowerBound..<equals)
            let value = Self.unquoted(equals + 1..<pair.upperBound, in: authorization)
            if name.equals("nc") {
                count = value
            } else if name.equals("cnonce") {
                clientNonce = value
            } else if name.equals("response") {
                response = value
            } else {
                let text = authorization.extracting(value)
                for known in expected where name.equals(known.name.span) && text.equals(known.value.span) {
                    matches += 1
                }
            }
        }
        guard matches == expected.count, count.count == 8, !clientNonce.isEmpty else { return false }
        var digest = beginning
        digest.update(authorization.extracting(count))
        digest.update(":")
        digest.update(authorization.extracting(clientNonce))
        digest.update(":auth:")
        digest.update(request)
        return digest.finish().withHexadecimal { $0.equals(authorization.extracting(response)) }
    }

    private static func unquoted(_ value: Range<Int>, in bytes: Span<UInt8>) -> Range<Int> {
        let quote = UInt8.quote
        guard value.count >= 2, bytes[value.lowerBound] == quote, bytes[value.upperBound - 1] == quote else {
            return value
        }
        return value.lowerBound + 1..<value.upperBound - 1
    }

    private static func hash(_ text: String) -> String {
        Hex.encode(MessageDigest.digest(.md5, of: text.utf8Span.span).array)
    }
}
