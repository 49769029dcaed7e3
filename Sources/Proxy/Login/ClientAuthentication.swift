import Authentication
import Bytes
import Challenges
import Credentials
import Crypto
import Forwarding
import HTTP
import IO
import Model
import Rules
import TLS
import Telemetry
import Transport
import Upstream

/// Challenges the proxy's own clients (RFC 9110 section 11.7) with the schemes that the rules name, in their order, and
/// learns from their answers who they are.
final class ClientAuthentication: Sendable {
    typealias Method = Configuration.Clients.Method

    enum Judgement {
        /// The user is known, and is in the record.
        case proved
        case refused(Refusal)
        /// The check takes time: call `check`.
        case undecided
    }

    let accounts: ClientAccounts
    let methods: [Method]
    let realm: String
    private let clients: Configuration.Clients

    /// Creates it; nil if the rules require no login.
    init?(_ clients: Configuration.Clients, accounts: ClientAccounts) {
        guard !clients.methods.isEmpty else { return nil }
        methods = clients.methods
        realm = clients.realm
        self.clients = clients
        self.accounts = accounts
    }

    /// Whether the rules let a Kerberos principal use the proxy.
    func admits(principal: String) -> Bool { clients.admits(principal: principal) }

    /// Judges the answer that the request brings. Does not block. Allocates nothing if the answer is the one of the
    /// connection's previous request.
    func judge(_ exchange: Exchange, of downstream: Downstream, with login: inout ClientLogin) -> Judgement {
        let fields = exchange.request.fields
        guard let field = fields.first(.proxyAuthorization) else {
            if methods.contains(.negotiate),
                let user = login.negotiation?.user(at: downstream.loop.now, by: self)
            {
                note(user, exchange, of: downstream)
                return .proved
            }
            login.negotiation = nil
            return .refused(challenge("log in to this proxy: \(methods[0].wish)"))
        }
        let head = exchange.headBytes
        let value = head.readable.extracting(field.value)
        if let accepted = login.accepted, accepted.covers(value, by: self),
            !fields.repeated.contains(.proxyAuthorization)
        {
            note(accepted.user, exchange, of: downstream)
            return .proved
        }
        guard !fields.repeated.contains(.proxyAuthorization) else {
            return .refused(malformed("the request has two Proxy-Authorization fields"))
        }
        guard let (method, credentials) = credentials(in: field, of: exchange) else {
            let offered = methods.map(\.schemeName).joined(separator: " or ")
            return .refused(challenge("the Proxy-Authorization field has no \(offered) credentials"))
        }
        switch method {
        case .basic: return judgeBasic(credentials, exchange, of: downstream, with: &login)
        case .digest: return judgeDigest(credentials, exchange, of: downstream)
        case .bearer: return judgeBearer(credentials, exchange, of: downstream, with: &login)
        case .negotiate: return .undecided
        }
    }

    /// Authenticates the client, and records the user.
    /// - Throws: the response to a client without a valid answer.
    func check(
        _ exchange: Exchange, of downstream: Downstream, with login: inout ClientLogin
    ) async throws(ExchangeFailure) {
        switch judge(exchange, of: downstream, with: &login) {
        case .proved: return
        case .refused(let refusal): throw .refused(refusal)
        case .undecided:
            guard let field = exchange.request.fields.first(.proxyAuthorization),
                let (method, credentials) = credentials(in: field, of: exchange)
            else { throw .refused(challenge("log in to this proxy")) }
            if method == .negotiate {
                try await checkNegotiate(credentials, exchange, of: downstream, with: &login)
            } else {
                try await checkBasic(credentials, exchange, of: downstream, with: &login)
            }
        }
    }

