import Authentication
import Bytes

/// The origin's login pages, as a rule with a form describes them, for one request. Implemented by the side that reads
/// and asks for pages.
public protocol LoginPages: AnyObject {
    /// Whether the page itself has to be read, and so must come in a coding that can be undone.
    var readsPages: Bool { get }

    /// Whether the response could ask for a login, as far as its head tells.
    var mayBeLogin: Bool { get }

    /// Whether the response asks for a login; nil where it ended before that could be told. The part that is read of it is
    /// still passed on, should it not.
    func recognise() async -> Bool?

    /// The target of the client's request, if that is one that may be sent at any time.
    var safeTarget: [UInt8]? { get }

    /// Appends the client's own cookies to the session's.
    ///
    /// - Parameter now: milliseconds since 1970.
    func appendClientCookies(besides session: SessionAuthenticator, at now: Int, into value: ByteBuffer)

    /// Keeps the session's cookies that the response sets, and keeps them from the client: they are who we are.
    ///
    /// - Parameter keeps: whether the session is still good.
    func takeCookies(for session: SessionAuthenticator, _ ticket: AuthorizationTicket, keeps: Bool)

    /// Whether a request of ours with these cookies is asked for a login; nil when that cannot be said.
    func asks(at target: [UInt8], with jar: CookieJar) async -> Bool?

    /// Logs in, from the response that asks for it.
    func logIn(with credential: Credential) async -> LoginOutcome
}

/// The outcome of a login by form.
public enum LoginOutcome {
    case loggedIn(CookieJar, landing: [UInt8]?)
    case refused
    case failed(FormLoginError)
}
