import Glibc

/// The price of the operator's view for the requests of everybody else, at saturation: the dashboard in many browsers, and
/// rules that ask more questions than anybody answers.
enum OperatorMeasure {
    private static let connections = 64
    private static let warmup = 3000
    private static let browsers = 50
    private static let questions = 1000
    /// Seconds until all questions are asked, at most.
    private static let patience = 20

    static func takeDashboard(in setting: Setting) async throws(BenchError) -> [Finding] {
        var rounds = Rounds(in: setting)
        defer { rounds.stop() }
        let port = try RunningContestant.freePort()
        let watched = try await add(.watched(admin: port), to: &rounds, in: setting)
        _ = try await add(.watched(admin: RunningContestant.freePort()), to: &rounds, in: setting)
        let pages = try await DashboardPages(browsers, of: watched, at: port, setting)
        defer { pages.close() }
        let before = pages.told
        try await rounds.run(.milliseconds(setting.options.duration), per: .request)
        guard zip(before, pages.told).allSatisfy(<) else {
            throw .contestant("a page of the dashboard was told nothing any more")
        }
        return [
            Finding(
                "dashboard-cpu", "CPU per 1 KiB GET, the dashboard open in \(browsers) browsers", "µs",
                rounds.cost(0) / 1000, rounds.cost(1) / 1000, of: "none open")
        ]
    }

    static func takeQuestions(in setting: Setting) async throws(BenchError) -> [Finding] {
        var rounds = Rounds(in: setting)
        defer { rounds.stop() }
        let asking = try await add(.asking(origin: setting.originPort), to: &rounds, in: setting)
        _ = try await add(.asking(origin: setting.originPort), to: &rounds, in: setting)
        let before = asking.residentMemory
        let asked = try await OpenQuestions(questions, through: asking, setting)
        defer { asked.close() }
        for _ in 0..<patience * 10 where asked.cancelled < questions - OpenQuestions.limit {
            try await setting.pause(milliseconds: 100)
        }
        guard asked.cancelled == questions - OpenQuestions.limit else {
            throw .contestant("of \(questions) questions \(asked.cancelled) were cancelled")
        }
        let each = Double(asking.residentMemory - before) / Double(questions)
        try await rounds.run(.milliseconds(setting.options.duration), per: .request)
        return [
            Finding(
                "questions-cpu", "CPU per 1 KiB GET beside \(questions) questions", "µs", rounds.cost(0) / 1000,
                rounds.cost(1) / 1000, of: "none asked"),
            Finding("questions-memory", "  memory for each of them, with its client's connection", "KiB", each),
        ]
    }

    private static func add(
        _ rules: AttacheContestant.Rules, to rounds: inout Rounds, in setting: Setting
    ) async throws(BenchError) -> RunningContestant {
        try await rounds.add(
            AttacheContestant.forward(setting.options.attache, rules), connections: connections,
            to: Workload.plain.path, warmup: warmup)
    }
}
