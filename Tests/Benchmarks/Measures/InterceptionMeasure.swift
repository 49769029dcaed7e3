import Glibc

/// The cost of intercepting a tunnel: TLS to the client and TLS to the origin.
enum InterceptionMeasure {
    private static let connections = 64
    private static let warmup = 1500
    private static let idle = 1000

    /// CPU time per kept-alive request, beside our own plain forwarding and squid's ssl-bump.
    static func take(in setting: Setting) async throws(BenchError) -> [Finding] {
        let secure = try setting.secure()
        var rounds = Rounds(in: setting)
        defer {
            rounds.stop()
            SquidContestant.cleanUp()
        }
        try await rounds.add(
            AttacheContestant.intercept(setting.options.attache, secure.certificates), connections: connections,
            to: "/small", warmup: warmup, origin: secure.origin.kept, security: secure.fresh)
        try await rounds.add(
            AttacheContestant.forward(setting.options.attache), connections: connections, to: "/small", warmup: warmup)
        let squid = SquidContestant.bumping(secure.certificates, in: setting)
        if let squid {
            try await rounds.add(
                squid, connections: connections, to: "/small", warmup: warmup, origin: secure.origin.kept,
                security: secure.fresh)
        }
        try await rounds.run(.milliseconds(setting.options.duration), per: .request)
        let ours = rounds.cost(0) / 1000
        var findings = [
            Finding(
                "intercept-cpu", "CPU per 1 KiB GET in an intercepted tunnel", "µs", ours, rounds.cost(1) / 1000,
                of: "plain")
        ]
        if squid != nil {
            findings.append(
                Finding(
                    "intercept-squid-cpu", "  beside squid's ssl-bump", "µs", ours, rounds.cost(2) / 1000, of: "squid"))
        }
        return findings
    }

    /// Resident memory of an intercepted connection that has made one request and waits, its origin's included.
    static func takeMemory(in setting: Setting) async throws(BenchError) -> [Finding] {
        let secure = try setting.secure()
        let running = try setting.start(AttacheContestant.intercept(setting.options.attache, secure.certificates))
        defer { running.stop() }
        let load = { (connections: Int) async throws(BenchError) in
            try await setting.load(
                connections, through: running, to: "/small", origin: secure.origin.kept, security: secure.fresh)
        }
        let first = try await load(1)
        defer { first.close() }
        try await first.runEach()
        let empty = running.residentMemory
        let generator = try await load(idle)
        defer { generator.close() }
        try await generator.runEach()
        let full = running.settledMemory
        guard empty > 0, full > 0 else { throw .contestant("\(running.name) ended early") }
        return [
            Finding("intercept-memory", "memory per intercepted connection", "KiB", Double(full - empty) / Double(idle))
        ]
    }
}
