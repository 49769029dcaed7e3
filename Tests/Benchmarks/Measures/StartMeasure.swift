import Glibc

/// The time from starting the process to the whole response of the first request through it.
enum StartMeasure {
    private static let starts = 9

    static func take(in setting: Setting) async throws(BenchError) -> [Finding] {
        var ours: [Double] = []
        var theirs: [Double] = []
        for _ in 0..<starts {
            ours.append(try await milliseconds(Workload.plain.attache(in: setting), in: setting))
            if let haproxy = setting.plainHAProxy {
                theirs.append(try await milliseconds(haproxy, in: setting))
            }
        }
        return [
            Finding(
                "start", "start to first answer", "ms", Rounds.median(ours),
                theirs.isEmpty ? nil : Rounds.median(theirs))
        ]
    }

    private static func milliseconds(
        _ contestant: Contestant, in setting: Setting
    ) async throws(BenchError) -> Double {
        let start = ContinuousClock.now
        let running = try setting.start(contestant)
        let generator = try await setting.load(1, through: running, to: "/small")
        try await generator.runEach()
        let taken = ContinuousClock.now - start
        generator.close()
        running.stop()
        return taken / .milliseconds(1)
    }
}
