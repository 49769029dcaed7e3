import Authentication
import Bytes

/// The origin's login pages, as a rule with a form describes them, for one request. The side that requests pages
/// implements this.
public protocol LoginPages: AnyObject {
    /// Whether the page itself must be read, and so must come in a coding that can be undone.
    var readsPages: Bool { get }

    /// Whether the response could ask for a login, judged by its head.
    var mayBeLogin: Bool { get }

    /// Whether the response asks for a login; nil if it ended before that was known. If it does not, the part that was
    /// read is still passed on.
    func recognise() async -> Bool?

    /// The target of the client's request, if it may be repeated at any time.
    var safeTarget: [UInt8]? { get }

    /// Appends the client's own cookies to the session's.
    func appendClientCookies(besides session: SessionAuthenticator, at now: WallTime, into value: ByteBuffer)

    /// Stores the session cookies of the response and removes them from what the client gets; they identify our login.
    ///
    /// - Parameter keeps: whether the session is still valid.
    func takeCookies(for session: SessionAuthenticator, _ ticket: AuthorizationTicket, keeps: Bool)

    /// Whether a request of the proxy with these cookies is asked for a login; nil if that cannot be determined.
    func asks(at target: [UInt8], with jar: CookieJar) async -> Bool?

    /// Logs in, beginning with the response that asks for it.
    func logIn(with credential: Credential) async -> LoginOutcome
}

/// The result of a login by form.
public enum LoginOutcome {
    case loggedIn(CookieJar, landing: [UInt8]?)
    case refused
    case failed(FormLogin.Failure)
}
