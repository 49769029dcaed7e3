import Model
import Synchronization

/// Requests on streams of HTTP/2, made by h2load of nghttp2: 1 KiB for each, but for the bodies of 1 MiB.
enum StreamMeasure {
    private static let few = 1000
    private static let many = 5000
    /// The requests of a timed run.
    private static let timed = 20_000
    /// The requests for 1 MiB of a timed run.
    private static let large = 300

    /// The HTTP version of the origin.
    private enum Origin: CaseIterable {
        case http1, http2

        var metric: String { self == .http1 ? "http2" : "http2-both" }
        var version: String { self == .http1 ? "HTTP/1.1" : "HTTP/2" }
        var scheme: String { self == .http1 ? "http" : "https" }

        func port(in setting: Setting) throws(BenchError) -> UInt16 {
            self == .http1 ? setting.originPort : try setting.secure().origin.streams
        }
    }

    /// A contestant of timed runs.
    private struct Turn {
        let contestant: RunningContestant
        /// Makes so many requests.
        let load: (_ requests: Int) async throws(BenchError) -> Void
        /// Ends the connections that last from one run to the next.
        var close: () -> Void = {}
    }

    /// Measures the CPU time of a request over TLS, beside that of others.
    static func take(in setting: Setting) async throws(BenchError) -> [Finding] {
        guard isInstalled(in: setting) else { return [] }
        var findings: [Finding] = []
        for origin in Origin.allCases { findings += try await takeSmall(from: origin, in: setting) }
        return findings + [try await takeDigest(in: setting), try await takeBodies(in: setting)]
    }

    /// Measures GETs of 1 KiB, beside HAProxy and nghttpx.
    private static func takeSmall(from origin: Origin, in setting: Setting) async throws(BenchError) -> [Finding] {
        let (options, certificates) = (setting.options, try setting.secure().certificates)
        let port = try origin.port(in: setting)
        let url = "https://127.0.0.1:\(port)/small"
        let scheme = ["-H", ":scheme: \(origin.scheme)"]
        var turns = [try turn(AttacheContestant.streams(options.attache, certificates), [url] + scheme, in: setting)]
        if setting.hasHAProxy {
            let tls = origin == .http1 ? "" : " ssl verify required ca-file \(certificates.root) alpn h2"
            let backend = "127.0.0.1:\(port)\(tls)"
            let contestant = HAProxyContestant.streams(options.haproxy, backend: backend, certificates)
            turns.append(try turn(contestant, [url], in: setting))
        }
        if NghttpxContestant.isInstalled {
            let contestant = NghttpxContestant.streams(
                origin: port, speaksHTTP2: origin == .http2, certificates)
            turns.append(try turn(contestant, [url] + scheme, in: setting))
        }
        let costs = try await costs(of: turns, in: setting)
        let cost = { (name: String) in turns.firstIndex { $0.contestant.name == name }.map { costs[$0] } }
        var findings = [
            Finding(
                "\(origin.metric)-cpu", "CPU per GET on a stream, TLS, \(origin.version) behind", "µs", costs[0],
                cost("haproxy"))
        ]
        if let theirs = cost("nghttpx") {
            findings.append(
                Finding(
                    "\(origin.metric)-nghttpx-cpu", "  beside nghttpx", "µs", costs[0], theirs, of: "nghttpx"))
        }
        return findings
    }

    /// Measures GETs of 1 KiB from a Digest space whose password the proxy knows, beside plain ones.
    private static func takeDigest(in setting: Setting) async throws(BenchError) -> Finding {
        let (binary, certificates, port) = (
            setting.options.attache, try setting.secure().certificates, setting.originPort
        )
        let before = setting.origin.challenges.load(ordering: .relaxed)
        let costs = try await costs(
            of: [
                try turn(
                    AttacheContestant.streams(binary, certificates, .answering(.digest, origin: port)),
                    ["https://127.0.0.1:\(port)\(Workload.digest.path)", "-H", ":scheme: http"], in: setting),
                try turn(
                    AttacheContestant.streams(binary, certificates),
                    ["https://127.0.0.1:\(port)/small", "-H", ":scheme: http"], in: setting),
            ], in: setting)
        let challenges = setting.origin.challenges.load(ordering: .relaxed) - before
        // The requests that came before the first answer was known.
        guard challenges <= few else { throw .contestant("\(challenges) requests met a Digest challenge") }
        return Finding(
            "http2-digest-cpu", "CPU per GET on a stream with a Digest answer", "µs", costs[0], costs[1], of: "plain")
    }

