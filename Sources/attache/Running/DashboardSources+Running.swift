import Admin
import Authentication
import Challenges
import Credentials
import Proxy
import Telemetry
import Upstream

extension DashboardSources {
    /// Those of this process.
    init(
        _ access: DashboardAccess, server: ProxyServer, shared: SharedState,
        status: @escaping @Sendable () -> RunningStatus
    ) {
        let parked = shared.spaces.parked
        self.init(
            access: access, status: status, load: { LoadFigures(of: server) },
            challenges: { shared.challenges.journal.entries }, parked: { parked.terms },
            retry: { fits in
                let lifted = parked.retry(where: fits)
                for entry in lifted {
                    shared.audit.note(
                        AuditEvent(.credentialLifted, by: .dashboard, entry.space, credential: entry.version.name))
                }
                return lifted
            })
    }
}

extension LoadFigures {
    fileprivate init(of server: ProxyServer) {
        self.init()
        let sum = { (counters: [Counter]) in
            server.metrics.reduce(0) { sum, metrics in counters.reduce(sum) { $0 + metrics.value(of: $1) } }
        }
        failed = sum([.responses5xx, .responsesNone])
        requests = failed + sum([.responses1xx, .responses2xx, .responses3xx, .responses4xx])
        bytesIn = sum([.bytesIn])
        bytesOut = sum([.bytesOut])
        answered = sum([
            .answeredBasic, .answeredDigest, .answeredNTLM, .answeredNegotiate, .answeredBearer, .answeredForm, .signed,
            .placed, .answeredClientCertificate,
        ])
        unanswered = server.metrics.reduce(0) { $0 + $1.unansweredCount }
        durations = server.metrics.map(\.durationCounts).reduce(into: []) { sum, counts in
            if sum.isEmpty { sum = counts } else { for place in sum.indices { sum[place] += counts[place] } }
        }
        clients = server.openClients
    }
}
