/// What a new connection costs with TLS: CPU time per request when every request has a connection of its own.
enum HandshakeMeasure {
    private static let connections = 16
    private static let warmup = 300

    /// Between the contestant and the origin.
    static func takeOrigins(in setting: Setting) async throws(BenchError) -> [Finding] {
        let (binary, secure) = (setting.options.attache, try setting.secure())
        let root = secure.certificates.root
        let ours = AttacheContestant.forward(binary, .originating(anchor: root))
        let kinds: [(port: UInt16, ours: Contestant, resumes: Bool)] = [
            (secure.origin.full, ours, false), (secure.origin.resumed, ours, true),
            (secure.origin.plain, AttacheContestant.forward(binary), false),
        ]
        var costs: [(ours: Double, theirs: Double?)] = []
        for (port, contestant, resumes) in kinds {
            var rounds = Rounds(in: setting)
            defer { rounds.stop() }
            try await rounds.add(contestant, connections: connections, to: "/small", warmup: warmup, origin: port)
            if setting.hasHAProxy {
                let haproxy =
                    port == secure.origin.plain
                    ? HAProxyContestant.forward(setting.options.haproxy, origin: port)
                    : HAProxyContestant.originating(
                        setting.options.haproxy, origin: port, anchor: root, resumes: resumes)
                try await rounds.add(haproxy, connections: connections, to: "/small", warmup: warmup, origin: port)
            }
            try await rounds.run(.milliseconds(setting.options.duration), per: .request)
            costs.append((rounds.cost(0) / 1000, setting.hasHAProxy ? rounds.cost(1) / 1000 : nil))
        }
        return findings("origin", "to the origin", full: costs[0], resumed: costs[1], plain: costs[2])
    }

    /// Between the client and the contestant.
    static func takeClients(in setting: Setting) async throws(BenchError) -> [Finding] {
        let (options, secure) = (setting.options, try setting.secure())
        let secured = [
            AttacheContestant.secureForward(options.attache, secure.certificates),
            HAProxyContestant.secureForward(options.haproxy, origin: setting.originPort, secure.certificates),
        ]
        let plain = [
            AttacheContestant.forward(options.attache),
            HAProxyContestant.forward(options.haproxy, origin: setting.originPort),
        ]
        var costs: [(ours: Double, theirs: Double?)] = []
        for (contestants, security) in [(secured, secure.fresh), (secured, secure.resuming), (plain, nil)] {
            var rounds = Rounds(in: setting)
            defer { rounds.stop() }
            for contestant in contestants.prefix(setting.hasHAProxy ? 2 : 1) {
                try await rounds.add(
                    contestant, connections: connections, to: "/small", warmup: warmup, security: security,
                    manner: .reconnects)
            }
            try await rounds.run(.milliseconds(setting.options.duration), per: .request)
            costs.append((rounds.cost(0) / 1000, setting.hasHAProxy ? rounds.cost(1) / 1000 : nil))
        }
        return findings("client", "of a client", full: costs[0], resumed: costs[1], plain: costs[2])
    }

    private static func findings(
        _ side: String, _ words: String, full: (ours: Double, theirs: Double?),
        resumed: (ours: Double, theirs: Double?), plain: (ours: Double, theirs: Double?)
    ) -> [Finding] {
        [
            Finding(
                "\(side)-full-cpu", "CPU per full handshake \(words), with its request", "µs", full.ours, full.theirs),
            Finding("\(side)-resumed-cpu", "  the same, resumed", "µs", resumed.ours, resumed.theirs),
            Finding("\(side)-plain-cpu", "  the same, without TLS", "µs", plain.ours, plain.theirs),
            Finding(
                "\(side)-resumption", "  what TLS adds, resumed", "µs", resumed.ours - plain.ours,
                full.ours - plain.ours,
                of: "full"),
        ]
    }
}
