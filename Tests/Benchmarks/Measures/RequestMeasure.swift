import Synchronization

/// CPU time per kept-alive 1 KiB GET: plain, and with rules and a known Digest space.
enum RequestMeasure {
    private static let connections = 64
    private static let warmup = 3000

    static func take(in setting: Setting) async throws(BenchError) -> [Finding] {
        var rounds = Rounds(in: setting)
        defer { rounds.stop() }
        try await rounds.add(setting.plainAttache, connections: connections, to: "/small", warmup: warmup)
        try await rounds.add(setting.answeringAttache, connections: connections, to: "/digest", warmup: warmup)
        if let haproxy = setting.plainHAProxy {
            try await rounds.add(haproxy, connections: connections, to: "/small", warmup: warmup)
        }
        let challenges = setting.origin.challenges.load(ordering: .relaxed)
        try await rounds.run(.milliseconds(setting.options.duration), per: .request)
        let met = setting.origin.challenges.load(ordering: .relaxed) - challenges
        let theirs = setting.hasHAProxy ? rounds.cost(2) / 1000 : nil
        return [
            Finding("get-cpu", "CPU per kept-alive 1 KiB GET", "µs", rounds.cost(0) / 1000, theirs),
            Finding("digest-cpu", "… with rules and a Digest answer", "µs", rounds.cost(1) / 1000, theirs),
            Finding(
                "digest-challenges", "… 401s met per request", "",
                Double(met) / Double(max(1, rounds.requests(1)))),
            Finding(
                "get-rate", "requests per second (load shares the machine)", "",
                rounds.rate(0), setting.hasHAProxy ? rounds.rate(2) : nil),
        ]
    }
}
