import Bytes
import Model

extension Configuration {
    /// The name for a new `challenge`: the one that is wished, or else the first with a number that is free.
    ///
    /// - Parameter others: names that are taken besides those of the rules.
    public func freeRuleName(_ wish: String, besides others: Set<String> = []) -> String {
        let taken = Set(challenges.compactMap(\.rule.name)).union(others)
        return Self.free(wish) { taken.contains($0) }
    }

    /// The name for a new `credential`: the one that is wished, or else the first with a number that is free.
    ///
    /// - Parameter others: names that are taken besides those of the rules.
    public func freeCredentialName(_ wish: String, besides others: Set<String> = []) -> String {
        let taken = Set((credentials.map(\.name) + others).map { ExactText($0) })
        return Self.free(wish) { taken.contains(ExactText($0)) }
    }

    /// The wish, or else `wish-2`, `wish-3` and so on.
    public static func free(_ wish: String, _ isTaken: (String) -> Bool) -> String {
        guard isTaken(wish) else { return wish }
        var number = 2
        while isTaken("\(wish)-\(number)") { number += 1 }
        return "\(wish)-\(number)"
    }
}