    /// Measures bodies of 1 MiB by HTTP/2 on both sides, beside HTTP/1.1 on both sides. Both have TLS on both sides.
    private static func takeBodies(in setting: Setting) async throws(BenchError) -> Finding {
        let (binary, secure, path) = (setting.options.attache, try setting.secure(), OriginContent.Size.m1.path)
        let certificates = secure.certificates
        let multiplexed = try turn(
            AttacheContestant.streams(binary, certificates), ["https://127.0.0.1:\(secure.origin.streams)\(path)"],
            atOnce: 4, in: setting)
        let single = try setting.start(
            AttacheContestant.streams(binary, certificates, .originating(anchor: certificates.root)))
        let generator = try await LoadGenerator(
            32, over: .secureForward(proxy: single.route.port), to: path, origin: secure.origin.kept,
            security: secure.fresh, on: setting.loop)
        let costs = try await costs(
            of: [
                multiplexed,
                Turn(
                    contestant: single,
                    load: { (requests: Int) async throws(BenchError) in
                        _ = try await generator.run(.requests(requests))
                    },
                    close: { generator.close() }),
            ], warmup: 64, requests: large, in: setting)
        return Finding(
            "http2-1m-cpu", "CPU per GET of 1 MiB on a stream, HTTP/2 behind", "µs", costs[0], costs[1],
            of: "HTTP/1.1, TLS")
    }

    /// Starts a contestant that h2load asks over eight connections.
    private static func turn(
        _ contestant: Contestant, _ arguments: [String], atOnce streams: Int = 32, in setting: Setting
    ) throws(BenchError) -> Turn {
        let running = try setting.start(contestant)
        let arguments = arguments + ["--connect-to=127.0.0.1:\(running.route.port)"]
        return Turn(contestant: running) { (requests: Int) async throws(BenchError) in
            try load(requests, over: 8, atOnce: streams, arguments)
        }
    }

    /// Runs contestants in turns, and stops them.
    /// - Returns: the microseconds of CPU per request of each.
    private static func costs(
        of turns: [Turn], warmup: Int = few, requests: Int = timed, in setting: Setting
    ) async throws(BenchError) -> [Double] {
        defer {
            for turn in turns {
                turn.close()
                turn.contestant.stop()
            }
        }
        for turn in turns { try await turn.load(warmup) }
        var costs = turns.map { _ in [Double]() }
        for _ in 0..<setting.options.rounds {
            for (place, turn) in turns.enumerated() {
                let before = turn.contestant.processorTime
                try await turn.load(requests)
                let spent = turn.contestant.processorTime - before
                costs[place].append(Double(spent) / Double(requests) / 1000)
            }
        }
        return costs.map(Rounds.median)
    }

    /// Measures the user instructions of a request that comes without TLS.
    static func takeInstructions(in setting: Setting) async throws(BenchError) -> [Finding] {
        guard isInstalled(in: setting) else { return [] }
        func instructions(_ load: ClearLoad) throws(BenchError) -> Double {
            try InstructionMeasure.difference(of: load.contestant, from: few, to: many, in: setting, load.run)
        }
        var findings: [Finding] = []
        var costs: [Double] = []
        for origin in Origin.allCases {
            let cost = try instructions(ClearLoad(from: origin, in: setting))
            costs.append(cost)
            let title = "user instructions per GET on a stream, \(origin.version) behind"
            findings.append(Finding("\(origin.metric)-instructions", title, "", cost))
        }
        let digest = try instructions(ClearLoad(from: .http1, .digest, in: setting))
        findings.append(
            Finding("http2-digest-instructions", "  the further ones for a Digest answer", "", digest - costs[0]))
        let title = "user instructions per GET, HTTP/2 without TLS on both sides"
        if let clear = try withTunnels(in: setting, instructions) {
            findings.append(Finding("http2-clear-instructions", title, "", clear))
        }
        return findings
            + (try await takeKnown("instructions", "user instructions", in: setting) {
                contestant, path, port async throws(BenchError) in
                try await InstructionMeasure.instructions(of: contestant, path: path, origin: port, in: setting)
            })
    }

    /// Measures the allocations of a request that comes without TLS.
    static func takeAllocations(in setting: Setting) async throws(BenchError) -> [Finding] {
        guard isInstalled(in: setting) else { return [] }
        func allocations(_ load: ClearLoad) throws(BenchError) -> Double {
            try AllocationMeasure.difference(of: load.contestant, from: few, to: timed, in: setting, load.run)
        }
        var findings = [
            Finding(
                "http2-allocations", "allocations per GET on a stream, HTTP/1.1 behind", "",
                try allocations(ClearLoad(from: .http1, in: setting)))
        ]
        if let clear = try withTunnels(in: setting, allocations) {
            let title = "allocations per GET, HTTP/2 without TLS on both sides"
            findings.append(Finding("http2-clear-allocations", title, "", clear))
        }
        return findings
            + (try await takeKnown("allocations", "allocations", in: setting) {
                contestant, path, port async throws(BenchError) in
                try await AllocationMeasure.allocations(of: contestant, path: path, origin: port, in: setting)
            })
    }

