import Authentication
import Bytes
import Challenges
import Crypto
import HTTP
import IO
import Model
import Rules
import Telemetry
import Upstream

/// The login form of a rule, for one request. It tells the origin's login page from the page that was requested, and
/// fills it in.
final class LoginForms: LoginPages {
    private let form: Configuration.LoginForm
    private let downstream: Downstream
    private unowned let exchange: Exchange
    private let destination: Destination
    /// The part that was read of the response being judged, and its head.
    private var reader: PageReader?
    private var pageHead: LoginPageHead?
    /// Whether the request was sent with the cookies of one of the proxy's sessions.
    private var hasSession = false

    /// The decoded bytes of a page that are searched for a rule's text, before any of them is passed on.
    private static let recognitionLimit = 128 * 1024
    /// The size in bytes of a page whose forms are found in less than a millisecond.
    private static let loopLimit = 16 * 1024
    private static let holdingLimit = LoginExchange.pageLimit + 128 * 1024

    private var holdingRoom: ReplayRoom {
        ReplayRoom(forPagesOf: Self.holdingLimit, exchange.policy.limits, in: downstream.shared.spool)
    }

    /// Returns the form for this client at this origin; nil if no rule has one. A failing initializer would allocate
    /// all the same.
    static func of(downstream: Downstream, exchange: Exchange, destination: Destination) -> LoginForms? {
        let rules = exchange.policy.rules
        guard rules.speaks(of: .forms) else { return nil }
        let space = ProtectionSpace(
            origin: destination.origin.authority, realm: nil, authenticationMethod: .htmlForm)
        let client = downstream.identity(in: exchange)
        guard let form = rules.decide(ChallengeQuery(space, client: client)).terms?.form else { return nil }
        return LoginForms(form, downstream: downstream, exchange: exchange, destination: destination)
    }

    private init(_ form: Configuration.LoginForm, downstream: Downstream, exchange: Exchange, destination: Destination)
    {
        self.form = form
        self.downstream = downstream
        self.exchange = exchange
        self.destination = destination
    }

    /// Whether the page itself must be read, and so must come in a coding that can be undone.
    var readsPages: Bool { form.readsPages }

    /// Whether the response could ask for a login, judged by its head alone.
    var mayBeLogin: Bool { currentHead.recognition(by: form) != .other }

    func recognise() async -> Bool? {
        let pageHead = currentHead
        self.pageHead = pageHead
        reader = nil
        switch pageHead.recognition(by: form) {
        case .other: return false
        case .recognised: return true
        case .dependsOnText:
            reader = PageReader(exchange.upstream, holding: holdingRoom, policy: exchange.policy)
            let form = form
            guard let reader else { return false }
            return try? await reader.read(upTo: Self.recognitionLimit) { page, known in
                pageHead.holds(page.readable, from: known, by: form)
            }
        }
    }

    private var currentHead: LoginPageHead {
        let target = exchange.target
        return LoginPageHead(
            of: exchange.upstream, at: target.readable.array, on: destination.origin.authority)
    }

    /// Appends the client's own cookies to those of the session.
    func appendClientCookies(besides session: SessionAuthenticator, at now: WallTime, into value: ByteBuffer) {
        hasSession = true
        let (fields, head, target) = (exchange.request.fields, exchange.headBytes, exchange.target)
        for field in fields where field.known == .cookie && !field.isNominated {
            session.append(
                client: head.readable.extracting(field.value), target: target.readable, at: now, into: value)
        }
    }

    /// Stores the session cookies of this response and removes them from what the client gets; they identify our login.
    ///
    /// - Parameter keeps: whether the session is still valid.
    func takeCookies(for session: SessionAuthenticator, _ ticket: AuthorizationTicket, keeps: Bool) {
        let (upstream, target) = (exchange.upstream, exchange.target)
        let fields = upstream.head.fields
        guard fields.present.contains(.setCookie) else { return }
        let now = downstream.loop.wallTime
        upstream.withHeadBytes { bytes in
            for index in fields.indices where fields[index].known == .setCookie {
                let value = bytes.extracting(fields[index].value)
                guard session.owns(value) else { continue }
                if keeps { session.take(value, at: target.readable, ticket: ticket, now: now) }
                fields.withhold(at: index)
            }
        }
    }