    /// The field's content: the method, if it is offered, and the range of its credentials in the head.
    private func credentials(in field: Field, of exchange: Exchange) -> (method: Method, credentials: Range<Int>)? {
        let head = exchange.headBytes
        let value = head.readable.extracting(field.value)
        guard let end = value.firstIndex(of: .space) else { return nil }
        let scheme = value.extracting(first: end)
        guard let method = methods.first(where: { scheme.equalsIgnoringCase($0.schemeName.utf8Span.span) }) else {
            return nil
        }
        let start = value.trimmingBlanks(end..<value.count).lowerBound
        return (method, field.value.lowerBound + start..<field.value.upperBound)
    }

    /// Records the user.
    private func note(_ user: String, _ exchange: Exchange, of downstream: Downstream) {
        downstream.isUsed(by: user)
        exchange.record.facts.user = user
    }

    /// Counts and logs a login that was refused.
    ///
    /// - Parameter user: the name that the client gave, which may be anything; nil if the login has none.
    func refuse(
        _ refusal: Refusal, of user: String?, by method: Metrics.LoginMethod, _ downstream: Downstream
    ) -> Refusal {
        downstream.metrics.add(.refused, by: method)
        let name = user.map { JournalText.printable($0, longest: Self.longestName) }
        var event = AuditEvent(
            .loginRefused,
            by: .client(address: downstream.shownAddress, user: name),
            details: refusal.details)
        event.method = method.rawValue
        downstream.shared.audit.note(event)
        return refusal
    }

    /// The limit of a user's name in the log, in characters.
    private static let longestName = 64

    /// Records the user, and remembers the answer for the connection's next request.
    private func accept(
        _ user: String, by method: Metrics.LoginMethod, version: Int, in exchange: Exchange, of downstream: Downstream,
        with login: inout ClientLogin
    ) {
        downstream.metrics.add(.accepted, by: method)
        note(user, exchange, of: downstream)
        guard let field = exchange.request.fields.first(.proxyAuthorization) else { return }
        let head = exchange.headBytes
        login.accepted = ClientLogin.Accepted(
            head.readable.extracting(field.value), of: user, by: self, version: version)
    }

    /// The values of the parameter `error` of `Bearer` (RFC 6750 section 3).
    enum BearerError: String {
        case invalidRequest = "invalid_request"
        case invalidToken = "invalid_token"
    }

    /// Returns the `407` with all challenges, one on each line: some clients read only the first of a line.
    /// - Parameters:
    ///   - isStale: whether the client knows the password and only needs a new nonce.
    ///   - bearerError: the problem with the token; nil if none came.
    func challenge(_ sentence: String, isStale: Bool = false, bearerError: BearerError? = nil) -> Refusal {
        var refusal = Refusal(.proxyAuthenticationRequired, .httpRequestDenied, sentence)
        for method in methods {
            switch method {
            case .basic: refusal.add("Basic realm=\(quotedRealm), charset=\"UTF-8\"")
            case .digest: for challenge in digestChallenges(isStale: isStale) { refusal.add(challenge) }
            case .negotiate: refusal.add("Negotiate")
            case .bearer:
                refusal.add("Bearer realm=\(quotedRealm)" + (bearerError.map { ", error=\"\($0.rawValue)\"" } ?? ""))
            }
        }
        return refusal
    }

    /// Returns the response to credentials that are malformed.
    func malformed(_ sentence: String) -> Refusal { Refusal(.badRequest, .httpRequestError, sentence) }

    /// The Digest challenges, the strongest first: a client takes the first that it knows (RFC 7616 section 3.7).
    /// SHA-512-256 is not offered. curl gives up if that comes first, and htdigest lines of it look like those of
    /// SHA-256. The charset says that names and passwords are in UTF-8 (section 4).
    private func digestChallenges(isStale: Bool) -> [String] {
        guard let nonces = accounts.nonces, let users = accounts.users else { return [] }
        return users.digestAlgorithms.compactMap { algorithm in
            guard let nonce = try? nonces.make(at: SystemClock.wallTime) else { return nil }
            let name = algorithm == .md5 ? "MD5" : "SHA-256"
            return "Digest realm=\(quotedRealm), qop=\"auth\", algorithm=\(name), nonce=\"\(nonce)\", charset=\"UTF-8\""
                + (isStale ? ", stale=true" : "")
        }
    }