    /// Measures requests by HTTP/1.1 to an origin that is known to speak HTTP/2 without TLS.
    private static func takeKnown(
        _ metric: String, _ what: String, in setting: Setting,
        _ figure: (Contestant, _ path: String, _ origin: UInt16) async throws(BenchError) -> Double
    ) async throws(BenchError) -> [Finding] {
        guard let (origin, port) = try clearOrigin(in: setting) else { return [] }
        defer { origin.stop() }
        let cost = try await figure(
            AttacheContestant.known(setting.options.attache), Workload.plain.path, port)
        let title = "\(what) per GET by HTTP/1.1, HTTP/2 without TLS behind"
        return [Finding("http2-known-\(metric)", title, "", cost)]
    }

    /// Requests on streams that come without TLS. They come on few connections, because each of the first ones makes a TLS
    /// handshake with an origin of HTTP/2, which is slow under callgrind.
    private struct ClearLoad {
        let contestant: Contestant
        let run: (_ requests: Int, RunningContestant) throws(BenchError) -> Void

        init(
            of contestant: Contestant, _ run: @escaping (_ requests: Int, RunningContestant) throws(BenchError) -> Void
        ) {
            self.contestant = contestant
            self.run = run
        }

        init(from origin: Origin, _ workload: Workload = .plain, in setting: Setting) throws(BenchError) {
            let port = try origin.port(in: setting)
            let rules: AttacheContestant.Rules? =
                if case .digest = workload { .answering(.digest, origin: port) } else { nil }
            self.init(
                of: AttacheContestant.streams(
                    setting.options.attache, try setting.secure().certificates, isSecure: false, rules)
            ) { requests, running throws(BenchError) in
                try load(
                    requests, over: 2, atOnce: 8,
                    [
                        "-p", "h2c", "--connect-to=127.0.0.1:\(running.route.port)", "-H", ":scheme: \(origin.scheme)",
                        "http://127.0.0.1:\(port)\(workload.path)",
                    ])
            }
        }
    }

    /// Measures HTTP/2 without TLS on both sides, as gRPC speaks it in a tunnel. socat opens the tunnels, since h2load cannot.
    private static func withTunnels(
        in setting: Setting, _ measure: (ClearLoad) throws(BenchError) -> Double
    ) throws(BenchError) -> Double? {
        guard (try? Child.run(["socat", "-V"])) != nil else {
            setting.miss("socat is not installed: it is needed for HTTP/2 without TLS on both sides")
            return nil
        }
        guard let (origin, originPort) = try clearOrigin(in: setting) else { return nil }
        defer { origin.stop() }
        let folder = setting.workspace.path
        let contestant = AttacheContestant.intercept(setting.options.attache, try setting.secure().certificates)
        let authority = "127.0.0.1:\(originPort)"
        return try measure(
            ClearLoad(of: contestant) { requests, running throws(BenchError) in
                let port = try RunningContestant.freePort()
                let tunnels = try Child(
                    [
                        "socat", "TCP-LISTEN:\(port),bind=127.0.0.1,fork,reuseaddr",
                        "PROXY:127.0.0.1:\(authority),proxyport=\(running.route.port)",
                    ], log: "\(folder)/socat.log")
                defer { tunnels.stop() }
                guard RunningContestant.listens(tunnels, on: port) else { throw .machine("socat did not start") }
                try load(
                    requests, over: 2, atOnce: 8,
                    ["-p", "h2c", "--connect-to=127.0.0.1:\(port)", "http://\(authority)/small"])
            })
    }

    /// Starts nghttpd, which serves 1 KiB by HTTP/2 without TLS; nil if it is not installed.
    private static func clearOrigin(in setting: Setting) throws(BenchError) -> (Child, port: UInt16)? {
        guard (try? Child.run(["nghttpd", "--version"])) != nil else {
            setting.miss("nghttpd is not installed: it is needed for origins of HTTP/2 without TLS")
            return nil
        }
        let folder = setting.workspace.path
        _ = try setting.workspace.write(
            String(repeating: "a", count: OriginContent.smallSize), to: String(Workload.plain.path.dropFirst()))
        let port = try RunningContestant.freePort()
        let origin = try Child(
            ["nghttpd", "--no-tls", "-a", "127.0.0.1", "-d", folder, "\(port)"], log: "\(folder)/nghttpd.log")
        if RunningContestant.listens(origin, on: port) { return (origin, port) }
        origin.stop()
        throw .machine("nghttpd did not start")
    }

    private static func isInstalled(in setting: Setting) -> Bool {
        if (try? Child.run(["h2load", "--version"])) != nil { return true }
        setting.miss("h2load is not installed: it is in the package nghttp2-client")
        return false
    }

    /// Makes requests over that many connections, and as many at once on each.
    private static func load(
        _ requests: Int, over connections: Int, atOnce streams: Int, _ arguments: [String]
    ) throws(BenchError) {
        let output = try Child.run(
            ["h2load", "-c", "\(connections)", "-m", "\(streams)", "-n", "\(requests)"] + arguments)
        guard output.contains("\(requests) succeeded, 0 failed"), output.contains(": \(requests) 2xx") else {
            throw .machine("h2load \(arguments.joined(separator: " ")): \(output.suffix(500))")
        }
    }
}
