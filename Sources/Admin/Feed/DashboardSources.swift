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
    public var rules: (any RuleDesk)?
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
}

/// The parts of the page, in its own format.
extension DashboardSources {
    /// The limit of entries of a list for a page. Of credentials, those in the worst state.
    private static let listLimit = 1000

    func writeStatus(to json: inout JSONText) {
        let waiting = RunningStatus.Waiting(
            unanswered: challenges().count(where: \.isOpen), credentials: credentials(),
            questions: state.questions.open.count)
        let status = status()
        json.object { status.write(to: &$0, waiting) }
    }

    func writeParents(to json: inout JSONText) {
        json.list(status().parents) { $1.write(to: &$0) }
    }

    func writeQuestions(to json: inout JSONText) {
        json.list(state.questions.open) { $0.question($1) }
    }

    func writeAnswers(to json: inout JSONText) {
        let today = Day(of: SystemClock.wallTime)
        json.list(state.standingAnswers(on: today)) { $0.answer($1) }
    }

    func writeChallenges(to json: inout JSONText) {
        json.list(challenges(), limit: Self.listLimit) { $0.challenge($1) }
    }

    func writeCredentials(to json: inout JSONText) {
        json.list(credentials().entries, limit: Self.listLimit) { $0.credential($1) }
    }

    func writeCertificates(to json: inout JSONText) {
        json.array { json in for look in certificates?.looks ?? [] { look.write(to: &json) } }
    }

    func writeExpiries(to json: inout JSONText) {
        json.list(expiries(), limit: Self.listLimit) { $1.write(to: &$0) }
    }

    /// Writes the weak logins and old TLS still in use, with their clients.
    func writeMigration(to json: inout JSONText) {
        json.list(dated()) { $1.write(to: &$0) }
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
