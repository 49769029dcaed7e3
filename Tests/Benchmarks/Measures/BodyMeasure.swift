/// CPU time per GB of 100 MiB bodies.
enum BodyMeasure {
    private static let connections = 2
    /// 100 MiB bodies in one run.
    private static let bodies = 6

    static func takeTunnels(in setting: Setting) async throws(BenchError) -> [Finding] {
        let costs = try await costs(
            of: AttacheContestant.tunnel(setting.options.attache),
            beside: [HAProxyContestant.relay(setting.options.haproxy, origin: setting.originPort)], in: setting)
        return [
            Finding(
                "connect-cpu", "CPU per GB through CONNECT (HAProxy: spliced tcp)", "s", costs.attache, costs.others[0])
        ]
    }

    static func takeBodies(in setting: Setting) async throws(BenchError) -> [Finding] {
        let (haproxy, origin) = (setting.options.haproxy, setting.originPort)
        let costs = try await costs(
            of: AttacheContestant.forward(setting.options.attache),
            beside: [
                HAProxyContestant.forward(haproxy, origin: origin),
                HAProxyContestant.forward(haproxy, origin: origin, splices: true),
            ], in: setting)
        return [
            Finding("body-cpu", "CPU per GB of plain 100 MiB bodies", "s", costs.attache, costs.others[0]),
            Finding("body-cpu-spliced", "  beside HAProxy with splice", "s", costs.attache, costs.others[1]),
        ]
    }

    /// The seconds per GB of each; nothing for the others where there is no HAProxy.
    private static func costs(
        of attache: Contestant, beside others: [Contestant], in setting: Setting
    ) async throws(BenchError) -> (attache: Double, others: [Double?]) {
        var rounds = Rounds(in: setting)
        defer { rounds.stop() }
        let contestants = setting.hasHAProxy ? [attache] + others : [attache]
        for contestant in contestants {
            try await rounds.add(contestant, connections: connections, to: "/large", warmup: connections)
        }
        // A nanosecond per byte is a second per GB.
        try await rounds.run(.requests(bodies), per: .byte)
        let besides = others.indices.map { setting.hasHAProxy ? rounds.cost($0 + 1) : nil }
        return (rounds.cost(0), besides)
    }
}
