/// User instructions per kept-alive 1 KiB GET: the difference between two runs under callgrind that differ only in the
/// number of requests. Unlike a hardware counter it gives the same figure on every machine, and so can be a gate.
enum InstructionMeasure {
    private static let connections = 16
    private static let few = 1000
    private static let many = 6000

    static func take(_ workload: Workload, in setting: Setting) async throws(BenchError) -> [Finding] {
        let figures = try await workload.compare(in: setting) { contestant, path, origin async throws(BenchError) in
            try await instructions(of: contestant, path: path, origin: origin, in: setting)
        }
        return [
            Finding(
                "\(workload.name)-instructions", "user instructions per \(workload.title)", "", figures.ours,
                figures.theirs)
        ]
    }

    private static func instructions(
        of contestant: Contestant, path: String, origin: UInt16, in setting: Setting
    ) async throws(BenchError) -> Double {
        let low = try await total(few, of: contestant, path: path, origin: origin, in: setting)
        let high = try await total(many, of: contestant, path: path, origin: origin, in: setting)
        return Double(high - low) / Double(many - few)
    }

    private static func total(
        _ requests: Int, of contestant: Contestant, path: String, origin: UInt16, in setting: Setting
    ) async throws(BenchError) -> Int {
        let report = "\(setting.workspace.path)/callgrind.out"
        let running = try setting.start(contestant, with: .instructions(report: report))
        let generator = try await setting.load(connections, through: running, to: path, origin: origin)
        _ = try await generator.run(.requests(requests))
        generator.close()
        running.stop()
        let line = Workspace.text(report)?.split(separator: "\n").last { $0.hasPrefix("totals:") }
        guard let total = line?.split(separator: " ").last.flatMap({ Int($0) }) else {
            throw .machine("callgrind wrote no totals for \(contestant.name)")
        }
        return total
    }
}
