import Bytes
import Credentials
import Crypto
import Forwarding
import HTTP
import Rules
import Telemetry
import Upstream

/// Basic (RFC 7617), against the users file. Name and password are bytes, in UTF-8 where the client does as it is told.
extension ClientAuthentication {
    func judgeBasic(_ credentials: Range<Int>, _ exchange: Exchange, of session: ClientSession) -> Judgement {
        withPair(credentials, exchange) { pair, colon, users in
            let version = accounts.version
            let name = pair.extracting(0..<colon)
            switch users.outcome(user: name, password: pair.extracting(colon + 1..<pair.count)) {
            case true:
                accept(name.text, version: version, in: exchange, of: session)
                return .proved
            case false: return .refused(wrong)
            case nil: return .undecided
            }
        } ?? .refused(noPair)
    }

    /// Of credentials that `judgeBasic` could not decide on.
    func checkBasic(
        _ credentials: Range<Int>, _ exchange: Exchange, of session: ClientSession
    ) async throws(ExchangeFailure) {
        let version = accounts.version
        let login = withPair(credentials, exchange) { pair, colon, users in
            (users, name: pair.extracting(0..<colon).text, password: Secret(pair.extracting(colon + 1..<pair.count)))
        }
        guard let (users, name, password) = login else { throw .refused(noPair) }
        switch await users.authenticate(user: name, password: password, for: session.requester.waiting(on: exchange)) {
        case .right: accept(name, version: version, in: exchange, of: session)
        case .wrong: throw .refused(wrong)
        case .busy(let seconds):
            throw .refused(.busy("this proxy has too many passwords to check: try again", retryAfter: seconds))
        case .abandoned: throw .clientLost
        }
    }

    private var wrong: Refusal { challenge("the user name or the password is wrong") }
    private var noPair: Refusal { challenge("the Proxy-Authorization field has no Basic credentials") }

    /// Lends the user-id and the password, decoded, with the place of the colon between them.
    /// - Returns: nil for what is no such pair, or where there are no users.
    private func withPair<Result>(
        _ credentials: Range<Int>, _ exchange: Exchange, _ body: (Span<UInt8>, Int, UsersFile) -> Result
    ) -> Result? {
        guard let users = accounts.users else { return nil }
        let decoded = exchange.outbound
        decoded.clear()
        defer { decoded.clear() }
        let head = exchange.headBytes
        guard Base64.decode(head.readable.extracting(credentials), into: decoded) else { return nil }
        let pair = decoded.readable
        guard let colon = pair.firstIndex(of: .colon) else { return nil }
        return body(pair, colon, users)
    }
}
