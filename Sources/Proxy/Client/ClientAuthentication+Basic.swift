import Bytes
import Credentials
import Crypto
import HTTP
import Rules
import Telemetry

/// Basic (RFC 7617), against the users file. Name and password are bytes, in UTF-8 where the client does as it is told.
extension ClientAuthentication {
    private static var wrong: String { "the user name or the password is wrong" }

    func judgeBasic(_ credentials: Range<Int>, _ exchange: Exchange, of session: ClientSession) -> Judgement {
        guard let users = accounts.users else { return .undecided }
        let version = accounts.version
        let decoded = exchange.outbound
        decoded.clear()
        defer { decoded.clear() }
        let head = exchange.headBytes
        guard Base64.decode(head.readable.extracting(credentials), into: decoded),
            let colon = decoded.readable.firstIndex(of: .colon)
        else { return .refused(challenge("the Proxy-Authorization field holds no Basic credentials")) }
        let name = decoded.readable.extracting(0..<colon)
        let password = decoded.readable.extracting(colon + 1..<decoded.count)
        switch users.outcome(user: name, password: password) {
        case true:
            accept(name.text, version: version, in: exchange, of: session)
            return .proved
        case false: return .refused(challenge(Self.wrong))
        case nil: return .undecided
        }
    }

    /// Of credentials that `judgeBasic` could not decide on.
    func checkBasic(
        _ credentials: Range<Int>, _ exchange: Exchange, of session: ClientSession
    ) async throws(ExchangeFailure) {
        guard let users = accounts.users else { throw .refused(challenge(Self.wrong)) }
        let version = accounts.version
        let decoded = exchange.outbound
        decoded.clear()
        defer { decoded.clear() }
        let head = exchange.headBytes
        guard Base64.decode(head.readable.extracting(credentials), into: decoded),
            let colon = decoded.readable.firstIndex(of: .colon)
        else { throw .refused(challenge("the Proxy-Authorization field holds no Basic credentials")) }
        let user = decoded.readable.extracting(0..<colon).text
        let password = Secret(decoded.readable.extracting(colon + 1..<decoded.count))
        guard await users.authenticate(user: user, password: password) else { throw .refused(challenge(Self.wrong)) }
        accept(user, version: version, in: exchange, of: session)
    }
}
