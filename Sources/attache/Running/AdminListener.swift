import Admin
import Credentials
import Crypto
import IO
import Proxy
import Rules
import Telemetry
import Upstream

/// The admin listener of this process, with its dashboard. It runs on the first loop, as long as the process.
final class AdminListener {
    /// The server; nil if the rule file sets none.
    let server: LoopBound<AdminServer>?
    let address: SocketAddress?
    let login: DashboardLogin?
    private let identity: ListenerIdentity?
    private let users: UsersFile?

    /// The limit of a handshake in milliseconds.
    private static let handshakeLimit = 10_000
    /// The problems with files that were reported already.
    private var reported: Set<String> = []

    init(
        _ setup: Setup, proxy: ProxyServer, shared: SharedState, _ status: StatusSource
    ) throws(StartError) {
        guard let wanted = setup.admin, let loop = proxy.loops.first else {
            (server, address, login, identity, users) = (nil, nil, nil, nil, nil)
            return
        }
        let sources = AdminSources(
            version: status.version, via: .ours,
            readiness: {
                if proxy.isDraining { return .notReady(reason: "the proxy is stopping") }
                return status.degradation.map { .degraded(reason: $0) } ?? .ready
            },
            metrics: { status.metrics(shared, as: $0) })
        let access = DashboardAccess()
        var dashboard = DashboardSources(access, proxy: proxy, shared: shared) { status.status(admin: wanted) }
        dashboard.certificates = RunningCertificates(
            shared, on: loop, hasStore: { status.hasStore }, judging: { status.judging })
        dashboard.rules = RunningRules(path: status.path, audit: shared.audit, reloads: status.reloads)
        dashboard.credentials = { status.credentials() }
        dashboard.expiries = { status.ends }
        dashboard.dated = { shared.datedUses.list }
        dashboard.requests = shared.recentRequests
        identity = try Self.identity(setup.rules.configuration)
        users = try Self.users(setup.rules.configuration)
        dashboard.security = identity.map { identity in
            AdminSecurity { await identity.accept($0, after: $1, within: Self.handshakeLimit) }
        }
        dashboard.users = users.map { users in
            AdminSecurity.Users { await users.verdict(user: $0, password: $1, for: $2) }
        }
        do throws(IOError) {
            try Listener.probe(wanted)
            let server = try AdminServer(
                address: wanted, on: loop, sources: sources, dashboard: dashboard,
                connectionLimit: proxy.descriptors.adminConnections)
            address = server.address
            login = DashboardLogin(at: server.address, access, isSecure: identity != nil)
            self.server = LoopBound(server, to: loop)
        } catch { throw StartError("\(error)") }
        shared.ownListeners.add([address].compactMap(\.self), as: .admin)
        refresh()
    }

    /// Reads changed files again. Blocks.
    func refresh() {
        for problem in identity?.refresh() ?? [] { report("\(problem)") }
        for problem in users?.refresh() ?? [] { report("\(problem)") }
    }

    private func report(_ problem: String) {
        if reported.insert(problem).inserted { Console.error(problem) }
    }

    private static func identity(_ configuration: Configuration) throws(StartError) -> ListenerIdentity? {
        do throws(FileProblem) {
            return try configuration.adminLogin.tls.map { tls throws(FileProblem) in try ListenerIdentity(tls) }
        } catch { throw StartError("the admin listener cannot speak TLS: \(error)") }
    }

    private static func users(_ configuration: Configuration) throws(StartError) -> UsersFile? {
        do throws(CryptoError) {
            return try configuration.adminLogin.users.map { path throws(CryptoError) in
                try UsersFile(path: path, realm: configuration.clients.realm)
            }
        } catch { throw StartError("\(error)") }
    }
}

extension UsersFile {
    fileprivate func verdict(user: String, password: Secret, for client: WaitingClient) async
        -> AdminSecurity.Users.Verdict
    {
        switch await authenticate(user: user, password: password, for: client) {
        case .right: .right
        case .wrong, .abandoned: .wrong
        case .busy: .busy
        }
    }
}
