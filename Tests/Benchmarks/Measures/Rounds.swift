/// Contestants that take turns in short runs, so that what else the machine does falls on all of them alike.
struct Rounds {
    private struct Entry {
        let contestant: RunningContestant
        let generator: LoadGenerator
        /// Nanoseconds of CPU per unit, one for each run.
        var costs: [Double] = []
        var requests = 0
    }

    /// The unit that a contestant's CPU time is divided by.
    enum Unit {
        case request
        case byte
    }

    private let setting: Setting
    private var entries: [Entry] = []

    init(in setting: Setting) { self.setting = setting }

    /// Starts a contestant and warms it up. Results come in the order of these calls.
    @discardableResult
    mutating func add(
        _ contestant: Contestant, connections: Int, to path: String, warmup: Int, origin: UInt16? = nil,
        security: LoadSecurity? = nil, manner: LoadGenerator.Manner = .keeps
    ) async throws(BenchError) -> RunningContestant {
        let running = try setting.start(contestant)
        let generator = try await setting.load(
            connections, through: running, to: path, origin: origin, security: security, manner: manner)
        _ = try await generator.run(.requests(warmup))
        entries.append(Entry(contestant: running, generator: generator))
        return running
    }

    mutating func run(_ goal: LoadGenerator.Goal, per unit: Unit) async throws(BenchError) {
        setting.foreignLoad.begin()
        var contestants = 0
        for _ in 0..<setting.options.rounds {
            for index in entries.indices {
                let before = entries[index].contestant.processorTime
                let load = try await entries[index].generator.run(goal)
                let spent = entries[index].contestant.processorTime - before
                contestants += spent
                let units = unit == .request ? load.requests : load.bytes
                entries[index].costs.append(Double(spent) / Double(max(1, units)))
                entries[index].requests += load.requests
            }
        }
        setting.foreignLoad.end(contestants: contestants)
    }

    /// The median nanoseconds of CPU per unit.
    func cost(_ index: Int) -> Double { Self.median(entries[index].costs) }
    func requests(_ index: Int) -> Int { entries[index].requests }

    func stop() {
        for entry in entries {
            entry.generator.close()
            entry.contestant.stop()
        }
    }

    static func median(_ values: [Double]) -> Double {
        let sorted = values.sorted()
        guard !sorted.isEmpty else { return 0 }
        return (sorted[(sorted.count - 1) / 2] + sorted[sorted.count / 2]) / 2
    }
}
