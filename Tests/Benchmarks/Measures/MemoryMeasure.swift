import Glibc

/// Resident memory of a client connection that has made one request and waits, and of a tunnel that is silent.
enum MemoryMeasure {
    private static let connections = 5000
    private static let tunnels = 1000
    /// Answers of 1 KiB that a tunnel in use has carried.
    private static let carried = 20

    static func take(in setting: Setting) async throws(BenchError) -> [Finding] {
        let ours = try await memory(of: Workload.plain.attache(in: setting), in: setting)
        var theirs: (empty: Double, each: Double)?
        if let haproxy = setting.plainHAProxy { theirs = try await memory(of: haproxy, in: setting) }
        return [
            Finding("idle-memory", "memory per idle client connection", "KiB", ours.each, theirs?.each),
            Finding("empty-memory", "memory with no connection", "KiB", ours.empty, theirs?.empty),
        ]
    }

    /// A tunnel counts with its connection to the origin.
    static func takeTunnels(in setting: Setting) async throws(BenchError) -> [Finding] {
        let running = try setting.start(AttacheContestant.tunnel(setting.options.attache))
        defer { running.stop() }
        let first = try await setting.load(1, through: running, to: "/small")
        defer { first.close() }
        try await first.runEach()
        let empty = running.residentMemory
        let generator = try await setting.load(tunnels, through: running, to: "/small")
        defer { generator.close() }
        let silent = running.settledMemory
        for _ in 0..<carried { try await generator.runEach() }
        let used = running.settledMemory
        guard empty > 0, silent > 0, used > 0 else { throw .contestant("\(running.name) ended early") }
        return [
            Finding("tunnel-memory", "memory per silent tunnel", "KiB", Double(silent - empty) / Double(tunnels)),
            Finding("used-tunnel-memory", "  after 20 KiB", "KiB", Double(used - empty) / Double(tunnels)),
        ]
    }

    private static func memory(
        of contestant: Contestant, in setting: Setting
    ) async throws(BenchError) -> (empty: Double, each: Double) {
        let running = try setting.start(contestant)
        defer { running.stop() }
        // The first request brings in code and buffers that are there once.
        let first = try await setting.load(1, through: running, to: "/small")
        defer { first.close() }
        try await first.runEach()
        let empty = running.residentMemory
        let generator = try await setting.load(connections, through: running, to: "/small")
        defer { generator.close() }
        try await generator.runEach()
        let full = running.settledMemory
        guard empty > 0, full > 0 else { throw .contestant("\(contestant.name) ended early") }
        return (Double(empty), Double(full - empty) / Double(connections))
    }
}
