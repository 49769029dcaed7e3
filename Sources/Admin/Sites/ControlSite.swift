import Authentication
import Bytes
import Challenges
import Credentials
import HTTP
import IO
import Model
import Telemetry

/// Answers the requests of the control socket, which come from commands of the same user. Without sockets.
struct ControlSite: AdminResponder {
    let sources: ControlSources
    /// The user id of the client, from the system.
    let user: UInt32
    var via: Via? { nil }

    /// The client is the proxy's own user, or root.
    func acceptsBody(of request: AdminRequest, at local: SocketAddress?) -> Bool { true }

    func response(to request: AdminRequest, at local: SocketAddress?, now: LoopInstant) async -> AdminResponse {
        let resource = String(decoding: request.path, as: UTF8.self)
        let (isGet, isPost) = (request.method == .get, request.method == .post)
        switch resource {
        case "/challenges", "/learned", "/credentials", "/questions", "/answers", "/space", "/status", "/rules",
            "/metrics":
            guard isGet else { return .wrongMethod("GET") }
        case "/credentials/retry", "/questions/answer", "/answers/forget", "/admin/token":
            guard isPost else { return .wrongMethod("POST") }
        case "/reload":
            guard isGet || isPost else { return .wrongMethod("GET, POST") }
        default: break
        }
        let query = ControlSite.Query(request.query)
        switch resource {
        case "/challenges": return challenges(query)
        case "/learned": return learned(query)
        case "/credentials": return credentials(query)
        case "/credentials/retry":
            let choice = CredentialChoice(origin: query.space?.origin, kdc: query["kdc"], name: query["name"])
            let names = sources.state.retry(
                for: .command(user: user), at: SystemClock.wallTime, where: choice.fits)
            return AdminResponse(status: .ok, body: names.map { $0 + "\n" }.joined())
        case "/questions": return questions(query)
        case "/questions/answer":
            return await QuestionForm.put(
                query, secret: request.body, to: sources.state, by: .command(user: user))
        case "/answers": return answers(query)
        case "/answers/forget":
            return await AnswerTable.forget(query, in: sources.state, by: .command(user: user))
        case "/space": return space(query)
        case "/status": return status(query)
        case "/rules": return .text(.ok, sources.status().rules.path)
        case "/metrics": return .metrics(sources.metrics, as: MetricsPage.Format(accepting: request.accept))
        case "/reload" where isPost:
            return .text(
                .ok, "\(sources.reloads.request(by: .command(user: user), retrying: query["retry"] == "yes"))")
        case "/reload": return reload(query["number"].flatMap { Int($0) } ?? 0)
        case "/admin/token":
            return sources.dashboardLink().map { .text(.ok, $0) }
                ?? .text(.notFound, "there is no dashboard: the rule file it runs with has no 'admin' line")
        default:
            return .text(
                .notFound,
                "there is no such page; there are /challenges, /learned, /credentials, /credentials/retry, /questions, /questions/answer, "
                    + "/answers, /answers/forget, /space, /status, /rules, /metrics, /reload and /admin/token")
        }
    }

    private func space(_ query: ControlSite.Query) -> AdminResponse {
        guard let space = query.space else { return .text(.badRequest, "host, port and protocol are missing") }
        let now = SystemClock.wallTime
        let facts = sources.state.facts(of: space, at: (query["target"] ?? "/").utf8.span, now: now)
        return query["format"] == "text"
            ? AdminResponse(status: .ok, body: facts.lines(at: now)) : .json(facts.json(at: now))
    }

    private func status(_ query: ControlSite.Query) -> AdminResponse {
        let status = sources.status()
        let waiting = RunningStatus.Waiting(
            unanswered: sources.challenges().count(where: \.isOpen), credentials: sources.credentials(false),
            questions: sources.state.questions.open.count)
        return query["format"] == "text"
            ? AdminResponse(status: .ok, body: status.lines(waiting)) : .json(status.json(waiting))
    }

    private func reload(_ number: Int) -> AdminResponse {
        switch sources.reloads.outcome(of: number) {
        case nil: .text(.ok, "pending")
        case .reloaded(let lifted)?: .text(.ok, lifted.map { "reloaded \($0)" } ?? "reloaded")
        case .rejected(let reason)?: .text(.ok, reason)
        }
    }

    private func questions(_ query: ControlSite.Query) -> AdminResponse {
        let (questions, now) = (sources.state.questions.open, SystemClock.wallTime)
        if query["format"] == "text" {
            return AdminResponse(status: .ok, body: QuestionForm.Table.text(questions, at: now))
        }
        return .json(JSONText.document(.questions, questions) { $0.question($1) })
    }

