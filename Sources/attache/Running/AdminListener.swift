import Admin
import IO
import Proxy
import Upstream

/// The administrator's listener of this process, and its dashboard. It lives on the first loop, and as long as the process.
final class AdminListener {
    /// Nil where the rule file wants none.
    let server: LoopBound<AdminServer>?
    let address: SocketAddress?
    let login: DashboardLogin?

    init(
        _ setup: Setup, proxy: ProxyServer, shared: SharedState, _ status: StatusSource
    ) throws(StartError) {
        guard let wanted = setup.admin, let loop = proxy.loops.first else {
            (server, address, login) = (nil, nil, nil)
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
        dashboard.expiries = { status.expiries.list }
        do throws(IOError) {
            try Listener.probe(wanted)
            let server = try AdminServer(
                address: wanted, on: loop, sources: sources, dashboard: dashboard,
                connectionLimit: proxy.descriptors.adminConnections)
            address = server.address
            login = DashboardLogin(at: server.address, access)
            self.server = LoopBound(server, to: loop)
        } catch { throw StartError("\(error)") }
        shared.ownListeners.add([address].compactMap(\.self), as: .admin)
    }
}
