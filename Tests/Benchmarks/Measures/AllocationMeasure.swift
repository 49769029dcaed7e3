import Glibc

/// Calls of malloc and its kin per request on connections that are open and warm.
enum AllocationMeasure {
    private static let connections = 16
    private static let warmup = 5000
    private static let requests = 20_000

    static func take(_ workload: Workload, in setting: Setting) async throws(BenchError) -> [Finding] {
        let figures = try await workload.compare(in: setting) { contestant, path, origin async throws(BenchError) in
            try await allocations(of: contestant, path: path, origin: origin, in: setting)
        }
        return [
            Finding(
                "\(workload.name)-allocations", "allocations per \(workload.title)", "", figures.ours, figures.theirs)
        ]
    }

    static func allocations(
        of contestant: Contestant, path: String, origin: UInt16, in setting: Setting
    ) async throws(BenchError) -> Double {
        let (running, counter) = try start(contestant, in: setting)
        defer { running.stop() }
        let generator = try await setting.load(connections, through: running, to: path, origin: origin)
        defer { generator.close() }
        _ = try await generator.run(.requests(warmup))
        let before = try count(in: counter)
        guard before > 0 else { throw .machine("the allocations of \(contestant.name) were not counted") }
        _ = try await generator.run(.requests(requests))
        return Double(try count(in: counter) - before) / Double(requests)
    }

    /// The allocations of each request beyond the first `few`, with a load that takes no loop. Each call of `load` makes
    /// connections of its own, and so two calls are compared that differ only in the number of requests.
    static func difference(
        of contestant: Contestant, from few: Int, to many: Int, in setting: Setting,
        _ load: (_ requests: Int, RunningContestant) throws(BenchError) -> Void
    ) throws(BenchError) -> Double {
        let (running, counter) = try start(contestant, in: setting)
        defer { running.stop() }
        func total(_ requests: Int) throws(BenchError) -> Int {
            let before = try count(in: counter)
            try load(requests, running)
            let total = try count(in: counter) - before
            guard total > 0 else { throw .machine("the allocations of \(contestant.name) were not counted") }
            return total
        }
        _ = try total(few)
        let low = try total(few)
        return Double(try total(many) - low) / Double(many - few)
    }

    private static func start(
        _ contestant: Contestant, in setting: Setting
    ) throws(BenchError) -> (running: RunningContestant, counter: String) {
        let counter = try setting.workspace.write(String(repeating: "\0", count: 8), to: "allocations")
        let library = setting.options.allocations
        guard Workspace.size(of: library) != nil else { throw .machine("there is no \(library)") }
        return (try setting.start(contestant, with: .allocations(library: library, counter: counter)), counter)
    }

    private static func count(in file: String) throws(BenchError) -> Int {
        guard let bytes = Workspace.read(file), bytes.count == 8 else { throw .machine("cannot read \(file)") }
        return bytes.withUnsafeBytes { Int($0.loadUnaligned(as: Int64.self)) }
    }
}
