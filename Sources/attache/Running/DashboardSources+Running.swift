import Admin
import Challenges
import Proxy
import Telemetry
import Upstream

extension DashboardSources {
    /// Creates the sources of this process.
    init(
        _ access: DashboardAccess, proxy: ProxyServer, shared: SharedState,
        status: @escaping @Sendable () -> RunningStatus
    ) {
        self.init(
            access: access, state: shared.challenges, status: status, load: { LoadFigures(of: proxy) },
            challenges: { shared.challenges.challenges })
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
        durations = server.metrics.map(\.durationCounts).reduce(into: []) { sum, counts in
            if sum.isEmpty { sum = counts } else { for place in sum.indices { sum[place] += counts[place] } }
        }
        clients = server.openClients
    }
}
