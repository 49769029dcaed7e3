import Bytes
import Challenges
import Credentials
import Crypto
import IO
import Model
import Telemetry
import Transport

/// The facts and actions that the dashboard gets from the rest of the program. Actions and `load` are called on the
/// listener's loop and must not block. The other facts are called on a thread that may block.
public struct DashboardSources: Sendable {
    /// A handshake. The bytes in the buffer were already read from the stream, and are the client's first. The result
    /// says whether TLS was established.
    public typealias Handshake = @Sendable (ByteStream, ByteBuffer) async -> Bool
    public typealias Login =
        @Sendable (_ user: String, _ password: Secret, _ client: WaitingClient) async -> PasswordVerdict

    /// Adds lines to the rule file, if the whole is correct then, and reloads it. The secret goes into a file of its own,
    /// which the lines then name.
    public typealias RuleAddition =
        @Sendable (_ suggestion: SuggestedLines, _ user: String, _ secret: Secret) async -> DeskAnswer

    public let access: DashboardAccess
    public let state: ChallengeState
    public let status: @Sendable () -> RunningStatus
    public let load: @Sendable () -> LoadFigures
    public let challenges: @Sendable () -> [JournalEntry]
    /// Starts TLS as the server of the listener; nil: the page is used without TLS.
    public var security: Handshake?
    /// Checks a user's password; nil if no user has one.
    public var users: Login?
    /// Nil: no certificate is looked at.
    public var certificates: (any CertificateLook.Desk)?
    /// Nil: the rule file is not written.
    public var addRules: RuleAddition?
    public var credentials: @Sendable () -> CredentialList = { CredentialList() }
    public var expiries: @Sendable () -> [Expiry] = { [] }
    public var dated: @Sendable () -> [WeakUse] = { [] }
    public var requests = RecentRequests()

    public init(
        access: DashboardAccess, state: ChallengeState, status: @escaping @Sendable () -> RunningStatus,
        load: @escaping @Sendable () -> LoadFigures, challenges: @escaping @Sendable () -> [JournalEntry]
    ) {
        self.access = access
        self.state = state
        self.status = status
        self.load = load
        self.challenges = challenges
    }

    /// Writes a part of the page, in its own format.
    typealias Writer = @Sendable (DashboardSources, inout JSONText) -> Void

    /// The parts of the page. Those of migration are the weak logins and old TLS still in use, with their clients.
    static let parts: [(name: StaticString, write: Writer)] = [
        ("status", { $0.writeStatus(to: &$1) }),
        ("questions", { $1.list($0.state.questions.open) { $0.question($1) } }),
        ("answers", { $1.list($0.state.standingAnswers(on: Day(of: SystemClock.wallTime))) { $0.answer($1) } }),
        ("challenges", { $1.list($0.challenges(), limit: listLimit) { $0.challenge($1) } }),
        ("credentials", { $1.list($0.credentials().entries, limit: listLimit) { $0.credential($1) } }),
        ("parents", { $1.list($0.status().parents) { $1.write(to: &$0) } }),
        ("certificates", { sources, json in json.array { sources.writeCertificates(to: &$0) } }),
        ("expiries", { $1.list($0.expiries(), limit: listLimit) { $1.write(to: &$0) } }),
        ("migration", { $1.list($0.dated()) { $1.write(to: &$0) } }),
    ]

    /// The limit of entries of a list for a page. Of credentials, those in the worst state.
    private static let listLimit = 1000

    private func writeStatus(to json: inout JSONText) {
        let waiting = RunningStatus.Waiting(
            unanswered: challenges().count(where: \.isOpen), credentials: credentials(),
            questions: state.questions.open.count)
        let status = status()
        json.object { status.write(to: &$0, waiting) }
    }

    private func writeCertificates(to json: inout JSONText) {
        for look in certificates?.looks ?? [] { look.write(to: &json) }
    }
}

extension JSONText {
    /// Returns an object with the first entries of a list, and the length of the list.
    fileprivate mutating func list<Entry>(
        _ entries: [Entry], limit: Int = .max, _ write: (inout JSONText, Entry) -> Void
    ) {
        object { json in
            json.member("total", entries.count)
            json.array("entries") { json in for entry in entries.prefix(limit) { write(&json, entry) } }
        }
    }
}
