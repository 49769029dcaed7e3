import Authentication
import Bytes
import Challenges
import Credentials
import Crypto
import HTTP
import IO
import Model

/// Answers the requests of the dashboard, everything below `/dashboard`. Without sockets.
final class DashboardSite {
    let sources: DashboardSources
    let feed: DashboardFeed

    static let path: StaticString = "/dashboard"

    init(_ sources: DashboardSources, feed: DashboardFeed) {
        self.sources = sources
        self.feed = feed
    }

    static func contains(_ path: [UInt8]) -> Bool { path.span.isPath(below: Self.path) }

    /// - Parameter port: the listener's port; browsers send the cookies of one port to the others.
    func response(to request: AdminRequest, port: UInt16) async -> AdminResponse {
        var response = await answer(to: request, port: port)
        response.fields += Self.fields
        return response
    }

    /// The fields of every answer. The page loads and runs only its own files, no other page can show it in a frame,
    /// and it sends no referrer.
    private static let fields: [AdminResponse.Field] = [
        .init(
            name: "Content-Security-Policy",
            value: "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; "
                + "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'"),
        .init(name: "X-Content-Type-Options", value: "nosniff"), .init(name: "Referrer-Policy", value: "no-referrer"),
        .init(name: "X-Frame-Options", value: "DENY"),
        .init(name: "Cross-Origin-Opener-Policy", value: "same-origin"),
        .init(name: "Cross-Origin-Resource-Policy", value: "same-origin"),
    ]

    private func answer(to request: AdminRequest, port: UInt16) async -> AdminResponse {
        guard sources.security == nil || request.isSecure else {
            return .text(.forbidden, "the dashboard needs https://, at the same port")
        }
        let name = request.path.dropFirst(Self.path.utf8CodeUnitCount)
        guard name.first == .slash else {
            // Relative links of the page need the slash.
            return .text(
                .movedPermanently, "the dashboard is at /dashboard/", [.init(name: "Location", value: "/dashboard/")])
        }
        let resource = String(decoding: name.dropFirst(), as: UTF8.self)
        let isRead = request.method == .get || request.method == .head
        if let file = DashboardPage.file(named: resource) { return isRead ? file : .wrongMethod("GET, HEAD") }
        if resource == "session" { return await session(request, port: port) }
        guard let session = Self.session(of: request, port: port), sources.access.admits(session) else {
            return Self.nobody
        }
        if resource == "events" {
            guard request.method == .get else { return .wrongMethod("GET") }
            return events { [access = sources.access] in access.admits(session) }
        }
        guard let act = Act(rawValue: resource) else { return .text(.notFound, "there is no such page") }
        return request.method == .post ? await perform(act, for: request) : .wrongMethod("POST")
    }

    private func events(while isAdmitted: @escaping () -> Bool) -> AdminResponse {
        guard feed.hasRoom else {
            return .text(
                .serviceUnavailable,
                "\(feed.limit) pages of the dashboard are open, and there can be no more: close one")
        }
        var response = AdminResponse(status: .ok, contentType: "text/event-stream", body: "")
        response.events = AdminResponse.Events(feed: feed, isAdmitted: isAdmitted)
        return response
    }

    // MARK: - The session

    private func session(_ request: AdminRequest, port: UInt16) async -> AdminResponse {
        switch request.method {
        case .get:
            return .json(JSONText.document { $0.member("users", sources.users != nil) })
        case .post:
            if let password = Self.credentials(of: request, scheme: "basic") {
                return await login(password, of: request, port: port)
            }
            guard let token = Self.credentials(of: request, scheme: "bearer"),
                let session = sources.access.session(for: token)
            else {
                return .text(
                    .unauthorized,
                    "this link was used already, or it has expired: run 'attache admin token' for a new one")
            }
            return Self.begin(session, of: request, port: port)
        case .delete:
            if let session = Self.session(of: request, port: port) { sources.access.end(session) }
            return .text(.ok, "logged out", [Self.setCookie(nil, of: request, port: port)])
        default: return .wrongMethod("GET, POST, DELETE")
        }
    }

    /// Sends the two secrets of the session, each in its own way.
    private static func begin(
        _ session: DashboardAccess.Session, of request: AdminRequest, port: UInt16
    ) -> AdminResponse {
        .json(
            JSONText.document { $0.member("key", session.key) }, [setCookie(session.cookie, of: request, port: port)])
    }

    /// - Parameter credentials: user and password in the form of Basic (RFC 7617).
    private func login(_ credentials: String, of request: AdminRequest, port: UInt16) async -> AdminResponse {
        let parts = Base64.decode(credentials)?.split(separator: .colon, maxSplits: 1, omittingEmptySubsequences: false)
        guard let users = sources.users, let parts, parts.count == 2 else {
            return .text(.unauthorized, "this dashboard has no passwords: run 'attache admin token' for a link")
        }
        var bytes = Array(parts[1])
        let (user, password) = (String(decoding: parts[0], as: UTF8.self), Secret(wiping: &bytes))
        guard let client = request.client else { return .text(.unauthorized, "the client has left") }
        switch await users(user, password, client) {
        case .right:
            guard let session = sources.access.makeSession() else {
                return .text(.serviceUnavailable, "the system gave no random bytes")
            }
            return Self.begin(session, of: request, port: port)
        case .wrong, .abandoned: return .text(.unauthorized, "wrong user or password")
        case .busy: return .text(.serviceUnavailable, "too many logins at once: try again in a moment")
        }
    }

