import Bytes
import Credentials
import Crypto

/// The logins that belong to a client's connection.
struct ClientLogin {
    /// The user of all requests on the connection, known from a certificate or from the CONNECT of its tunnel. Nil if each
    /// request logs in itself, or none does.
    private(set) var user: String?
    /// Tells whether the user of a tunnel may still use the proxy; nil for a user known from a certificate.
    private var admission: Admission?
    /// How far a login by Negotiate has come; nil: it was not begun.
    var negotiation: Negotiation?
    /// The authorization that the client proved itself with last.
    var accepted: Accepted?

    /// The client has proved by a certificate who it is.
    mutating func recognise(_ user: String) { self.user = user }

    /// All later requests come through a tunnel that this user opened.
    mutating func enterTunnel(as user: String?, by authentication: ClientAuthentication?) {
        accepted = nil
        let isPrincipal =
            if case .established(let principal, _, _) = negotiation { user?.hasSameBytes(as: principal) == true } else {
                false
            }
        negotiation = nil
        // No list has a user who is known from a certificate.
        if let user, self.user == nil, let authentication {
            admission = Admission(user, isPrincipal: isPrincipal, by: authentication)
        }
        self.user = user
    }

    /// Whether the user who opened the tunnel may still use the proxy.
    mutating func isStillAdmitted(by authentication: ClientAuthentication?) -> Bool {
        guard admission != nil, let authentication else { return true }
        return admission?.holds(by: authentication) ?? true
    }

    /// How far a client's login by Negotiate has come (RFC 4559): it belongs to the connection, not to a request.
    enum Negotiation {
        /// The client has our token, and its next request brings the answer; becomes `.established`, or ends.
        case awaitingToken(ServiceLogin)
        /// All requests that bring no other credentials are this principal's, as long as the ticket holds: until then, on the
        /// loop's clock. The rules that let it in are asked again when others take their place.
        case established(user: String, until: UInt64, admittedBy: ClientAuthentication)

        /// - Parameter lifetime: seconds; nil: without end.
        static func established(
            user: String, for lifetime: Int?, at now: UInt64, admittedBy authentication: ClientAuthentication
        ) -> Negotiation {
            let end = lifetime.map { now &+ UInt64(clamping: $0) &* 1000 }
            return .established(user: user, until: end ?? .max, admittedBy: authentication)
        }

        /// The user who is known by it now, and may use the proxy by these rules.
        func user(at now: UInt64, by authentication: ClientAuthentication) -> String? {
            guard case .established(let user, let end, let admitter) = self, now < end else { return nil }
            return admitter === authentication || authentication.admits(principal: user) ? user : nil
        }
    }

    /// The `Proxy-Authorization` that was accepted last on a connection: a client sends the same with every request, and it
    /// need not be checked again as long as the users stay the same. Only of schemes whose answer may be repeated.
    struct Accepted {
        let user: String
        private let value: Secret
        private let authentication: ClientAuthentication
        private let version: Int

        /// - Parameter version: that of the accounts before the value was checked.
        init(_ value: Span<UInt8>, of user: String, by authentication: ClientAuthentication, version: Int) {
            self.user = user
            self.value = Secret(value)
            self.authentication = authentication
            self.version = version
        }

        /// Whether the value is this one and still good. Allocates nothing; takes the same time for all values of a length.
        func covers(_ value: Span<UInt8>, by authentication: ClientAuthentication) -> Bool {
            guard self.authentication === authentication, version == authentication.accounts.version else {
                return false
            }
            return self.value.withBytes { ConstantTime.equal($0, value) }
        }
    }

    /// Proof that a user was admitted, for a tunnel whose requests do not log in.
    struct Admission {
        private let user: String
        /// Whether the user came with a ticket.
        private let isPrincipal: Bool
        private var authentication: ClientAuthentication
        private var version: Int
        private let mark: ClientAccounts.Mark

        init(_ user: String, isPrincipal: Bool, by authentication: ClientAuthentication) {
            self.user = user
            self.isPrincipal = isPrincipal
            self.authentication = authentication
            version = authentication.accounts.version
            mark = authentication.accounts.mark(of: user)
        }

        /// Whether it holds: nothing was changed about the user since, neither in a list nor in the rules.
        mutating func holds(by authentication: ClientAuthentication) -> Bool {
            if authentication !== self.authentication {
                if isPrincipal, !authentication.admits(principal: user) { return false }
                self.authentication = authentication
            }
            let accounts = authentication.accounts
            let current = accounts.version
            if current == version { return true }
            guard accounts.mark(of: user) == mark else { return false }
            version = current
            return true
        }
    }
}
