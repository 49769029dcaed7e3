/// User instructions per request: the difference between two runs under callgrind that differ only in the
/// number of requests. Unlike a hardware counter it gives the same figure on every machine, and so can be a gate.
enum InstructionMeasure {
    private static let connections = 16
    private static let few = 1000
    private static let many = 6000

    static func take(_ workloads: Workload..., in setting: Setting) async throws(BenchError) -> [Finding] {
        var findings: [Finding] = []
        for workload in workloads {
            let figures = try await workload.compare(in: setting) {
                contestant, path, origin async throws(BenchError) in
                try await instructions(of: contestant, workload.manner, path: path, origin: origin, in: setting)
            }
            findings.append(
                Finding(
                    "\(workload.name)-instructions", "user instructions per \(workload.title)", "", figures.ours,
                    figures.theirs))
        }
        return findings
    }

    /// Measures the cost of rules that no index serves, beside a rule file without them.
    static func takeRules(in setting: Setting) async throws(BenchError) -> [Finding] {
        try await take([.ruled(1000), .ruled(4000)], beside: .ruled(0), in: setting)
    }

    /// Measures the cost of placeholders in the rule file, for requests that have none.
    static func takePlaceholders(in setting: Setting) async throws(BenchError) -> [Finding] {
        try await take([.placeholders(100)], beside: .placeholders(0), in: setting)
    }

    private static func take(
        _ workloads: [Workload], beside least: Workload, in setting: Setting
    ) async throws(BenchError) -> [Finding] {
        let instructions = { (workload: Workload) async throws(BenchError) -> Double in
            try await Self.instructions(
                of: workload.attache(in: setting), workload.manner, path: workload.path, origin: setting.originPort,
                in: setting)
        }
        let none = try await instructions(least)
        var findings: [Finding] = []
        for workload in workloads {
            findings.append(
                Finding(
                    "\(workload.name)-instructions", "user instructions per \(workload.title)", "",
                    try await instructions(workload), none, of: "none"))
        }
        return findings
    }

    static func instructions(
        of contestant: Contestant, _ manner: LoadGenerator.Manner = .keeps, path: String, origin: UInt16,
        in setting: Setting
    ) async throws(BenchError) -> Double {
        let total = { (requests: Int) async throws(BenchError) in
            let report = "\(setting.workspace.path)/callgrind.out"
            let running = try setting.start(contestant, with: .instructions(report: report))
            let generator = try await setting.load(
                connections, through: running, to: path, origin: origin, manner: manner)
            _ = try await generator.run(.requests(requests))
            generator.close()
            running.stop()
            return try Self.total(in: report, of: contestant)
        }
        let low = try await total(few)
        return Double(try await total(many) - low) / Double(many - few)
    }

    /// The instructions of each request beyond the first `few`, by two runs with a load that takes no loop.
    static func difference(
        of contestant: Contestant, from few: Int, to many: Int, in setting: Setting,
        _ load: (_ requests: Int, RunningContestant) throws(BenchError) -> Void
    ) throws(BenchError) -> Double {
        func total(_ requests: Int) throws(BenchError) -> Int {
            let report = "\(setting.workspace.path)/callgrind.out"
            let running = try setting.start(contestant, with: .instructions(report: report))
            try load(requests, running)
            running.stop()
            return try Self.total(in: report, of: contestant)
        }
        let low = try total(few)
        return Double(try total(many) - low) / Double(many - few)
    }

    private static func total(in report: String, of contestant: Contestant) throws(BenchError) -> Int {
        let line = Workspace.text(report)?.split(separator: "\n").last { $0.hasPrefix("totals:") }
        guard let total = line?.split(separator: " ").last.flatMap({ Int($0) }) else {
            throw .machine("callgrind wrote no totals for \(contestant.name)")
        }
        return total
    }
}
