import Admin
import Authentication
import Bytes
import Challenges
import Credentials
import Glibc
import IO
import Model
import Proxy
import Rules
import Synchronization
import Telemetry
import Upstream

/// The state of this process, for the admin listener and the control socket.
final class StatusSource: Sendable {
    let reloads = Reload.Requests()
    private let expiries = Expiries()
    let path: String
    private let started = SystemClock.wallTime
    private let setup: Mutex<Setup>
    private let server: ProxyServer
    private let store: RunningStore
    private let shared: SharedState

    init(_ path: String, _ setup: Setup, server: ProxyServer, store: RunningStore, shared: SharedState) {
        self.shared = shared
        self.path = path
        self.setup = Mutex(setup)
        self.server = server
        self.store = store
        shared.challenges.onRemedy { [weak self] in self?.remedy(of: $0) ?? CredentialRemedy(of: $0.name) }
    }

    private func remedy(of version: CredentialVersion) -> CredentialRemedy {
        let configured = setup.withLock { $0.rules.configuration.credentials }
        if let credential = configured.first(where: { version.isNamed($0.name) }) {
            return CredentialRemedy(of: version.name, configured: credential.content)
        }
        let stored = store.places(opens: false).first { $0.version == version }
        return stored.map { CredentialRemedy(of: version.name, user: $0.user, for: $0.space) }
            ?? CredentialRemedy(of: version.name)
    }

    /// Sets the current setup.
    func take(_ setup: Setup) {
        self.setup.withLock { $0 = setup }
        expiries.expire()
    }

    /// Updates the state. Call it about once a second. Blocks.
    func refresh(_ setup: Setup, _ shared: SharedState, _ identities: ListenerCertificates) {
        shared.spaces.accounts.noteUse(at: SystemClock.wallTime)
        if expiries.isDue(with: shared.tlsPolicyEpoch) { expiries.gather(setup, shared.storage, identities) }
    }

    /// Whether stored credentials outlive the process.
    var hasStore: Bool { store.isOpen }

    /// The current rules, and the sources of trust.
    var judging: (rules: RuleSet, trust: TrustSources) { setup.withLock { ($0.rules, $0.trust) } }

    /// The names that new rules and credentials must not have.
    var names: JournalEntry.SuggestedNames {
        let configuration = setup.withLock { $0.rules.configuration }
        return JournalEntry.SuggestedNames(
            rules: Set(configuration.challenges.compactMap(\.rule.name)),
            credentials: Set(configuration.credentials.map(\.name)))
    }

    /// - Parameter admin: the address of the admin listener.
    func status(admin: SocketAddress?) -> RunningStatus {
        let (loaded, rejection) = reloads.standing
        let rules = setup.withLock { setup in
            let rules = setup.rules.configuration
            return RunningStatus.Rules(
                path: path, loaded: loaded, routes: rules.routes.count, challenges: rules.challenges.count,
                credentials: rules.credentials.count, parents: rules.parents.count)
        }
        var status = RunningStatus(
            program: (ProgramVersion.text, Int(getpid()), started),
            addresses: (server.places, admin.map { "\($0)" }), rules: rules,
            rejection: rejection,
            store: store.place.map { (place: "\($0)", problem: store.problem.map { "\($0)" }) },
            clients: server.openClients)
        status.parents = parents
        status.expiries = ends
        status.dated = shared.datedUses.list
        return status
    }

    /// The items with a known end, the soonest first.
    var ends: [Expiry] { setup.withLock { expiries.list(with: $0, shared.storage, shared.challenges.tokens) } }

    /// The credentials of the current rules and of the store, with the servers' verdicts.
    ///
    /// - Parameter opens: whether stored certificates and tokens are decrypted, for their last day.
    func credentials(opens: Bool = false) -> CredentialList {
        CredentialList(
            configured: setup.withLock { $0.rules.configuration.configuredCredentials },
            stored: store.places(opens: opens), accounts: shared.spaces.accounts.all, at: SystemClock.wallTime)
    }

    /// The limit of parents that PAC files have named. The rule file's own are all listed.
    private static let foundParents = 100

    /// The parents of the current rules, and those that their PAC files have named.
    private var parents: [ParentState] {
        let groups = setup.withLock { $0.rules.configuration.parents }
        let names = groups.flatMap { group in group.servers.map { ParentName(group.name, of: $0) } }
        return shared.parents.states(
            of: names, foundBy: Set(groups.filter { $0.automatic != nil }.map(\.name)),
            limit: names.count + Self.foundParents)
    }

    /// The parts of the program that do not work although it serves; nil if all work.
    var degradation: String? {
        let reasons = [
            store.problem.map { "\($0)" },
            reloads.standing.rejection.map { "a newer rule file was rejected: \($0.reason)" },
        ]
        let sentences = reasons.compactMap(\.self)
        return sentences.isEmpty ? nil : sentences.joined(separator: "; and ")
    }

    func metrics(_ shared: SharedState, as format: MetricsPage.Format) -> String {
        var page = MetricsPage(server.metrics)
        page.set(version: ProgramVersion.text)
        page.set(ProcessFigures.current)
        page.set(loopLag: server.loops.map { $0.lag.durations })
        page.set(shared.replayDisk)
        let credentials = credentials()
        page.set(.parkedCredentials, credentials.heldCount)
        page.set(
            .credentials,
            Account.State.allCases.map { state in
                (state.rawValue, credentials.states.first { $0.state == state }?.count ?? 0)
            })
        page.set(shared.challenges.questions.figures)
        if let followed = store.lastFollowed {
            page.set(.storeUp, store.problem == nil ? 1 : 0)
            page.set(.storeFollowedTimestampSeconds, Double(followed.milliseconds) / 1000)
        }
        reloads.setFigures(on: &page)
        page.set(ends)
        page.set(parents)
        page.set(.reportLinesDropped, Console.linesDropped)
        page.set(.helperRuns, HelperRuns.Result.allCases.map { ($0.rawValue, HelperRuns.all.count(of: $0)) })
        return page.text(as: format)
    }
}
