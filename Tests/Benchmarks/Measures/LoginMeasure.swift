import Synchronization

/// NTLM by a rule, for clients that make a new connection for each request: CPU time, and logins per request.
enum LoginMeasure {
    private static let connections = 16
    private static let warmup = 500

    static func take(in setting: Setting) async throws(BenchError) -> [Finding] {
        var rounds = Rounds(in: setting)
        defer { rounds.stop() }
        try await rounds.add(
            Workload.ntlm.attache(in: setting), connections: connections, to: Workload.ntlm.path, warmup: warmup,
            manner: .reconnects)
        let before = setting.origin.logins.load(ordering: .relaxed)
        try await rounds.run(.milliseconds(setting.options.duration), per: .request)
        let logins = setting.origin.logins.load(ordering: .relaxed) - before
        return [
            Finding("ntlm-new-cpu", "CPU per GET with NTLM on a new client connection", "µs", rounds.cost(0) / 1000),
            Finding(
                "ntlm-new-logins", "  logins per request", "", Double(logins) / Double(max(1, rounds.requests(0)))),
        ]
    }
}
