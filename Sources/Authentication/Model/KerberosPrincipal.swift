/// A Kerberos principal as which logins can be made. The owner of GSSAPI knows its type; here it is only
/// asked.
public protocol KerberosPrincipal: AnyObject, Sendable {
    /// Gets a ticket for the service, unless one is at hand: once for all who ask. May take as long as the service's
    /// `patience`.
    func prepare(for service: KerberosService) async throws(TicketError)

    /// A login that is not begun yet.
    ///
    /// - Parameter channel: the mark of the connection's TLS; nil without TLS.
    func login(at service: KerberosService, over channel: ChannelBinding?) -> any KerberosLogin

    /// Allows the KDC to be asked again after it refused the password or the key: it was set again, or the account unlocked.
    func forgetRefusal()

    /// The name of its KDC in accounts, such as `krb5:EXAMPLE.COM`; nil: none was asked.
    var kdc: String? { get }

    /// When its first ticket ends, in seconds since 1970; nil: there is none yet.
    var ticketEnd: Int? { get }
}

/// The service that a ticket is for, and the uses of the ticket.
public struct KerberosService: Sendable {
    /// As a rule writes it: `SERVICE/HOST`, `SERVICE/HOST@REALM` or `SERVICE@HOST`.
    public let name: String
    /// Whether the name that the DNS has for the host takes its place.
    public let canonicalises: Bool
    /// Whether the server may act in the principal's name elsewhere.
    public let delegates: Bool
    /// Milliseconds that a request waits for a KDC; nil: as long as it takes.
    public let patience: Int?
    /// See `LoginTerms`.
    public let admission: (@Sendable (_ kdc: String, _ limit: Int?) async throws(TicketError) -> KDCAdmission)?

    /// - Parameter host: that was asked for; whose `HTTP` service it is, unless the terms name another.
    public init(host: String, under terms: LoginTerms) {
        name = terms.servicePrincipal ?? "HTTP/\(host)"
        canonicalises = terms.canonicalises
        delegates = terms.delegates
        patience = terms.patience
        admission = terms.admission
    }
}

/// The permission to show a password or key to a KDC once. One that is dropped was not used.
public struct KDCAdmission: Sendable {
    /// Reports the KDC's verdict to the account; nil: it has accepted the password or key.
    public let report: @Sendable (TicketError?) -> Void
    /// A permission to renew the ticket that this one brings; nil while something is held against the password or key. It does
    /// not keep the credential alive.
    public let renewal: @Sendable () -> KDCAdmission?

    public init(
        report: @escaping @Sendable (TicketError?) -> Void, renewal: @escaping @Sendable () -> KDCAdmission?
    ) {
        self.report = report
        self.renewal = renewal
    }
}

/// The tokens of one login, as the side that begins it makes and reads them (RFC 4178 section 4).
public protocol KerberosLogin: AnyObject {
    /// The first token. May take as long as a KDC.
    func begin() async throws(TicketError) -> [UInt8]

    /// The result of the server's token. Does not wait.
    func answer(_ token: [UInt8]) -> KerberosStep

    /// Forgets the ticket if it is not a new one: the service may have another key by now.
    ///
    /// - Returns: whether another ticket could do better.
    func renounceTicket() -> Bool
}

/// The result of a token of the server.
public enum KerberosStep: Sendable, Equatable {
    /// The server wants this too.
    case `continue`([UInt8])
    /// The server has proved itself, and nothing is left to say.
    case established
    /// It proves nothing: the server is not the one that the ticket is for, or did not take it.
    case failed
    /// The server's clock differs from the one here by more than Kerberos puts up with: of the ticket nothing is said.
    case clockSkew
}

/// Why there is no ticket.
public enum TicketError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The KDC refused the password or the key: it is not asked again before that changes.
    case refused(String)
    /// Nothing was said about the password or the key. It may go well the next time.
    case unavailable(String)
    /// The KDC is not asked, since the account of the password or key has no room for another refusal, or waits for the next
    /// try.
    ///
    /// - Parameter nextTry: milliseconds since 1970; nil: when another request comes, or the value is set again.
    case held(nextTry: Int?)
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
