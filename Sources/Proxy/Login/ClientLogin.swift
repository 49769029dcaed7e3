import Bytes
import Credentials
import Crypto
import IO

/// The logins that belong to a client's connection.
struct ClientLogin {
    /// The user of all requests on the connection, known from a certificate or from the CONNECT of its tunnel. Nil if
    /// each request authenticates itself, or none does.
    private(set) var user: String?
    /// Checks whether the user of a tunnel may still use the proxy; nil for a user known from a certificate.
    private var admission: Admission?
    /// The state of a login by Negotiate; nil if none was begun.
    var negotiation: Negotiation?
    /// The last authorization by which the client proved its identity.
    var accepted: Accepted?

    /// Records the user whom the client's certificate proves.
    mutating func recognise(_ user: String) { self.user = user }

    /// Sets the user who opened the tunnel of all later requests.
    mutating func enterTunnel(as user: String?, by authentication: ClientAuthentication?) {
        accepted = nil
        let isPrincipal =
            if case .established(let principal, _, _) = negotiation { user?.hasSameBytes(as: principal) == true } else {
                false
            }
        negotiation = nil
        // A user who is known from a certificate is in no list.
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

    /// The state of a client's login by Negotiate (RFC 4559). It belongs to the connection, not to a request.
    enum Negotiation {
        /// The client has the proxy's token; its next request brings the answer. Becomes `.established`, or ends.
        case awaitingToken(ServiceKeytab.Login)
        /// All requests without other credentials belong to this principal while the ticket is valid: until `until`.
        /// If the rules change, they must admit the principal again.
        case established(user: String, until: LoopInstant, admittedBy: ClientAuthentication)

        /// - Parameter lifetime: the ticket's lifetime; nil if unlimited.
        static func established(
            user: String, for lifetime: Milliseconds?, at now: LoopInstant,
            admittedBy authentication: ClientAuthentication
        ) -> Negotiation {
            let end = lifetime.map { now + $0 }
            return .established(user: user, until: end ?? .distantFuture, admittedBy: authentication)
        }

        /// The user of the login, if it is still valid and these rules admit the user.
        func user(at now: LoopInstant, by authentication: ClientAuthentication) -> String? {
            guard case .established(let user, let end, let admitter) = self, now < end else { return nil }
            return admitter === authentication || authentication.admits(principal: user) ? user : nil
        }
    }

    /// The `Proxy-Authorization` that was accepted last on a connection. A client sends the same value with every
    /// request. It is not checked again until the users change. Only for schemes whose answer may be repeated.
    struct Accepted {
        let user: String
        private let value: Secret
        private let authentication: ClientAuthentication
        private let version: Int

        /// - Parameter version: the version of the accounts before the value was checked.
        init(_ value: Span<UInt8>, of user: String, by authentication: ClientAuthentication, version: Int) {
            self.user = user
            self.value = Secret(value)
            self.authentication = authentication
            self.version = version
        }

        /// Whether the value is the accepted one and still valid. Allocates nothing; takes the same time for all values
        /// of a length.
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
        /// Whether the user logged in with a ticket.
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

        /// Whether the admission is still valid: neither the lists nor the rules have changed for this user.
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
