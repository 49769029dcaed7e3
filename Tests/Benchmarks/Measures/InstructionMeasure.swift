/// User instructions per kept-alive 1 KiB GET: the difference between two runs under callgrind that differ only in the
/// number of requests. Unlike a hardware counter it gives the same figure on every machine, and so can be a gate.
enum InstructionMeasure {
    private static let connections = 16
    private static let few = 1000
    private static let many = 6000

    static func take(in setting: Setting) async throws(BenchError) -> [Finding] {
        let plain = try await instructions(of: setting.plainAttache, path: "/small", in: setting)
        let answering = try await instructions(of: setting.answeringAttache, path: "/digest", in: setting)
        var theirs: Double?
        if let haproxy = setting.plainHAProxy {
            theirs = try await instructions(of: haproxy, path: "/small", in: setting)
        }
        return [
            Finding("get-instructions", "user instructions per 1 KiB GET", "", plain, theirs),
            Finding("digest-instructions", "… with rules and a Digest answer", "", answering, theirs),
        ]
    }

    private static func instructions(
        of contestant: Contestant, path: String, in setting: Setting
    ) async throws(BenchError) -> Double {
        let low = try await total(few, of: contestant, path: path, in: setting)
        let high = try await total(many, of: contestant, path: path, in: setting)
        return Double(high - low) / Double(many - few)
    }

    private static func total(
        _ requests: Int, of contestant: Contestant, path: String, in setting: Setting
    ) async throws(BenchError) -> Int {
        let report = "\(setting.workspace.path)/callgrind.out"
        let running = try setting.start(contestant, with: .instructions(report: report))
        let generator = try await setting.load(connections, through: running, to: path)
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
