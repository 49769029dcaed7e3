import Authentication
import Bytes
import Credentials
import Forwarding
import HTTP
import IO
import Rules
import TLS
import Telemetry
import Transport
import Upstream

/// Negotiate (RFC 4559) with the keys of a keytab: SPNEGO with Kerberos.
extension ClientAuthentication {
    func checkNegotiate(
        _ credentials: Range<Int>, _ exchange: Exchange, of session: ClientSession
    ) async throws(ExchangeFailure) {
        let head = exchange.headBytes
        guard let token = Base64.decode(head.readable.extracting(credentials).text), !token.isEmpty else {
            throw .refused(challenge("the Proxy-Authorization field has no Negotiate token"))
        }
        let login: ServiceLogin
        do throws(LoginError) { login = try begunLogin(of: session) } catch { throw .refused(unable(error, exchange)) }
        session.negotiation = nil
        switch await login.step(token, for: session.requester.waiting(on: exchange)) {
        case .done(.success(.proved(let principal, let answer, let lifetime))):
            guard admits(principal: principal) else {
                throw .refused(
                    Refusal(
                        .forbidden, .httpRequestDenied,
                        "the principal \(principal) may not use this proxy: 'clients' has no 'allow-principals' for it")
                )
            }
            session.negotiation = .established(
                user: principal, for: lifetime, at: session.requester.loop.now, admittedBy: self)
            note(principal, exchange, of: session)
            exchange.credentials.loginAnswer = answer.map {
                LoginAnswer(name: "Proxy-Authenticate", value: Self.field($0))
            }
        case .done(.success(.goesOn(let answer))):
            session.negotiation = .awaitingToken(login)
            var refusal = Refusal(
                .proxyAuthenticationRequired, .httpRequestDenied, "the login needs another step of the client")
            refusal.fields = [(name: "Proxy-Authenticate", value: Self.field(answer))]
            throw .refused(refusal)
        case .done(.failure(let error)): throw .refused(unable(error, exchange))
        case .refused(let seconds):
            throw .refused(.busy("this proxy has too many Kerberos tickets to check: try again", retryAfter: seconds))
        case .abandoned: throw .clientLost
        }
    }

    private func begunLogin(of session: ClientSession) throws(LoginError) -> ServiceLogin {
        if case .awaitingToken(let login) = session.negotiation { return login }
        guard let keytab = accounts.keytab else { throw LoginError(.unavailable, "there is no keytab") }
        // A ticket that a client has bound to its connection with another server is no good here.
        let binding = session.stream.tls?.serverEndPointBinding.map { ChannelBinding(tlsServerEndPoint: $0) }
        return try keytab.login(over: binding)
    }

    private static func field(_ token: [UInt8]) -> String { "Negotiate \(Base64.encode(token))" }

    /// The library's words are for the operator: a client that is not known is told no more than that.
    private func unable(_ error: LoginError, _ exchange: Exchange) -> Refusal {
        exchange.record.details = "\(error)"
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