    /// The credentials in `Authorization`, which a page of another site cannot make a browser send.
    private static func credentials(of request: AdminRequest, scheme: String) -> String? {
        guard request.authorization.count == 1, let field = request.authorization.first else { return nil }
        let parts = field.span.text.split(separator: " ")
        guard parts.count == 2, parts[0].lowercased() == scheme else { return nil }
        return String(parts[1])
    }

    /// Whether the request comes from a page that has logged in.
    func hasSession(_ request: AdminRequest, port: UInt16) -> Bool {
        Self.session(of: request, port: port).map { sources.access.admits($0) } ?? false
    }

    private static func session(of request: AdminRequest, port: UInt16) -> DashboardAccess.Session? {
        guard let key = request.dashboardKey else { return nil }
        let name = Array("\(cookieName(port))=".utf8)
        for field in request.cookies {
            for pair in field.split(separator: UInt8(ascii: ";")) {
                let pair = pair.drop { $0 == .space }
                guard pair.starts(with: name) else { continue }
                return DashboardAccess.Session(
                    cookie: String(decoding: pair.dropFirst(name.count), as: UTF8.self), key: key.span.text)
            }
        }
        return nil
    }

    private static func cookieName(_ port: UInt16) -> String { "attache-\(port)" }

    /// - Parameter cookie: nil: the browser deletes it.
    private static func setCookie(
        _ cookie: String?, of request: AdminRequest, port: UInt16
    ) -> AdminResponse.Field {
        let end = (request.isSecure ? "; Secure" : "") + (cookie == nil ? "; Max-Age=0" : "")
        return .init(
            name: "Set-Cookie",
            value: "\(cookieName(port))=\(cookie ?? ""); Path=\(path); HttpOnly; SameSite=Strict\(end)")
    }

    private static var nobody: AdminResponse {
        .text(.unauthorized, "not logged in: run 'attache admin token' for a link that logs in")
    }

    // MARK: - Actions

    private func perform(_ act: Act, for request: AdminRequest) async -> AdminResponse {
        let query = ControlSite.Query(request.query)
        defer { feed.refresh() }
        switch act {
        case .retry:
            guard let name = query["credential"] else { return .text(.badRequest, "the credential is missing") }
            let names = sources.state.retry(for: .dashboard, at: SystemClock.wallTime) { version, _ in
                version.isNamed(name)
            }
            return names.isEmpty
                ? .text(.notFound, "that credential is no longer on hold")
                : .text(.ok, "the next request that needs the credential sends it again")
        case .answer:
            return await QuestionForm.put(query, secret: request.body, to: sources.state, by: .dashboard)
        case .forget: return await AnswerTable.forget(query, in: sources.state, by: .dashboard)
        case .add: return await add(query, secret: request.body)
        case .look, .accept:
            // The dashboard makes the proxy connect only to servers that its clients have used.
            guard let host = query["host"], let port = query["port"].flatMap({ UInt16($0) }),
                sources.challenges().contains(where: { $0.key.space.isOfCertificate(of: host, port: port) })
            else { return .text(.notFound, "no certificate of that server needed a decision") }
            if act == .accept { return accept(query, host, port) }
            sources.certificates?.look(at: host, port: port)
            return .text(.ok, "asking the server for its certificates")
        }
    }

    /// Adds the lines of one challenge. The page sends those that it shows: no others are added.
    private func add(_ query: ControlSite.Query, secret: [UInt8]) async -> AdminResponse {
        var secret = secret
        let value = Secret(wiping: &secret)
        guard let space = query.space, let scheme = query["scheme"], let shown = query["lines"] else {
            return .text(.badRequest, "the challenge, or the lines, are missing")
        }
        let entry = sources.challenges().first { $0.key.space == space && $0.key.scheme == scheme }
        guard let entry, let suggestion = SuggestedLines(entry) else {
            return .text(.notFound, "that challenge needs no lines any more")
        }
        guard shown == entry.suggestion else {
            return .text(.conflict, "nothing was written: the lines have changed in the meantime, look at them again")
        }
        switch await sources.addRules?(suggestion, query["user"] ?? "", value) {
        case nil: return .text(.conflict, "nothing was written: this proxy does not write its rule file")
        case .done(let sentence)?: return .text(.ok, sentence)
        case .refused(let reason)?: return .text(.conflict, "nothing was written: \(reason)")
        }
    }

    private func accept(_ query: ControlSite.Query, _ host: String, _ port: UInt16) -> AdminResponse {
        guard let pin = query["pin"], let day = query["until"].flatMap(Day.init) else {
            return .text(.badRequest, "the key, or the last day, is missing")
        }
        switch sources.certificates?.accept(pin, of: host, port: port, until: day) {
        case nil: return .text(.conflict, "nothing was stored: there is no store")
        case .done(let sentence)?: return .text(.ok, sentence)
        case .refused(let reason)?: return .text(.conflict, "nothing was stored: \(reason)")
        }
    }

    /// An action of the dashboard, by its path below that of the page.
    fileprivate enum Act: String {
        /// Allows a refused credential to be sent once more.
        case retry = "credentials/retry"
        /// Answers a question of a rule with `ask`; the request's body is the password.
        case answer = "questions/answer"
        /// Revokes an operator's answer.
        case forget = "answers/forget"
        /// Adds suggested lines to the rule file; the request's body is the password or token.
        case add = "rules/add"
        /// Asks a server for its certificates.
        case look = "trust/look"
        /// Trusts the key of a server until a day.
        case accept = "trust/accept"
    }
}

extension ProtectionSpace {
    fileprivate func isOfCertificate(of host: String, port: UInt16) -> Bool {
        authenticationMethod == .serverTrust && self.host == host && self.port == port
    }
}
