/// CPU time per GB of 100 MiB bodies: through CONNECT, and as plain HTTP.
enum BodyMeasure {
    private static let connections = 2
    /// 100 MiB bodies in one run.
    private static let bodies = 6

    static func take(in setting: Setting) async throws(BenchError) -> [Finding] {
        let (attache, haproxy) = (setting.options.attache, setting.options.haproxy)
        var contestants = [AttacheContestant.tunnel(attache), AttacheContestant.forward(attache)]
        if setting.hasHAProxy {
            contestants += [
                HAProxyContestant.relay(haproxy, origin: setting.originPort),
                HAProxyContestant.forward(haproxy, origin: setting.originPort),
                HAProxyContestant.forward(haproxy, origin: setting.originPort, splices: true),
            ]
        }
        var rounds = Rounds(in: setting)
        defer { rounds.stop() }
        for contestant in contestants {
            try await rounds.add(contestant, connections: connections, to: "/large", warmup: connections)
        }
        // A nanosecond per byte is a second per GB.
        try await rounds.run(.requests(bodies), per: .byte)
        let costs = contestants.indices.map(rounds.cost)
        let theirs = setting.hasHAProxy ? (costs[2], costs[3], costs[4]) : nil
        return [
            Finding("connect-cpu", "CPU per GB through CONNECT (HAProxy: tcp, spliced)", "s", costs[0], theirs?.0),
            Finding("body-cpu", "CPU per GB of plain 100 MiB bodies", "s", costs[1], theirs?.1),
            Finding("body-cpu-spliced", "… beside HAProxy with splice", "s", costs[1], theirs?.2),
        ]
    }
}
