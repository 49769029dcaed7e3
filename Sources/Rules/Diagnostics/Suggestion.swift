import Bytes

/// The "did you mean" suggestions: the nearest of the words that are valid at a place.
public enum Suggestion {
    /// The first of the nearest candidates, if it is near enough to be a typing error.
    public static func nearest(to word: String, among candidates: [String]) -> String? {
        let typed = Array(word.utf8)
        guard (1...40).contains(typed.count) else { return nil }
        var best: (word: String, distance: Int)?
        for candidate in candidates {
            let target = Array(candidate.utf8)
            let reach = max(1, max(typed.count, target.count) / 3)
            guard abs(typed.count - target.count) <= reach else { continue }
            let distance = distance(typed, target)
            if distance <= reach, distance < best?.distance ?? .max { best = (candidate, distance) }
        }
        guard let best, best.distance < typed.count else { return nil }
        return best.word
    }

    /// The number of insertions, deletions, replacements and swaps of neighbours that turn one word into the other
    /// (optimal string alignment), ignoring ASCII case.
    static func distance(_ left: [UInt8], _ right: [UInt8]) -> Int {
        let left = left.map(\.asciiLowercased)
        let right = right.map(\.asciiLowercased)
        guard !left.isEmpty, !right.isEmpty else { return max(left.count, right.count) }
        var before: [Int] = []
        var above = Array(0...right.count)
        for row in 1...left.count {
            var current = [row]
            current.reserveCapacity(right.count + 1)
            for column in 1...right.count {
                let isSame = left[row - 1] == right[column - 1]
                var cost = min(above[column] + 1, current[column - 1] + 1, above[column - 1] + (isSame ? 0 : 1))
                if row > 1, column > 1, left[row - 1] == right[column - 2], left[row - 2] == right[column - 1] {
                    cost = min(cost, before[column - 2] + 1)
                }
                current.append(cost)
            }
            before = above
            above = current
        }
        return above[right.count]
    }
}
