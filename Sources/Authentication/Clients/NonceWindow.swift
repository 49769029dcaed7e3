/// The counts of one nonce that were used: the highest, and which of those just below it. A client with many requests
/// under way has them arrive in any order, so each count that was not seen is good, as long as it is not too far
/// behind.
struct NonceWindow: Sendable, Equatable {
    /// How far behind the highest a count may come in.
    static let width: UInt32 = 128

    private(set) var highest: UInt32
    /// The lowest bit is that of `highest`, the next that of the count below it.
    private var seen: UInt128

    /// - Parameter count: the one that is used now.
    init(_ count: UInt32) {
        highest = count
        seen = 1
    }

    /// Whether the count is used for the first time, as far as that is known.
    mutating func use(_ count: UInt32) -> Bool {
        if count > highest {
            let step = count - highest
            seen = step < Self.width ? seen << UInt128(step) | 1 : 1
            highest = count
            return true
        }
        let behind = highest - count
        guard behind < Self.width, seen & 1 << UInt128(behind) == 0 else { return false }
        seen |= 1 << UInt128(behind)
        return true
    }
}
