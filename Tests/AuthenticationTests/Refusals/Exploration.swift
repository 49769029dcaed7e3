/// All that can happen in a small world, breadth first, so that the shortest story of a broken promise is found.
struct Exploration {
    /// The moves that break a promise.
    struct Failure: Error, CustomStringConvertible {
        let broken: BrokenPromise
        let moves: [World.Move]

        var description: String { "\(broken), after \(moves.map { "\($0)" }.joined(separator: " "))" }
    }

    /// Worlds that differ.
    private(set) var states = 0
    /// The number of moves that were followed by all possible next ones.
    private(set) var depth = 0
    private var seen: Set<UInt64> = []
    /// The moves to each world, as the place of the one before it and the last move.
    private var steps: [(former: Int, move: World.Move)] = []

    /// - Parameters:
    ///   - depth: the longest story.
    ///   - limit: it ends after so many worlds.
    init(of setting: WorldSetting, depth: Int, limit: Int) throws(Failure) {
        var level: [(world: World, step: Int)] = []
        do throws(BrokenPromise) { level.append((try World(setting), -1)) } catch {
            throw Failure(broken: error, moves: [])
        }
        while self.depth < depth, !level.isEmpty {
            var next: [(world: World, step: Int)] = []
            for (world, step) in level {
                for move in world.moves {
                    var following = world
                    do throws(BrokenPromise) { try following.play(move) } catch {
                        throw Failure(broken: error, moves: story(to: step) + [move])
                    }
                    guard seen.insert(following.fingerprint).inserted, self.depth + 1 < depth else { continue }
                    steps.append((step, move))
                    next.append((following, steps.count - 1))
                }
                if seen.count > limit { break }
            }
            states = seen.count
            if states > limit { return }
            self.depth += 1
            level = next
        }
    }

    private func story(to step: Int) -> [World.Move] {
        var moves: [World.Move] = []
        var step = step
        while step >= 0 {
            moves.append(steps[step].move)
            step = steps[step].former
        }
        return moves.reversed()
    }
}
