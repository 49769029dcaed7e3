import Bytes
import Credentials
import Forwarding
import HTTP
import Rules
import Telemetry

/// Bearer (RFC 6750), against the tokens file: section 2.1 only, as a proxy has no other place for a token.
extension ClientAuthentication {
    func judgeBearer(_ credentials: Range<Int>, _ exchange: Exchange, of session: ClientSession) -> Judgement {
        let version = accounts.version
        let head = exchange.headBytes
        let text = head.readable.extracting(credentials)
        let token = text.extracting(text.trimmingBlanks(0..<text.count))
        for offset in 0..<token.count
        where !token[offset].isTokenByte && token[offset] != .slash && token[offset] != .equals {
            return .refused(
                challenge("the Proxy-Authorization field has no Bearer token", bearerError: .invalidRequest))
        }
        guard let user = accounts.tokens?.user(of: token) else {
            return .refused(challenge("this proxy does not know the token", bearerError: .invalidToken))
        }
        accept(user, version: version, in: exchange, of: session)
        return .proved
    }
}
