import Testing

#if canImport(Glibc)
import Glibc
#else
import Musl
#endif

/// The program of `Tests/refusals`: the walks, worlds and scenes of `AuthenticationTests/Refusals`.
///
///     walks FIRST COUNT        the walks of so many seeds
///     worlds PART DEPTH LIMIT  every second world, up to so many moves and states
///     walk SEED                tells what happens in one walk
///     scenes                   the tests of that folder
///     catch                    the first broken promise, by a few walks and then by shallow worlds
@main struct Refusals {
    static func main() async {
        let arguments = CommandLine.arguments
        let numbers = arguments.dropFirst(2).map { Int($0) ?? 0 }
        do {
            switch (arguments.dropFirst().first, numbers.count) {
            case ("walks", 2): try walks(numbers[0]..<numbers[0] + numbers[1])
            case ("worlds", 3):
                let settings = WorldSetting.all.enumerated().filter { $0.offset % 2 == numbers[0] }.map(\.element)
                print("states: \(try worlds(settings, depth: numbers[1], limit: numbers[2]))")
            case ("walk", 1): try tell(numbers[0])
            case ("scenes", 0): exit(await Testing.__swiftPMEntryPoint())
            case ("catch", 0):
                try walks(0..<2000)
                _ = try worlds(WorldSetting.all, depth: 8, limit: 20_000)
                try walks(2000..<40_000)
            default:
                print("usage: walks FIRST COUNT | worlds PART DEPTH LIMIT | walk SEED | scenes | catch")
                exit(2)
            }
        } catch {
            print("broken: \(error)")
            exit(1)
        }
    }

    private struct BrokenWalk: Error, CustomStringConvertible {
        let seed: Int
        let kind: WalkPlan.Kind?
        let broken: BrokenPromise

        var description: String { "walk \(seed) (\(kind.map { "\($0)" } ?? "")): \(broken)" }
    }

    private static func walks(_ seeds: Range<Int>) throws(BrokenWalk) {
        for seed in seeds {
            var walk = Walk(seed: seed)
            do throws(BrokenPromise) { try walk.run(requests: 200) } catch {
                throw BrokenWalk(seed: seed, kind: walk.plan.kind, broken: error)
            }
        }
    }

    private static func tell(_ seed: Int) throws(BrokenPromise) {
        var walk = Walk(seed: seed, isTold: true)
        print(walk.plan)
        defer { for line in walk.story ?? [] { print(line) } }
        try walk.run(requests: 200)
    }

    private struct BrokenWorld: Error, CustomStringConvertible {
        let setting: WorldSetting
        let failure: Exploration.Failure

        var description: String { "world '\(setting)': \(failure)" }
    }

    /// - Returns: the number of states.
    private static func worlds(_ settings: [WorldSetting], depth: Int, limit: Int) throws(BrokenWorld) -> Int {
        var states = 0
        for setting in settings {
            do throws(Exploration.Failure) {
                let exploration = try Exploration(of: setting, depth: depth, limit: limit)
                states += exploration.states
                print("world '\(setting)': \(exploration.states) states, \(exploration.depth) moves")
            } catch { throw BrokenWorld(setting: setting, failure: error) }
        }
        return states
    }
}
