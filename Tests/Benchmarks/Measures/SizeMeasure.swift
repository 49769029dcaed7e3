import Model
import Synchronization

/// Bodies between the small and the huge: CPU time per request, and the connections and logins that a request costs. A
/// connection that is lost with each response shows at neither 1 KiB nor 100 MiB, nor does it show there at which size bodies
/// begin to go through the kernel.
enum SizeMeasure {
    private static let connections = 32
    /// Requests over which connections and logins are counted.
    private static let counted = 4000

    static func take(in setting: Setting) async throws(BenchError) -> [Finding] {
        let (haproxy, origin) = (setting.options.haproxy, setting.originPort)
        let spliced = HAProxyContestant.forward(haproxy, origin: origin, splices: true)
        let plain = AttacheContestant.forward(setting.options.attache)
        let login = AttacheContestant.forward(setting.options.attache, .answering(.ntlm, origin: origin))
        var findings: [Finding] = []
        for size in OriginContent.Size.allCases {
            let cost = try await cost(of: size.path, beside: spliced, in: setting)
            let title = "CPU per GET of \(size.words) (HAProxy: spliced)"
            findings.append(Finding("body-\(size)-cpu", title, "µs", cost.ours, cost.theirs))
            guard size == .k64 || size == .m1 else { continue }
            let count = try await count(plain, size.path, in: setting)
            findings.append(
                Finding("body-\(size)-connections", "  connections to the origin per request", "", count.connections))
        }
        let loginCount = try await count(login, "/ntlm-medium", in: setting)
        return findings + [
            Finding("ntlm-64k-connections", "connections per 64 KiB GET with NTLM", "", loginCount.connections),
            Finding("ntlm-64k-logins", "  logins per request", "", loginCount.logins),
        ]
    }

    /// Microseconds of CPU per request.
    private static func cost(
        of path: String, beside haproxy: Contestant, in setting: Setting
    ) async throws(BenchError) -> (ours: Double, theirs: Double?) {
        var rounds = Rounds(in: setting)
        defer { rounds.stop() }
        let ours = AttacheContestant.forward(setting.options.attache)
        for contestant in setting.hasHAProxy ? [ours, haproxy] : [ours] {
            try await rounds.add(contestant, connections: connections, to: path, warmup: 10 * connections)
        }
        try await rounds.run(.milliseconds(setting.options.duration), per: .request)
        return (rounds.cost(0) / 1000, setting.hasHAProxy ? rounds.cost(1) / 1000 : nil)
    }

    /// Measures the cost of a request at the origin once every client has made one.
    private static func count(
        _ contestant: Contestant, _ path: String, in setting: Setting
    ) async throws(BenchError) -> (connections: Double, logins: Double) {
        let running = try setting.start(contestant)
        defer { running.stop() }
        let generator = try await setting.load(connections, through: running, to: path)
        defer { generator.close() }
        try await generator.runEach()
        let origin = setting.origin
        let before = (origin.connections.load(ordering: .relaxed), origin.logins.load(ordering: .relaxed))
        let load = try await generator.run(.requests(counted))
        let requests = Double(max(1, load.requests))
        return (
            Double(origin.connections.load(ordering: .relaxed) - before.0) / requests,
            Double(origin.logins.load(ordering: .relaxed) - before.1) / requests
        )
    }
}
