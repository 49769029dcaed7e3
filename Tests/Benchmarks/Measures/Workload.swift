/// What a kept-alive request asks for, and of whom.
enum Workload {
    /// 1 KiB through the bare relay.
    case plain
    /// 1 KiB from a Digest space whose password the proxy knows, past access rules.
    case digest

    /// The first word of the metric names.
    var name: String {
        switch self {
        case .plain: "get"
        case .digest: "digest"
        }
    }

    var title: String {
        switch self {
        case .plain: "1 KiB GET"
        case .digest: "GET with rules and a Digest answer"
        }
    }

    var path: String {
        switch self {
        case .plain: "/small"
        case .digest: "/digest"
        }
    }

    func attache(in setting: Setting) -> Contestant {
        switch self {
        case .plain: AttacheContestant.forward(setting.options.attache)
        case .digest: AttacheContestant.forward(setting.options.attache, .full(digestPort: setting.originPort))
        }
    }

    /// What `figure` says of Attaché with this workload and of HAProxy with the plain one, which is the measure of all.
    func compare(
        in setting: Setting, _ figure: (Contestant, _ path: String) async throws(BenchError) -> Double
    ) async throws(BenchError) -> (ours: Double, theirs: Double?) {
        let ours = try await figure(attache(in: setting), path)
        guard let haproxy = setting.plainHAProxy else { return (ours, nil) }
        return (ours, try await figure(haproxy, Workload.plain.path))
    }
}
