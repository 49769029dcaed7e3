import Bytes

/// A Kerberos principal for logins. The GSSAPI target knows its type.
public protocol KerberosPrincipal: AnyObject, Sendable {
    /// Gets a ticket for the service, unless there is one; once for all callers. It may take as long as the terms'
    /// `patience`.
    func prepare(for service: KerberosService) async throws(TicketError)

    /// Creates a login that has not begun yet.
    ///
    /// - Parameter channel: the binding to the connection's TLS; nil without TLS.
    func login(at service: KerberosService, over channel: ChannelBinding?) -> any KerberosLogin

    /// Allows another request to the KDC after it refused the password or the key, because either was set again or the
    /// account was unlocked.
    func forgetRefusal()

    /// The name of the KDC in accounts, such as `krb5:EXAMPLE.COM`; nil: no KDC was asked.
    var kdc: String? { get }

    /// The expiry of the first ticket; nil if there is no ticket yet.
    var ticketEnd: WallTime? { get }
}

/// The service that a ticket is for, and the terms of the login.
public struct KerberosService: Sendable {
    /// The name as a rule writes it: `SERVICE/HOST`, `SERVICE/HOST@REALM` or `SERVICE@HOST`.
    public let name: String
    public let terms: LoginTerms

    /// - Parameter host: the requested host. Its `HTTP` service is used, unless the terms name another.
    init(host: String, under terms: LoginTerms) {
        name = terms.servicePrincipal ?? "HTTP/\(host)"
        self.terms = terms
    }
}

/// The permission to show a password or key to a KDC once. If it is dropped, it counts as unused.
public struct KDCAdmission: Sendable {
    /// Reports the KDC's verdict to the account; nil: the KDC accepted the password or key.
    public let report: @Sendable (TicketError?) -> Void
    /// A permission to renew the ticket obtained with this one; nil while the password or key is doubted. It does not
    /// retain the credential.
    public let renewal: @Sendable () -> KDCAdmission?

    public init(
        report: @escaping @Sendable (TicketError?) -> Void, renewal: @escaping @Sendable () -> KDCAdmission?
    ) {
        self.report = report
        self.renewal = renewal
    }
}

/// The tokens of one login, from the side of the initiator (RFC 4178 section 4).
public protocol KerberosLogin: AnyObject {
    /// The first token. It may wait for a KDC.
    func begin() async throws(TicketError) -> [UInt8]

    /// Handles the server's token. Does not wait.
    func answer(_ token: [UInt8]) -> KerberosStep

    /// Drops the ticket if it is not new, since the service may have another key by now.
    ///
    /// - Returns: whether another ticket could succeed.
    func renounceTicket() -> Bool
}

/// The result of a token from the server.
public enum KerberosStep: Sendable, Equatable {
    /// The server needs this token too.
    case `continue`([UInt8])
    /// The server is authenticated, and no further token is needed.
    case established
    /// The token proves nothing: the server is not the one that the ticket is for, or did not accept it.
    case failed
    /// The clocks differ by more than Kerberos allows. The ticket was not judged.
    case clockSkew
}

/// The reason why there is no ticket.
public enum TicketError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The KDC refused the password or the key. It is not asked again until either changes.
    case refused(String)
    /// The password or the key was not judged. The next try may succeed.
    case unavailable(String)
    /// The KDC is not asked: the account of the password or key has no room for another refusal, or waits for the next
    /// try.
    ///
    /// - Parameter nextTry: nil: with the next request, or when the value is set again.
    case held(nextTry: WallTime?)
    /// The KDC is not asked: the verdict on another answer with the password or key did not come in time.
    case undecided

    public var isRefusal: Bool { if case .refused = self { true } else { false } }

    public var description: String {
        switch self {
        case .refused(let sentence), .unavailable(let sentence): sentence
        case .undecided: "another login with its password or key took too long"
        case .held: "its password or key was refused, and the KDC is not asked again yet"
        }
    }
}
