/// CPU time per GB of 100 MiB bodies.
enum BodyMeasure {
    private static let connections = 2
    /// 100 MiB bodies in one run.
    private static let bodies = 6

    static func takeTunnels(in setting: Setting) async throws(BenchError) -> [Finding] {
        let costs = try await costs(
            of: AttacheContestant.tunnel(setting.options.attache),
            beside: [
                HAProxyContestant.relay(setting.options.haproxy, origin: setting.originPort),
                FloorContestant.relay(setting.options.floor, origin: setting.originPort),
            ], in: setting)
        return [
            Finding(
                "connect-cpu", "CPU per GB through CONNECT (HAProxy: spliced tcp)", "s", costs.attache, costs.others[0]
            ),
            Finding(
                "connect-floor-cpu", "  beside a program that only splices", "s", costs.attache, costs.others[1],
                of: "floor"),
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

    /// The seconds per GB of each; nothing for HAProxy where it is not installed.
    private static func costs(
        of attache: Contestant, beside others: [Contestant], in setting: Setting
    ) async throws(BenchError) -> (attache: Double, others: [Double?]) {
        var rounds = Rounds(in: setting)
        defer { rounds.stop() }
        let present = others.filter { setting.hasHAProxy || !$0.name.hasPrefix("haproxy") }
        for contestant in [attache] + present {
            try await rounds.add(contestant, connections: connections, to: "/large", warmup: connections)
        }
        // A nanosecond per byte is a second per GB.
        try await rounds.run(.requests(bodies), per: .byte)
        let besides = others.map { other in
            present.firstIndex { $0.name == other.name }.map { rounds.cost($0 + 1) }
        }
        return (rounds.cost(0), besides)
    }
}
