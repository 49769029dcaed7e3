import Authentication
import Bytes
import Crypto

/// The server's side of Basic (RFC 7617) with the practice credential.
enum PracticeBasic {
    static var challenge: String { "Basic realm=\"\(PracticeSpace.basic.realm)\", charset=\"UTF-8\"" }

    static func verify(_ credentials: HeaderChallenge) -> Bool {
        guard credentials.scheme == "basic", let token = credentials.token68, let sent = Base64.decode(token) else {
            return false
        }
        let expected = Array("\(PracticeCredential.user):\(PracticeCredential.password)".utf8)
        return ConstantTime.equal(sent.span, expected.span)
    }
}
