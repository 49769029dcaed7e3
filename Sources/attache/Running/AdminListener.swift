import Admin
import Bytes
import Challenges
import Credentials
import Crypto
import IO
import Proxy
import Rules
import Synchronization
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
    private let token: MetricsToken?

    /// The limit of a handshake.
    private static let handshakeLimit: Milliseconds = 10_000
    /// The problems with files that were reported already.
    private var reported: Set<String> = []

    init(
        _ setup: Setup, proxy: ProxyServer, shared: SharedState, _ status: StatusSource
    ) throws(StartError) {
        guard let wanted = setup.admin, let loop = proxy.loops.first else {
            (server, address, login, identity, users, token) = (nil, nil, nil, nil, nil, nil)
            return
        }
        var sources = AdminSources(
            version: ProgramVersion.text, via: .ours,
            readiness: {
                if proxy.isDraining { return .notReady(reason: "the proxy is stopping") }
                return status.degradation.map { .degraded(reason: $0) } ?? .ready
            },
            metrics: { status.metrics(shared, as: $0) })
        let access = DashboardAccess()
        var dashboard = DashboardSources(
            access: access, state: shared.challenges, status: { status.status(admin: wanted) },
            load: { LoadFigures(of: proxy) }, challenges: { shared.challenges.challenges })
        dashboard.certificates = RunningCertificates(
            shared, on: loop, hasStore: { status.hasStore }, judging: { status.judging })
        let rules = RunningRules(path: status.path, audit: shared.audit, reloads: status.reloads)
        dashboard.addRules = { await rules.add($0, user: $1, secret: $2) }
        dashboard.credentials = { status.credentials() }
        dashboard.expiries = { status.ends }
        dashboard.dated = { shared.datedUses.list }
        dashboard.requests = shared.recentRequests
        identity = try Self.identity(setup.rules.configuration)
        users = try Self.users(setup.rules.configuration)
        let token = MetricsToken(setup.rules.configuration)
        self.token = token
        if let token { sources.metricsToken = { token.value } }
        if let identity {
            dashboard.security = { await identity.accept($0, after: $1, within: Self.handshakeLimit) }
        }
        if let users {
            dashboard.users = { await users.authenticate(user: $0, password: $1, for: $2) }
        }
        do throws(IOError) {
            try Listener.probe(wanted)
            let server = try AdminServer(
                address: wanted, on: loop, sources: sources, dashboard: dashboard,
                connectionLimit: proxy.descriptors.adminConnections)
            address = server.address
            login = DashboardLogin(address: server.address, access: access, isSecure: identity != nil)
            self.server = LoopBound(server, to: loop)
        } catch { throw StartError("\(error)") }
        shared.ownListeners.add([address].compactMap(\.self), as: .admin)
        refresh()
    }

    /// Reads changed files again. Blocks.
    func refresh() {
        for problem in identity?.refresh() ?? [] { report("\(problem)") }
        for problem in users?.refresh() ?? [] { report("\(problem)") }
        if let problem = token?.refresh() { report("\(problem)") }
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

    /// The token that readers of the metrics must send: one line of a file, which is read again when it changes. Until
    /// the file can be used, the metrics are refused.
    final class MetricsToken: Sendable {
        private enum Problem: String, Error, CustomStringConvertible {
            case empty = "the token is empty"
            case manyWords = "the token must be one word"

            var description: String { rawValue }
        }

        private let path: String
        private let file = Mutex<FileBacked<Secret>?>(nil)

        private static let limit = 4096

        /// Nil if the rules name no file.
        init?(_ configuration: Configuration) {
            guard let path = configuration.adminLogin.metricsToken else { return nil }
            self.path = path
        }

        var value: Secret? { file.withLock { $0 }?.value }

        /// Reads the file if it has changed. Blocks.
        /// - Returns: why it cannot be used. A token that was read before stays valid.
        func refresh() -> FileProblem? {
            if let known = file.withLock({ $0 }) { return known.refresh() }
            do throws(FileProblem) {
                let made = try FileBacked([path], limit: Self.limit) { contents in
                    var token = contents.first?.withBytes { $0.array } ?? []
                    while token.last == UInt8(ascii: "\n") || token.last == UInt8(ascii: "\r") { token.removeLast() }
                    if token.isEmpty { throw Problem.empty }
                    if token.contains(where: { $0 <= 0x20 || $0 == 0x7F }) { throw Problem.manyWords }
                    return Secret(wiping: &token)
                }
                file.withLock { $0 = made }
                return nil
            } catch { return error }
        }
    }
}

extension LoadFigures {
    fileprivate init(of server: ProxyServer) {
        self.init()
        let sum = { (counters: [Metrics.Counter]) in
            server.metrics.reduce(0) { sum, metrics in counters.reduce(sum) { $0 + metrics.value(of: $1) } }
        }
        failed = sum([.responses5xx, .responsesNone])
        requests = failed + sum([.responses1xx, .responses2xx, .responses3xx, .responses4xx])
        bytesIn = sum([.bytesIn])
        bytesOut = sum([.bytesOut])
        answered = server.metrics.reduce(0) { $1.answersByScheme.reduce($0) { $0 + $1.count } }
        unanswered = server.metrics.reduce(0) { $0 + $1.unansweredCount }
        durations = DurationHistogram.Durations(sumOf: server.metrics.map(\.requestDurations)).counts
        clients = server.openClients
    }
}
