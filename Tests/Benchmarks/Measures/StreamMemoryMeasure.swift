import Synchronization

/// Resident memory of HTTP/2 connections with TLS that have made one request and rest, and of streams that wait for their
/// responses.
enum StreamMemoryMeasure {
    private static let connections = 500
    /// Milliseconds that connections rest and streams wait.
    private static let rest = 3000
    /// Connections whose streams wait, and the streams of each. A client address may have 500 streams.
    private static let (busy, streams) = (4, 100)
    /// Tenths of a second until all requests have reached the origin, at most.
    private static let patience = 300

    static func take(in setting: Setting) async throws(BenchError) -> [Finding] {
        let (loop, origin, path) = (setting.loop, setting.originPort, Workload.plain.path)
        let (security, plain) = (try LoadSecurity(speaksHTTP2: true), try setting.secure().fresh)
        let multiplexed = try await idle(in: setting) { count, port async throws(BenchError) in
            let clients = try await connect(count, to: port, security, in: setting)
            return { for client in clients { client.close() } }
        }
        let single = try await idle(in: setting) { count, port async throws(BenchError) in
            let generator = try await LoadGenerator(
                count, over: .secureForward(proxy: port), to: path, origin: origin, security: plain, on: loop)
            try await generator.runEach()
            return { generator.close() }
        }
        Bench.note("  HTTP/2 \(Figure.text(multiplexed)) KiB, HTTP/1.1 \(Figure.text(single)) KiB, both with TLS")
        let waiting = try await waiting(security, in: setting)
        return [
            Finding(
                "http2-idle-memory", "memory per idle HTTP/2 connection, beyond one of HTTP/1.1 with TLS", "KiB",
                multiplexed - single),
            Finding(
                "waiting-stream-memory", "memory per waiting stream, its connection to the origin included", "KiB",
                waiting),
        ]
    }

    /// KiB for each connection that has made one request and rests.
    /// - Parameter open: makes so many connections, with one request each, and returns what closes them.
    private static func idle(
        in setting: Setting, open: (_ count: Int, _ port: UInt16) async throws(BenchError) -> () -> Void
    ) async throws(BenchError) -> Double {
        let running = try start(in: setting)
        defer { running.stop() }
        // The first request brings in code and buffers that are there once.
        let closeFirst = try await open(1, running.route.port)
        defer { closeFirst() }
        let before = running.settledMemory
        let close = try await open(connections, running.route.port)
        defer { close() }
        try await setting.pause(milliseconds: rest)
        return try growth(of: running, since: before) / Double(connections)
    }

    /// KiB for each stream that waits for its response.
    private static func waiting(_ security: LoadSecurity, in setting: Setting) async throws(BenchError) -> Double {
        let running = try start(in: setting)
        defer { running.stop() }
        let clients = try await connect(busy, to: running.route.port, security, in: setting)
        defer { for client in clients { client.close() } }
        try await setting.pause(milliseconds: rest)
        let before = running.settledMemory
        let (all, earlier) = (busy * streams, setting.origin.unanswered.load(ordering: .relaxed))
        for client in clients {
            for _ in 0..<streams { try await client.request("/silent", origin: setting.originPort) }
        }
        var arrived = 0
        for _ in 0..<patience where arrived < all {
            try await setting.pause(milliseconds: 100)
            arrived = setting.origin.unanswered.load(ordering: .relaxed) - earlier
        }
        guard arrived == all else { throw .contestant("of \(all) requests on streams \(arrived) reached the origin") }
        // The memory of requests that wait longer than a second serves others.
        try await setting.pause(milliseconds: rest)
        return try growth(of: running, since: before) / Double(all)
    }

    private static func start(in setting: Setting) throws(BenchError) -> RunningContestant {
        try setting.start(AttacheContestant.streams(setting.options.attache, try setting.secure().certificates))
    }

    /// Connects clients by HTTP/2, one after the other, each of which makes one request.
    private static func connect(
        _ count: Int, to port: UInt16, _ security: LoadSecurity, in setting: Setting
    ) async throws(BenchError) -> [FrameClient] {
        var clients: [FrameClient] = []
        for _ in 0..<count {
            let client = try await FrameClient.connect(to: port, security, on: setting.loop)
            try await client.get(Workload.plain.path, origin: setting.originPort)
            clients.append(client)
        }
        return clients
    }

    private static func growth(of running: RunningContestant, since before: Int) throws(BenchError) -> Double {
        let now = running.settledMemory
        guard before > 0, now > 0 else { throw .contestant("\(running.name) ended early") }
        return Double(now - before)
    }
}