    private func answers(_ query: ControlSite.Query) -> AdminResponse {
        let answers = sources.state.standingAnswers(on: Day(of: SystemClock.wallTime))
        if query["format"] == "text" { return AdminResponse(status: .ok, body: AnswerTable.text(answers)) }
        return .json(JSONText.document(.answers, answers) { $0.answer($1) })
    }

    private func learned(_ query: ControlSite.Query) -> AdminResponse {
        let entries = sources.challenges().filter { query.isAbout($0.key.space.origin) }
        return AdminResponse(status: .ok, body: LearnedRules.text(entries, besides: sources.names()))
    }

    private func challenges(_ query: ControlSite.Query) -> AdminResponse {
        let entries = sources.challenges().filter { entry in
            query.isAbout(entry.key.space.origin) && (query["unanswered"] == nil || entry.isOpen)
        }
        if query["format"] == "text" { return AdminResponse(status: .ok, body: ChallengeTable.text(entries)) }
        return .json(JSONText.document(.challenges, entries) { $0.challenge($1) })
    }

    private func credentials(_ query: ControlSite.Query) -> AdminResponse {
        switch query["format"] {
        case "accounts":
            AdminResponse(
                status: .ok, body: sources.state.spaces.accounts.all.map { AccountLine.text($0) + "\n" }.joined())
        case "text": AdminResponse(status: .ok, body: CredentialTable.text(sources.credentials(true)))
        default: .json(CredentialTable.json(sources.credentials(true)))
        }
    }

    /// The query of a request's target.
    struct Query {
        private var values: [String: String] = [:]

        /// The limit of members; further ones are ignored.
        private static let limit = 16

        init(_ query: [UInt8]) {
            for member in query.split(separator: UInt8(ascii: "&")).prefix(Self.limit) {
                let parts = member.split(separator: .equals, maxSplits: 1, omittingEmptySubsequences: false)
                guard let name = parts.first.flatMap({ PercentEncoding.decode(Array($0).span) }),
                    let value = PercentEncoding.decode(Array(parts.count > 1 ? parts[1] : []).span)
                else { continue }
                values[name.span.text] = value.span.text
            }
        }

        subscript(name: String) -> String? { values[name] }

        /// The space in the query; with the method `default` if none is given. Nil without a server.
        var space: ProtectionSpace? {
            guard let host = self["host"], let port = self["port"].flatMap({ UInt16($0) }),
                let kind = self["protocol"].flatMap(NetworkProtocol.init(rawValue:))
            else { return nil }
            return ProtectionSpace(
                origin: Origin(host: host, port: port, protocol: kind, isProxy: self["proxy"] == "yes"),
                realm: self["realm"],
                authenticationMethod: self["method"].flatMap(AuthenticationMethod.init(rawValue:)) ?? .default)
        }

        /// Whether the query concerns that server, or all.
        func isAbout(_ origin: Origin) -> Bool {
            guard let host = self["host"] else { return true }
            return origin.host == HostSpelling.canonical(host) && self["port"] == "\(origin.port)"
                && self["protocol"] == origin.protocol.rawValue
        }
    }
}

extension AdminResponse {
    static func json(_ text: String, _ fields: [Field] = []) -> AdminResponse {
        AdminResponse(status: .ok, contentType: "application/json", fields: fields, body: text + "\n")
    }

    static func wrongMethod(_ right: String) -> AdminResponse {
        .text(.methodNotAllowed, "only \(right) is supported here", [.init(name: "Allow", value: right)])
    }
}

/// The facts and actions that the control socket gets from the rest of the program. Called on its loop; they must not
/// block.
public struct ControlSources: Sendable {
    public let state: ChallengeState
    public let challenges: @Sendable () -> [JournalEntry]
    public let status: @Sendable () -> RunningStatus
    /// Gets the names of the rule file's rules and credentials.
    public var names: @Sendable () -> JournalEntry.SuggestedNames = { JournalEntry.SuggestedNames() }
    public let reloads: any ReloadControl
    /// Gets the list of credentials. The argument says whether to decrypt stored certificates and tokens for their
    /// expiry.
    public var credentials: @Sendable (Bool) -> CredentialList = { _ in CredentialList() }
    /// A link that logs in to the dashboard, once; nil if none.
    public var dashboardLink: @Sendable () -> String? = { nil }
    public var metrics: @Sendable (MetricsPage.Format) -> String = { _ in "" }

    public init(
        state: ChallengeState, challenges: @escaping @Sendable () -> [JournalEntry],
        status: @escaping @Sendable () -> RunningStatus, reloads: any ReloadControl
    ) {
        self.state = state
        self.challenges = challenges
        self.status = status
        self.reloads = reloads
    }
}
