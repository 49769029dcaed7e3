import Synchronization

/// Logs connections to one host in, as one principal.
final class NegotiateAuthenticator: ConnectionAuthenticator {
    /// Negotiate has no realm: its space is the host.
    let extent = Extent.origin
    private let principal: any KerberosPrincipal
    private let credential: String
    private let host: String
    private let forgetsLogins = Atomic(false)

    init(_ principal: any KerberosPrincipal, of credential: String, at host: String) {
        self.principal = principal
        self.credential = credential
        self.host = host
    }

    func answers(_ challenge: HeaderChallenge) -> Bool { challenge.scheme == "negotiate" }

    func prepare(under terms: LoginTerms) async throws(AuthenticationError) {
        let service = KerberosService(host: host, under: terms)
        do throws(TicketError) { try await principal.prepare(for: service) } catch {
            throw .noTicket(credential: credential, service: service.name, error)
        }
    }

    func makeContext(over channel: ChannelBinding?, under terms: LoginTerms) -> any SecurityContext {
        NegotiateContext(self, at: KerberosService(host: host, under: terms), over: channel)
    }

    func login(at service: KerberosService, over channel: ChannelBinding?) -> any KerberosLogin {
        principal.login(at: service, over: channel)
    }

    func begin(
        _ login: any KerberosLogin, at service: KerberosService
    ) async throws(AuthenticationError) -> [UInt8] {
        do throws(TicketError) { return try await login.begin() } catch {
            throw .noTicket(credential: credential, service: service.name, error)
        }
    }

    func clockSkew(at service: KerberosService) -> AuthenticationError {
        .clockSkew(credential: credential, service: service.name)
    }

    /// Whether the server takes a login for one request only, and says so by asking for the next: it is told again with
    /// every request from then on, on all connections.
    var serverForgetsLogins: Bool {
        get { forgetsLogins.load(ordering: .relaxed) }
        set { forgetsLogins.store(newValue, ordering: .relaxed) }
    }
}
