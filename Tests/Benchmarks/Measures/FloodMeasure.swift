import IO
import TestSupport

/// The time that other clients wait for their responses while one client attacks by HTTP/2.
///
/// A wait has to be the proxy's own work. So the attacker, and the origin that it asks, have a thread beside that of the
/// other clients. The frames are made before the attack. Each flood is repeated on a new proxy, and the median of the
/// slowest requests counts: a proxy that lets others wait does so each time, a machine that is busy does not.
enum FloodMeasure {
    private static let others = 4
    /// Milliseconds until all is warm.
    private static let warmup = 200
    /// Milliseconds of an attack, and of the time before it that is compared.
    private static let length = 500

    /// The waits with one flood, in milliseconds.
    private struct Siege {
        let flood: Flood
        let wait: Double
        /// The wait before the attack.
        let calm: Double
    }

    static func take(in setting: Setting) async throws(BenchError) -> [Finding] {
        let target = Origin()
        let (loop, port) = try start(target)
        let security = try LoadSecurity(speaksHTTP2: true)
        var worst: Siege?
        for flood in Flood.allCases {
            let attacker = Attacker(flood, origin: port, security)
            var sieges: [Siege] = []
            for _ in 0..<setting.options.rounds { sieges.append(try await besiege(attacker, on: loop, in: setting)) }
            let siege = Siege(
                flood: flood, wait: Rounds.median(sieges.map(\.wait)), calm: Rounds.median(sieges.map(\.calm)))
            Bench.note("  \(flood): \(Figure.text(siege.wait)) ms, \(Figure.text(siege.calm)) ms without")
            if siege.wait > worst?.wait ?? 0 { worst = siege }
        }
        guard let worst else { throw .contestant("no flood was measured") }
        return [
            Finding(
                "flood-wait", "slowest GET of others in a flood (the worst is \(worst.flood))", "ms", worst.wait,
                worst.calm, of: "no flood")
        ]
    }

    /// Starts the attacker's thread, with the origin that it asks.
    private static func start(_ target: Origin) throws(BenchError) -> (EventLoop, port: UInt16) {
        do throws(IOError) {
            let loop = try EventLoop(index: 2)
            loop.start()
            return (loop, try target.listen(on: loop))
        } catch {
            throw .connection(error)
        }
    }

    private static func besiege(
        _ attacker: Attacker, on loop: EventLoop, in setting: Setting
    ) async throws(BenchError) -> Siege {
        let running = try setting.start(
            AttacheContestant.streams(setting.options.attache, try setting.secure().certificates))
        defer { running.stop() }
        let others = try await Bystanders(others, through: running, in: setting)
        try await setting.pause(milliseconds: warmup)
        setting.foreignLoad.begin()
        let before = running.processorTime
        others.mark()
        try await setting.pause(milliseconds: length)
        let calm = others.slowest
        others.mark()
        let outcome = await attack(by: attacker, port: running.route.port, on: loop)
        setting.foreignLoad.end(contestants: running.processorTime - before)
        try await others.stop()
        _ = try outcome.get()
        guard others.requests >= Self.others else { throw .machine("the others were too slow to measure") }
        guard running.output.contains("the HTTP/2 connection of the client at 127.0.0.1 was closed") else {
            throw .contestant("the proxy has not noticed the flood of \(attacker.flood): \(running.output.prefix(500))")
        }
        return Siege(flood: attacker.flood, wait: others.slowest, calm: calm)
    }

    private static func attack(
        by attacker: Attacker, port: UInt16, on loop: EventLoop
    ) async -> Result<Int, BenchError> {
        let outcome = Expectation<Result<Int, BenchError>>()
        loop.spawn {
            do throws(BenchError) {
                outcome.fulfil(.success(try await attacker.attack(port: port, milliseconds: length, on: loop)))
            } catch {
                outcome.fulfil(.failure(error))
            }
        }
        return await outcome.value(within: nil) ?? .failure(.machine("the attack was broken off"))
    }
}
