/// What a kept-alive request asks for, and of whom.
enum Workload {
    /// 1 KiB through the bare relay.
    case plain
    /// 1 KiB from a Digest space whose password the proxy knows, past access rules.
    case digest
    /// 1 KiB from an origin that is spoken to by TLS.
    case secure

    /// The first word of the metric names.
    var name: String {
        switch self {
        case .plain: "get"
        case .digest: "digest"
        case .secure: "tls-get"
        }
    }

    var title: String {
        switch self {
        case .plain: "1 KiB GET"
        case .digest: "GET with rules and a Digest answer"
        case .secure: "GET, https to the origin"
        }
    }

    var path: String {
        switch self {
        case .plain, .secure: "/small"
        case .digest: "/digest"
        }
    }

    /// The port that is asked for.
    func origin(in setting: Setting) throws(BenchError) -> UInt16 {
        switch self {
        case .plain, .digest: setting.originPort
        case .secure: try setting.secure().origin.kept
        }
    }

    func attache(in setting: Setting) throws(BenchError) -> Contestant {
        switch self {
        case .plain: AttacheContestant.forward(setting.options.attache)
        case .digest: AttacheContestant.forward(setting.options.attache, .full(digestPort: setting.originPort))
        case .secure:
            AttacheContestant.forward(
                setting.options.attache, .originating(anchor: try setting.secure().certificates.root))
        }
    }

    /// HAProxy with what is the measure of this; nil where it is not installed.
    func haproxy(in setting: Setting) throws(BenchError) -> Contestant? {
        switch self {
        case .plain, .digest: return setting.plainHAProxy
        case .secure:
            guard setting.hasHAProxy else { return nil }
            let secure = try setting.secure()
            return HAProxyContestant.originating(
                setting.options.haproxy, origin: secure.origin.kept, anchor: secure.certificates.root)
        }
    }

    /// The path that HAProxy is asked for.
    var rivalPath: String { Workload.plain.path }

    /// What `figure` says of Attaché with this workload and of HAProxy with the one that is its measure.
    func compare(
        in setting: Setting,
        _ figure: (Contestant, _ path: String, _ origin: UInt16) async throws(BenchError) -> Double
    ) async throws(BenchError) -> (ours: Double, theirs: Double?) {
        let origin = try origin(in: setting)
        let ours = try await figure(attache(in: setting), path, origin)
        guard let haproxy = try haproxy(in: setting) else { return (ours, nil) }
        return (ours, try await figure(haproxy, rivalPath, origin))
    }
}
