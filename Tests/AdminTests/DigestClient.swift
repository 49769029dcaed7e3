import Authentication
import Bytes
import Crypto
import Testing

@testable import Admin

/// The client's side of Digest, written from RFC 7616 section 3.4 alone, with every parameter open to a lie.
struct DigestClient {
    var parameters: [(name: String, value: String)] = []
    private let algorithm: DigestAlgorithm
    private let challenge: HeaderChallenge

    init(_ challenge: String) throws {
        self.challenge = try #require(header(challenge))
        algorithm = self.challenge.text("algorithm") == "MD5" ? .md5 : .sha256
    }

    func credentials(
        user: String = PracticeCredential.user, password: String = PracticeCredential.password, method: String = "GET",
        uri: String, count: String = "00000001", clientNonce: String = "0a4f113b"
    ) throws -> [(name: String, value: String)] {
        let realm = try #require(challenge.realm)
        let nonce = try #require(challenge.text("nonce"))
        let key = hash("\(user):\(realm):\(password)")
        let response = hash("\(key):\(nonce):\(count):\(clientNonce):auth:\(hash("\(method):\(uri)"))")
        return [
            ("username", user), ("realm", realm), ("nonce", nonce), ("uri", uri), ("response", response),
            ("algorithm", try #require(challenge.text("algorithm"))), ("cnonce", clientNonce),
            ("qop", "auth"), ("nc", count),
        ]
    }

    /// The proof that the server must send.
    func proof(uri: String, count: String = "00000001", clientNonce: String = "0a4f113b") throws -> String {
        let realm = try #require(challenge.realm)
        let nonce = try #require(challenge.text("nonce"))
        let key = hash("\(PracticeCredential.user):\(realm):\(PracticeCredential.password)")
        return hash("\(key):\(nonce):\(count):\(clientNonce):auth:\(hash(":\(uri)"))")
    }

    private func hash(_ text: String) -> String {
        Hex.encode(MessageDigest.digest(algorithm, of: text.utf8Span.span).array)
    }
}

/// The field value with these parameters, all quoted.
func field(_ parameters: [(name: String, value: String)]) -> String {
    "Digest " + parameters.map { "\($0.name)=\"\($0.value)\"" }.joined(separator: ", ")
}

func header(_ field: String) -> HeaderChallenge? {
    var parser = ChallengeParser()
    parser.parse(field.utf8Span.span)
    return parser.challenges.first
}
