/// Requests on streams of HTTP/2: 1 KiB for each, made by h2load of nghttp2.
enum StreamMeasure {
    private static let few = 1000
    private static let many = 5000
    /// The requests of a timed run.
    private static let timed = 20_000

    /// The HTTP version of the origin.
    private enum Origin: CaseIterable {
        case http1, http2

        var metric: String { self == .http1 ? "http2" : "http2-both" }
        var version: String { self == .http1 ? "HTTP/1.1" : "HTTP/2" }
        var scheme: String { self == .http1 ? "http" : "https" }

        func authority(in setting: Setting) throws(BenchError) -> String {
            let port = self == .http1 ? setting.originPort : try setting.secure().origin.streams
            return "127.0.0.1:\(port)"
        }
    }

    /// Measures the CPU time of a request over TLS, beside that of HAProxy.
    static func take(in setting: Setting) async throws(BenchError) -> [Finding] {
        guard isInstalled(in: setting) else { return [] }
        let certificates = try setting.secure().certificates
        var findings: [Finding] = []
        for origin in Origin.allCases {
            let authority = try origin.authority(in: setting)
            let ours = try setting.start(
                AttacheContestant.streams(setting.options.attache, certificates, isSecure: true))
            let ask = ["https://\(authority)/small", "-H", ":scheme: \(origin.scheme)"]
            var turns = [(ours, ask + ["--connect-to=127.0.0.1:\(ours.route.port)"], [] as [Double])]
            if setting.hasHAProxy {
                let tls = origin == .http1 ? "" : " ssl verify required ca-file \(certificates.root) alpn h2"
                let theirs = try setting.start(
                    HAProxyContestant.streams(setting.options.haproxy, backend: authority + tls, certificates))
                turns.append((theirs, ["https://127.0.0.1:\(theirs.route.port)/small"], []))
            }
            for (_, arguments, _) in turns { try load(few, arguments) }
            for _ in 0..<setting.options.rounds {
                for turn in turns.indices {
                    let before = turns[turn].0.processorTime
                    try load(timed, turns[turn].1)
                    turns[turn].2.append(Double(turns[turn].0.processorTime - before) / Double(timed) / 1000)
                }
            }
            for (contestant, _, _) in turns { contestant.stop() }
            let title = "CPU per GET on a stream, TLS, \(origin.version) behind"
            let theirs = turns.count > 1 ? Rounds.median(turns[1].2) : nil
            findings.append(Finding("\(origin.metric)-cpu", title, "µs", Rounds.median(turns[0].2), theirs))
        }
        return findings
    }

    /// Measures the user instructions of a request that comes without TLS.
    static func takeInstructions(in setting: Setting) async throws(BenchError) -> [Finding] {
        guard isInstalled(in: setting) else { return [] }
        let certificates = try setting.secure().certificates
        let contestant = AttacheContestant.streams(setting.options.attache, certificates, isSecure: false)
        var findings: [Finding] = []
        for origin in Origin.allCases {
            let authority = try origin.authority(in: setting)
            let figure = try InstructionMeasure.difference(of: contestant, from: few, to: many, in: setting) {
                requests, running throws(BenchError) in
                // Few, because each of the first ones makes a TLS handshake, which is slow under callgrind.
                try load(
                    requests, over: 2, atOnce: 8,
                    [
                        "-p", "h2c", "--connect-to=127.0.0.1:\(running.route.port)", "-H", ":scheme: \(origin.scheme)",
                        "http://\(authority)/small",
                    ])
            }
            let title = "user instructions per GET on a stream, \(origin.version) behind"
            findings.append(Finding("\(origin.metric)-instructions", title, "", figure))
        }
        return findings
    }

    private static func isInstalled(in setting: Setting) -> Bool {
        if (try? Child.run(["h2load", "--version"])) != nil { return true }
        setting.miss("h2load is not installed: it is in the package nghttp2-client")
        return false
    }

    /// Makes requests over that many connections, and as many at once on each.
    private static func load(
        _ requests: Int, over connections: Int = 8, atOnce streams: Int = 32, _ arguments: [String]
    ) throws(BenchError) {
        let output = try Child.run(
            ["h2load", "-c", "\(connections)", "-m", "\(streams)", "-n", "\(requests)"] + arguments)
        guard output.contains("\(requests) succeeded, 0 failed") else {
            throw .machine("h2load \(arguments.joined(separator: " ")): \(output.suffix(500))")
        }
    }
}
