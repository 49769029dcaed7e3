/// Random numbers that a seed determines (SplitMix64), so that a walk can be repeated.
struct RandomNumbers: RandomNumberGenerator {
    private var state: UInt64

    init(seed: Int) { state = UInt64(truncatingIfNeeded: seed) &* 0xD134_2543_DE82_EF95 }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    /// True in so many of a hundred cases.
    mutating func happens(_ percent: Int) -> Bool { below(100) < percent }

    /// A number from 0 up to, and not including, `limit`.
    mutating func below(_ limit: Int) -> Int { limit > 0 ? Int(truncatingIfNeeded: next() % UInt64(limit)) : 0 }

    mutating func within(_ range: ClosedRange<Int>) -> Int { range.lowerBound + below(range.count) }

    mutating func one<Element>(of choices: [Element]) -> Element { choices[below(choices.count)] }

    /// The time until the next request, `mean` on average: most are shorter, and some three times as long.
    mutating func gap(_ mean: Int) -> Int {
        let share = below(1000)
        return 3 * mean * share * share / 1_000_000
    }
}
