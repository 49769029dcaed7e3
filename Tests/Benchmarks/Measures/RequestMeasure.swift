import Synchronization

/// CPU time per request.
enum RequestMeasure {
    private static let connections = 64
    private static let warmup = 3000

    static func take(_ workload: Workload, in setting: Setting) async throws(BenchError) -> [Finding] {
        var rounds = Rounds(in: setting)
        defer { rounds.stop() }
        let origin = try workload.origin(in: setting)
        try await rounds.add(
            workload.attache(in: setting), connections: connections, to: workload.path, warmup: warmup, origin: origin,
            manner: workload.manner)
        if let haproxy = try workload.haproxy(in: setting) {
            try await rounds.add(
                haproxy, connections: connections, to: workload.rivalPath, warmup: warmup, origin: origin,
                manner: workload.manner)
        }
        if case .digest = workload {
            try await rounds.add(
                AttacheContestant.forward(setting.options.attache), connections: connections, to: Workload.plain.path,
                warmup: warmup, origin: origin)
        }
        let challenges = setting.origin.challenges.load(ordering: .relaxed)
        try await rounds.run(.milliseconds(setting.options.duration), per: .request)
        let met = setting.origin.challenges.load(ordering: .relaxed) - challenges
        let isCompared = setting.hasHAProxy
        var findings = [
            Finding(
                "\(workload.name)-cpu", "CPU per \(workload.title)", "µs", rounds.cost(0) / 1000,
                isCompared ? rounds.cost(1) / 1000 : nil)
        ]
        if case .digest = workload {
            let each = Double(met) / Double(max(1, rounds.requests(0)))
            findings.append(
                Finding(
                    "digest-plain-cpu", "  beside our own plain GET", "µs", rounds.cost(0) / 1000,
                    rounds.cost(isCompared ? 2 : 1) / 1000, of: "plain"))
            findings.append(Finding("digest-challenges", "  401s met per request", "", each))
        }
        return findings
    }

    /// Measures the cost of the log, and of the metrics, which are always counted: beside our own plain GET without a
    /// log.
    static func takeLogged(in setting: Setting) async throws(BenchError) -> [Finding] {
        var rounds = Rounds(in: setting)
        defer { rounds.stop() }
        for workload in [Workload.logged, .plain] {
            try await rounds.add(
                workload.attache(in: setting), connections: connections, to: workload.path, warmup: warmup)
        }
        try await rounds.run(.milliseconds(setting.options.duration), per: .request)
        return [
            Finding(
                "logged-get-cpu", "CPU per \(Workload.logged.title)", "µs", rounds.cost(0) / 1000,
                rounds.cost(1) / 1000, of: "no log")
        ]
    }
}
