import Bytes
import Credentials
import Crypto
import HTTP
import IO
import Telemetry

/// Challenges the proxy's own clients (RFC 9110 section 11.7) with Basic, against a users file.
struct ClientAuthentication: Sendable {
    private let users: UsersFile
    private let challenge: String

    init(users: UsersFile, realm: String) {
        self.users = users
        let escaped = realm.flatMap { $0 == "\"" || $0 == "\\" ? "\\\($0)" : String($0) }
        challenge = "Basic realm=\"\(String(escaped))\", charset=\"UTF-8\""
    }

    /// Whether the client has proved before who it is; then that is in the record. Neither blocks nor refuses.
    func hasProved(_ exchange: Exchange) -> Bool {
        let decoded = exchange.outbound
        decoded.clear()
        defer { decoded.clear() }
        let head = exchange.headBytes
        guard let field = exchange.request.fields.first(.proxyAuthorization),
            Self.decode(head.readable.extracting(field.value), into: decoded),
            let colon = decoded.readable.firstIndex(of: .colon)
        else { return false }
        let name = decoded.readable.extracting(0..<colon)
        guard users.hasVerified(user: name, password: decoded.readable.extracting(colon + 1..<decoded.count)) else {
            return false
        }
        exchange.record.user = name.text
        return true
    }

    /// Finds out who the client is, and notes it in the record.
    /// - Throws: the `407` it gets when it does not say, or says wrong.
    func check(_ exchange: Exchange) async throws(ExchangeFailure) {
        if hasProved(exchange) { return }
        let decoded = exchange.outbound
        decoded.clear()
        defer { decoded.clear() }
        let head = exchange.headBytes
        guard let field = exchange.request.fields.first(.proxyAuthorization) else {
            throw .refused(refusal("this proxy wants to know who you are: give it a user name and a password"))
        }
        guard Self.decode(head.readable.extracting(field.value), into: decoded),
            let colon = decoded.readable.firstIndex(of: .colon)
        else { throw .refused(refusal("the Proxy-Authorization field holds no Basic credentials")) }
        let name = decoded.readable.extracting(0..<colon)
        let password = decoded.readable.extracting(colon + 1..<decoded.count)
        let user = name.text
        let secret = Secret(password)
        // A hash takes tens of milliseconds by design.
        guard await BlockingPool.shared.run({ [users] in users.verify(user: user, password: secret) }) else {
            throw .refused(refusal("the user name or the password is wrong"))
        }
        exchange.record.user = user
    }

    /// RFC 7617 section 2: the scheme in any case, and the pair in base64.
    private static func decode(_ value: Span<UInt8>, into buffer: ByteBuffer) -> Bool {
        guard value.count > 6, value.extracting(first: 6).equalsIgnoringCase("basic ") else { return false }
        let pair = value.trimmingBlanks(6..<value.count)
        return Base64.decode(value.extracting(pair), into: buffer)
    }

    private func refusal(_ sentence: String) -> Refusal {
        var refusal = Refusal(.proxyAuthenticationRequired, .httpRequestDenied, sentence)
        refusal.fields = [(name: "Proxy-Authenticate", value: challenge)]
        return refusal
    }
}
