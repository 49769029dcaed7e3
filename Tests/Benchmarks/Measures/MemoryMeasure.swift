import Glibc

/// Resident memory of a client connection that has made one request and waits.
enum MemoryMeasure {
    private static let connections = 5000

    static func take(in setting: Setting) async throws(BenchError) -> [Finding] {
        let ours = try await memory(of: Workload.plain.attache(in: setting), in: setting)
        var theirs: (empty: Double, each: Double)?
        if let haproxy = setting.plainHAProxy { theirs = try await memory(of: haproxy, in: setting) }
        return [
            Finding("idle-memory", "memory per idle client connection", "KiB", ours.each, theirs?.each),
            Finding("empty-memory", "memory with no connection", "KiB", ours.empty, theirs?.empty),
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
        usleep(500_000)
        let full = running.residentMemory
        guard empty > 0, full > 0 else { throw .contestant("\(contestant.name) ended early") }
        return (Double(empty), Double(full - empty) / Double(connections))
    }
}