    private var quotedRealm: String {
        let escaped = realm.flatMap { $0 == "\"" || $0 == "\\" ? "\\\($0)" : String($0) }
        return "\"\(String(escaped))\""
    }
}

extension Refusal {
    fileprivate mutating func add(_ challenge: String) {
        fields.append((name: "Proxy-Authenticate", value: challenge))
    }
}

/// Basic (RFC 7617), against the users file. Name and password are bytes, which should be UTF-8.
extension ClientAuthentication {
    private func judgeBasic(
        _ credentials: Range<Int>, _ exchange: Exchange, of downstream: Downstream, with login: inout ClientLogin
    ) -> Judgement {
        withPair(credentials, exchange) { pair, colon, users in
            let version = accounts.version
            let name = pair.extracting(0..<colon)
            switch users.outcome(user: name, password: pair.extracting(colon + 1..<pair.count)) {
            case true:
                accept(name.text, by: .basic, version: version, in: exchange, of: downstream, with: &login)
                return .proved
            case false: return .refused(refuse(wrong, of: name.text, by: .basic, downstream))
            case nil: return .undecided
            }
        } ?? .refused(noPair)
    }

    /// Checks credentials that `judgeBasic` could not decide.
    private func checkBasic(
        _ credentials: Range<Int>, _ exchange: Exchange, of downstream: Downstream, with login: inout ClientLogin
    ) async throws(ExchangeFailure) {
        let version = accounts.version
        let found = withPair(credentials, exchange) { pair, colon, users in
            (users, name: pair.extracting(0..<colon).text, password: Secret(pair.extracting(colon + 1..<pair.count)))
        }
        guard let (users, name, password) = found else { throw .refused(noPair) }
        switch await users.authenticate(user: name, password: password, for: downstream.waiting(on: exchange)) {
        case .right: accept(name, by: .basic, version: version, in: exchange, of: downstream, with: &login)
        case .wrong: throw .refused(refuse(wrong, of: name, by: .basic, downstream))
        case .busy(let time):
            throw .refused(.busy("this proxy has too many passwords to check: try again", retryAfter: time))
        case .abandoned: throw .clientLost
        }
    }

    var wrong: Refusal { challenge("the user name or the password is wrong") }
    private var noPair: Refusal { challenge("the Proxy-Authorization field has no Basic credentials") }

    /// Lends the user-id and the password, decoded, with the place of the colon between them.
    /// - Returns: nil if it is not such a pair, or there are no users.
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

/// Bearer (RFC 6750), against the tokens file: section 2.1 only, because a proxy has no other place for a token.
extension ClientAuthentication {
    private func judgeBearer(
        _ credentials: Range<Int>, _ exchange: Exchange, of downstream: Downstream, with login: inout ClientLogin
    ) -> Judgement {
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
            let refusal = challenge("this proxy does not know the token", bearerError: .invalidToken)
            return .refused(refuse(refusal, of: nil, by: .bearer, downstream))
        }
        accept(user, by: .bearer, version: version, in: exchange, of: downstream, with: &login)
        return .proved
    }
}