    /// The target of the client's request, if a GET; other requests are not repeated.
    var safeTarget: [UInt8]? {
        let target = exchange.target
        return exchange.request.method == .get ? target.readable.array : nil
    }

    /// Whether a request of the proxy with these cookies is asked for a login; nil if that cannot be determined.
    func asks(at target: [UInt8], with jar: CookieJar) async -> Bool? {
        let wire = LoginExchange(downstream: downstream, exchange: exchange, destination: destination, form: form)
        defer { wire.end() }
        guard let page = try? await wire.ask(.get, at: target, with: jar) else { return nil }
        return page.isRecognised ? true : page.status < 400 ? false : nil
    }

    // MARK: - The login

    /// Logs in, from the response that asks for it.
    func logIn(with credential: Credential) async -> LoginOutcome {
        let boundary = (try? RandomBytes.make(16)).map { Hex.encode($0) }
        var login = FormLogin(
            form.login, to: destination.origin.authority, with: credential, boundary: boundary)
        let wire = LoginExchange(downstream: downstream, exchange: exchange, destination: destination, form: form)
        defer { wire.end() }
        do throws(FormLogin.Failure) {
            var step = try await begin(&login)
            while true {
                switch step {
                case .get(let target):
                    step = await read(try await wire.ask(.get, at: target, with: login.jar), for: &login)
                case .post(let target, let content, let from):
                    let page = try await wire.ask(.post(content, page: from), at: target, with: login.jar)
                    step = await read(page, for: &login)
                case .loggedIn(let jar, let landing): return .loggedIn(jar, landing: landing)
                case .refused: return .refused
                case .failed(let error): return .failed(error)
                }
            }
        } catch { return .failed(error) }
    }

    /// Begins the login. A response to a request with cookies, the client's or the proxy's, may belong to another
    /// session than the one to begin. Its page is then requested again.
    private func begin(_ login: inout FormLogin) async throws(FormLogin.Failure) -> FormLogin.Step {
        let (upstream, target) = (exchange.upstream, exchange.target)
        let (request, pageHead) = (exchange.request, pageHead ?? currentHead)
        let isRead = request.method == .get || request.method == .head
        let hadCookies =
            hasSession || request.fields.present.contains(.cookie) || exchange.credentials.challenges?.cookies != nil
        if hadCookies || request.method == .head {
            if isRead { return login.begin(at: target.readable.array) }
            if let location = pageHead.location,
                case .here(let place)? = LoginReference(
                    location, from: target.readable.array, on: destination.origin.authority)
            {
                return login.begin(at: place)
            }
            return login.beginAtAction()
        }
        if reader == nil, pageHead.mayBePage, pageHead.location == nil {
            reader = PageReader(upstream, holding: holdingRoom, policy: exchange.policy)
        }
        do throws(ExchangeFailure) {
            _ = try await reader?.read(upTo: LoginExchange.pageLimit) { _, _ in false }
        } catch { throw .unreachable("the login page broke off") }
        let page = pageHead.page(reader, of: upstream, as: form)
        return await read(page, for: &login, beginningAt: target.readable.array)
    }

    /// Has the login read a page; a large one on another thread, while the loop serves other clients.
    ///
    /// - Parameter target: the target of the page, if the login begins with it.
    private func read(
        _ page: LoginPage, for login: inout FormLogin, beginningAt target: [UInt8]? = nil
    ) async -> FormLogin.Step {
        let (former, now) = (login, downstream.loop.wallTime)
        let look = { @Sendable () -> (FormLogin, FormLogin.Step) in
            var login = former
            let step = target.map { login.begin(with: page, at: $0, now: now) } ?? login.received(page, now: now)
            return (login, step)
        }
        let isLarge = page.content?.count ?? 0 > Self.loopLimit
        let (next, step) = isLarge ? await BlockingPool.shared.run(look) : look()
        login = next
        return step
    }
}
