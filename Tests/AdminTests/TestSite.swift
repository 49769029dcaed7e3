import Authentication
import Bytes
import Challenges
import Credentials
import Crypto
import HTTP
import IO
import Telemetry

@testable import Admin

let loopback = SocketAddress(IPAddress(v4: 0x7F00_0001), port: 3127)

/// Sources that say what a test wants them to.
func sources(_ readiness: AdminSources.Readiness = .ready) -> AdminSources {
    AdminSources(
        version: "1.2.3", readiness: { readiness },
        metrics: { "attache_requests_total 7\n\($0 == .openMetrics ? "# EOF\n" : "")" })
}

func site(_ readiness: AdminSources.Readiness = .ready, nonceLifetime: Milliseconds = .minutes(1)) throws -> AdminSite {
    AdminSite(sources: sources(readiness), practice: try PracticeOrigin(nonceLifetime: nonceLifetime))
}

func request(
    _ path: String, method: HTTP.Method = .get, authorization: [String] = [],
    authority: AdminRequest.NamedAuthority? = nil, host: String? = nil, isForwarded: Bool = false
) -> AdminRequest {
    AdminRequest(
        method: method, target: Array(path.utf8), path: Array(path.utf8), authority: authority, host: host,
        authorization: authorization.map { Array($0.utf8) }, isForwarded: isForwarded)
}

extension AdminResponse {
    func value(_ name: String) -> String? { fields.first { $0.name.description == name }?.value }
}

/// The dashboard's sources in a test.
func dashboardSources(
    _ access: DashboardAccess, challenges: [JournalEntry] = [], accounts: Accounts = Accounts()
) -> DashboardSources {
    let status = RunningStatus(
        program: (version: "1.2.3", process: 4711, started: 1_767_225_600_000),
        addresses: (listeners: ["127.0.0.1:3128"], admin: "127.0.0.1:3127"),
        rules: .init(
            path: "proxy.conf", loaded: 1_767_225_660_000, routes: 0, challenges: 2, credentials: 1, parents: 3),
        rejection: nil, store: nil, clients: 12)
    let state = ChallengeState(
        storage: StoredCredentials(), spaces: ProtectionSpaces(accounts: accounts), tokens: TokenStore(),
        report: { _ in })
    var sources = DashboardSources(
        access: access, state: state, status: { status }, load: { LoadFigures() }, challenges: { challenges })
    sources.credentials = { CredentialList(configured: [], stored: [], accounts: accounts.all, at: 0) }
    return sources
}

/// Servers' verdicts on credentials, as requests bring them.
struct PlayedVerdicts {
    let accounts: Accounts
    /// Milliseconds since 1970.
    static let start: WallTime = 1_767_225_600_000

    /// A request for that target has the server judge the credential.
    func judge(
        _ name: String, at server: String, _ verdict: Account.Verdict, target: String = "/", second: Int = 0,
        broughtBy owner: String? = nil
    ) {
        let credential = Credential(name: name, user: name, password: Secret("secret of \(name)"))
        let evidence = accounts.evidence(of: credential, at: server, broughtBy: owner)
        let now = Self.start + .seconds(second)
        guard
            case .send(let attempt) = evidence.admit(
                target.utf8.span, under: Evidence.RetryTerms(retry: [30_000]), now: now)
        else { return }
        attempt.settle(verdict, because: "was refused by \(server)", now: now)
    }
}
