import Model

/// The resource and the origin of a request.
enum Workload {
    /// 1 KiB through the bare relay.
    case plain
    /// Like `plain`, with a line of JSON in the log for each request.
    case logged
    /// 1 KiB from a Digest space whose password the proxy knows, past access rules.
    case digest
    /// 1 KiB from an origin that is spoken to by TLS.
    case secure
    /// 1 KiB from an origin that is spoken to by HTTP/2 and TLS.
    case multiplexed
    /// 1 KiB from a Basic space whose password the proxy knows.
    case basic
    /// 1 KiB from a Bearer space whose OAuth token the proxy holds.
    case bearer
    /// 1 KiB on connections that are logged in by NTLM.
    case ntlm
    /// 1 KiB after a 401 for each request: a Digest space whose password is not sent unasked.
    case challenged
    /// Like `challenged`, but with a known space behind this number of rules that no index serves.
    case ruled(Int)
    /// Like `plain`, with this number of credentials whose placeholders are searched for in each head.
    case placeholders(Int)
    /// Like `plain`, from a client that makes a new connection for each request.
    case newClient
    /// Like `plain`, from an origin that ends the connection with each response.
    case newOrigin

    /// The first word of the metric names.
    var name: String {
        switch self {
        case .plain: "get"
        case .logged: "logged-get"
        case .digest: "digest"
        case .secure: "tls-get"
        case .multiplexed: "http2-origin"
        case .basic: "basic"
        case .bearer: "bearer"
        case .ntlm: "ntlm"
        case .challenged: "challenged"
        case .ruled(let count): "rules-\(count)"
        case .placeholders(let count): "placeholders-\(count)"
        case .newClient: "new-client"
        case .newOrigin: "new-origin"
        }
    }

    var title: String {
        switch self {
        case .plain: "1 KiB GET"
        case .logged: "GET with a line in the log"
        case .digest: "GET with rules and a Digest answer"
        case .secure: "GET, https to the origin"
        case .multiplexed: "GET, HTTP/2 and TLS to the origin"
        case .basic: "GET with a known Basic answer"
        case .bearer: "GET with a known Bearer token"
        case .ntlm: "GET on a connection with NTLM"
        case .challenged: "GET with a 401 and a Digest answer"
        case .ruled(let count): "GET behind \(count) patterns"
        case .placeholders(let count): "GET beside \(count) placeholders"
        case .newClient: "GET on a new client connection"
        case .newOrigin: "GET on a new connection to the origin"
        }
    }

    var path: String {
        switch self {
        case .plain, .logged, .secure, .multiplexed, .placeholders, .newClient, .newOrigin: "/small"
        case .digest, .challenged, .ruled: "/digest"
        case .basic: "/basic"
        case .bearer: "/bearer"
        case .ntlm: "/ntlm"
        }
    }

    var manner: LoadGenerator.Manner {
        switch self {
        case .newClient: .reconnects
        default: .keeps
        }
    }

    /// The port that is asked for.
    func origin(in setting: Setting) throws(BenchError) -> UInt16 {
        switch self {
        case .secure: try setting.secure().origin.kept
        case .multiplexed: try setting.secure().origin.streams
        case .newOrigin: try setting.secure().origin.plain
        default: setting.originPort
        }
    }

    func attache(in setting: Setting) throws(BenchError) -> Contestant {
        AttacheContestant.forward(setting.options.attache, try rules(in: setting))
    }

    private func rules(in setting: Setting) throws(BenchError) -> AttacheContestant.Rules {
        let port = setting.originPort
        return switch self {
        case .plain, .newClient, .newOrigin: .plain
        case .logged: .logged
        case .digest: .full(digestPort: port)
        case .secure, .multiplexed: .originating(anchor: try setting.secure().certificates.root)
        case .basic: .answering(.basic, origin: port)
        case .bearer: .exchanging(origin: port)
        case .ntlm: .answering(.ntlm, origin: port)
        case .challenged: .answering(.digest, origin: port, modifiers: "preempt no")
        case .ruled(let count): .answering(.digest, origin: port, others: count)
        case .placeholders(let count): .placeholders(count)
        }
    }

    /// HAProxy with what is the measure of this; nil where it is not installed, and where nothing of it compares.
    func haproxy(in setting: Setting) throws(BenchError) -> Contestant? {
        guard setting.hasHAProxy else { return nil }
        switch self {
        case .plain, .digest, .newClient: return setting.plainHAProxy
        case .newOrigin: return HAProxyContestant.forward(setting.options.haproxy, origin: try origin(in: setting))
        case .logged, .multiplexed, .basic, .bearer, .ntlm, .challenged, .ruled, .placeholders: return nil
        case .secure:
            let secure = try setting.secure()
            return HAProxyContestant.originating(
                setting.options.haproxy, origin: secure.origin.kept, anchor: secure.certificates.root)
        }
    }

    /// The path that HAProxy is asked for.
    var rivalPath: String { Workload.plain.path }

    /// Compares the `figure` of Attaché for this workload with that of HAProxy for its counterpart.
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