/// Digest (RFC 7616), against the htdigest lines of the users file.
extension ClientAuthentication {
    /// Checks a Digest answer. A proved answer uses up its nonce count.
    private func judgeDigest(_ credentials: Range<Int>, _ exchange: Exchange, of downstream: Downstream) -> Judgement {
        guard let users = accounts.users, let nonces = accounts.nonces else { return .undecided }
        let (head, texts) = (exchange.headBytes, exchange.outbound)
        texts.clear()
        defer { texts.clear() }
        let value = head.readable.extracting(credentials)
        let digest: DigestAuthorization
        let (userEnd, realmEnd): (Int, Int)
        do throws(DigestAuthorization.Defect) {
            digest = try DigestAuthorization(value)
            try digest.appendUser(of: value, to: texts)
            userEnd = texts.count
            digest.appendRealm(of: value, to: texts)
            realmEnd = texts.count
            digest.appendTarget(of: value, to: texts)
        } catch { return .refused(malformed("\(error)")) }
        let user = texts.readable.extracting(0..<userEnd)
        let target = texts.readable.extracting(realmEnd..<texts.count)
        guard texts.readable.extracting(userEnd..<realmEnd).equals(realm.utf8Span.span) else {
            return .refused(challenge("the Digest credentials are for another realm"))
        }
        guard isTarget(target, of: exchange) else {
            return .refused(malformed("the uri in the Digest credentials is not that of the request"))
        }
        let account = users.digestKey(of: user, digest.algorithm)
        let method = head.readable.extracting(exchange.request.methodName)
        let proves = digest.proves(
            account?.key ?? Self.nobody, value: value, method: method, target: target)
        guard proves, let account else { return .refused(refuse(wrong, of: user.text, by: .digest, downstream)) }
        let now = SystemClock.wallTime
        guard nonces.use(value.extracting(digest.nonce), count: digest.count, at: now) else {
            return .refused(
                challenge("the nonce of the Digest credentials has expired: use the new one", isStale: true))
        }
        downstream.metrics.add(.accepted, by: .digest)
        note(account.name, exchange, of: downstream)
        let information = exchange.texts.fieldValue
        information.clear()
        digest.appendProof(account.key, value: value, target: target, to: information)
        if nonces.isLate(value.extracting(digest.nonce), at: now), let next = try? nonces.make(at: now) {
            information.append(", nextnonce=\"\(next)\"")
        }
        exchange.credentials.loginAnswer = (name: "Proxy-Authentication-Info", value: information.readable.text)
        information.clear()
        return .proved
    }

    /// Whether the `uri` is the request's target (section 3.4.6): the target as sent, or path and query of a full URL,
    /// because curl sends only those.
    private func isTarget(_ uri: Span<UInt8>, of exchange: Exchange) -> Bool {
        let (head, target) = (exchange.headBytes, exchange.request.target)
        if uri.equals(head.readable.extracting(target.text)) { return true }
        guard target.form == .absolute else { return false }
        let path = head.readable.extracting(target.path)
        if uri.equals(path) { return true }
        // An empty path is sent as a slash.
        guard uri.count == path.count + 1, uri[0] == .slash else { return false }
        return path.isEmpty || path[0] != .slash && uri.extracting(1..<uri.count).equals(path)
    }

    /// The verifier that an unknown user's answer is compared with, so that it takes as long as for a known user.
    private static let nobody = MessageDigest.digest(.sha256, of: [UInt8](repeating: 0, count: 32).span)
}

/// Negotiate (RFC 4559) with the keys of a keytab: SPNEGO with Kerberos.
extension ClientAuthentication {
    private func checkNegotiate(
        _ credentials: Range<Int>, _ exchange: Exchange, of downstream: Downstream, with login: inout ClientLogin
    ) async throws(ExchangeFailure) {
        let head = exchange.headBytes
        guard let token = Base64.decode(head.readable.extracting(credentials).text), !token.isEmpty else {
            throw .refused(challenge("the Proxy-Authorization field has no Negotiate token"))
        }
        let step: ServiceKeytab.Login
        do throws(ServiceKeytab.LoginFailure) { step = try begunLogin(login, of: downstream) } catch {
            throw .refused(unable(error, exchange))
        }
        login.negotiation = nil
        switch await step.step(token, for: downstream.waiting(on: exchange)) {
        case .done(.success(.proved(let principal, let answer, let lifetime))):
            guard admits(principal: principal) else {
                let refusal = Refusal(
                    .forbidden, .httpRequestDenied,
                    "the principal \(principal) may not use this proxy: 'clients' has no 'allow-principals' for it")
                throw .refused(refuse(refusal, of: principal, by: .negotiate, downstream))
            }
            downstream.metrics.add(.accepted, by: .negotiate)
            login.negotiation = .established(
                user: principal, for: lifetime, at: downstream.loop.now, admittedBy: self)
            note(principal, exchange, of: downstream)
            exchange.credentials.loginAnswer = answer.map {
                (name: "Proxy-Authenticate" as StaticString, value: Self.field($0))
            }
        case .done(.success(.goesOn(let answer))):
            login.negotiation = .awaitingToken(step)
            throw .refused(
                Refusal(
                    .proxyAuthenticationRequired, .httpRequestDenied, "the login needs another step of the client",
                    fields: [(name: "Proxy-Authenticate", value: Self.field(answer))]))
        case .done(.failure(let error)):
            let refusal = unable(error, exchange)
            throw .refused(error.fault == .unavailable ? refusal : refuse(refusal, of: nil, by: .negotiate, downstream))
        case .refused(let time):
            throw .refused(.busy("this proxy has too many Kerberos tickets to check: try again", retryAfter: time))
        case .abandoned: throw .clientLost
        }
    }

