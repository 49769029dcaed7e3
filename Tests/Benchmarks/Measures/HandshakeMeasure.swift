import Model
import TLS

/// The cost of a new connection with TLS: CPU time per request if every request has its own connection.
enum HandshakeMeasure {
    private static let connections = 16
    private static let warmup = 300

    /// Microseconds of CPU per request.
    private typealias Cost = (ours: Double, theirs: Double?)

    /// Measures handshakes between the contestant and the origin.
    static func takeOrigins(in setting: Setting) async throws(BenchError) -> [Finding] {
        let (options, secure) = (setting.options, try setting.secure())
        let root = secure.certificates.root
        let cost = { (ports: [TLSVersion: UInt16], version: TLSVersion, resumes: Bool) async throws(BenchError) in
            let port = ports[version] ?? 0
            return try await Self.cost(
                AttacheContestant.forward(options.attache, .originating(anchor: root)),
                HAProxyContestant.originating(options.haproxy, origin: port, anchor: root, resumes: resumes),
                origin: port, in: setting)
        }
        let plain = try await Self.cost(
            AttacheContestant.forward(options.attache),
            HAProxyContestant.forward(options.haproxy, origin: secure.origin.plain), origin: secure.origin.plain,
            in: setting)
        return try await findings("origin", "to the origin", plain: plain) {
            version, resumes async throws(BenchError) in
            try await cost(resumes ? secure.origin.resumed : secure.origin.full, version, resumes)
        }
    }

    /// Measures handshakes between the client and the contestant.
    static func takeClients(in setting: Setting) async throws(BenchError) -> [Finding] {
        let (options, secure) = (setting.options, try setting.secure())
        let plain = try await cost(
            AttacheContestant.forward(options.attache),
            HAProxyContestant.forward(options.haproxy, origin: setting.originPort), manner: .reconnects, in: setting)
        return try await findings("client", "of a client", plain: plain) { version, resumes async throws(BenchError) in
            try await cost(
                AttacheContestant.secureForward(options.attache, secure.certificates),
                HAProxyContestant.secureForward(options.haproxy, origin: setting.originPort, secure.certificates),
                security: try LoadSecurity(resumes: resumes, maximum: version), manner: .reconnects, in: setting)
        }
    }

    private static func cost(
        _ ours: Contestant, _ theirs: Contestant, origin: UInt16? = nil, security: LoadSecurity? = nil,
        manner: LoadGenerator.Manner = .keeps, in setting: Setting
    ) async throws(BenchError) -> Cost {
        var rounds = Rounds(in: setting)
        defer { rounds.stop() }
        for contestant in setting.hasHAProxy ? [ours, theirs] : [ours] {
            try await rounds.add(
                contestant, connections: connections, to: "/small", warmup: warmup, origin: origin, security: security,
                manner: manner)
        }
        try await rounds.run(.milliseconds(setting.options.duration), per: .request)
        return (rounds.cost(0) / 1000, setting.hasHAProxy ? rounds.cost(1) / 1000 : nil)
    }

    /// TLS 1.3 as it is spoken, and TLS 1.2 for resumption: that of TLS 1.3 agrees on new keys each time, which is most of
    /// what a handshake costs.
    private static func findings(
        _ side: String, _ words: String, plain: Cost,
        cost: (_ version: TLSVersion, _ resumes: Bool) async throws(BenchError) -> Cost
    ) async throws(BenchError) -> [Finding] {
        let (full, resumed) = (try await cost(.v13, false), try await cost(.v13, true))
        let (old, oldResumed) = (try await cost(.v12, false), try await cost(.v12, true))
        return [
            Finding(
                "\(side)-full-cpu", "CPU per full handshake \(words), with its request", "µs", full.ours, full.theirs),
            Finding("\(side)-resumed-cpu", "  the same, resumed", "µs", resumed.ours, resumed.theirs),
            Finding("\(side)-full12-cpu", "  the same by TLS 1.2", "µs", old.ours, old.theirs),
            Finding(
                "\(side)-resumed12-cpu", "  the same by TLS 1.2, resumed", "µs", oldResumed.ours, oldResumed.theirs),
            Finding(
                "\(side)-resumption", "  what TLS 1.2 adds, resumed", "µs", oldResumed.ours - plain.ours,
                old.ours - plain.ours, of: "full"),
        ]
    }
}