    private func begunLogin(_ login: ClientLogin, of downstream: Downstream) throws(ServiceKeytab.LoginFailure)
        -> ServiceKeytab.Login
    {
        if case .awaitingToken(let begun) = login.negotiation { return begun }
        guard let keytab = accounts.keytab else { throw ServiceKeytab.LoginFailure(.unavailable, "there is no keytab") }
        // A ticket that a client has bound to its connection with another server is not valid here.
        let binding = downstream.stream.tls?.serverEndPointBinding.map { ChannelBinding(tlsServerEndPoint: $0) }
        return try keytab.login(over: binding)
    }

    private static func field(_ token: [UInt8]) -> String { "Negotiate \(Base64.encode(token))" }

    /// The library's text goes only to the log, because the client is unknown.
    private func unable(_ error: ServiceKeytab.LoginFailure, _ exchange: Exchange) -> Refusal {
        exchange.record.facts.details = "\(error)"
        switch error.fault {
        case .refused: return challenge("the Kerberos ticket was refused; get another")
        case .clockSkew:
            return challenge("the client's clock differs from this proxy's by more than Kerberos allows (5 minutes)")
        case .notKerberos: return challenge("the client negotiates something else than Kerberos")
        case .unavailable:
            return Refusal(
                .internalServerError, .proxyInternalError,
                "this proxy cannot check Kerberos tickets now; the proxy's log says why")
        }
    }
}

/// The passwords of SOCKS clients (RFC 1929), against the users file.
extension ClientAuthentication {
    /// Whether a client can log in by a password that it sends.
    var takesPasswords: Bool { methods.contains(.basic) }

    /// Checks the password.
    /// - Returns: the reason why it is not accepted; nil if it is right.
    func check(
        _ password: Secret, of user: String, on exchange: Exchange, from downstream: Downstream
    ) async throws(ExchangeFailure) -> String? {
        guard let users = accounts.users else { return SOCKSRefusal.unsupportedLogin.sentence }
        switch await users.authenticate(user: user, password: password, for: downstream.waiting(on: exchange)) {
        case .right:
            downstream.metrics.add(.accepted, by: .basic)
            return nil
        case .wrong: return refuse(wrong, of: user, by: .basic, downstream).sentence
        case .busy: return "this proxy has too many passwords to check"
        case .abandoned: throw .clientLost
        }
    }
}

extension Configuration.Clients.Method {
    var schemeName: String {
        switch self {
        case .basic: "Basic"
        case .digest: "Digest"
        case .negotiate: "Negotiate"
        case .bearer: "Bearer"
        }
    }

    /// The text of the 407 page that asks the user to act.
    fileprivate var wish: String {
        switch self {
        case .basic, .digest: "set a user name and a password"
        case .negotiate: "get a Kerberos ticket, and let the client use it"
        case .bearer: "set a token"
        }
    }
}
