/// Which counts of one nonce have been used (RFC 7616 section 3.4, `nc`).
///
/// Requests of one client overtake each other on their connections, so a count may come after a higher one, once, as
/// long as it is not too far behind.
struct CountWindow: Equatable {
    private var highest: UInt32 = 0
    /// Bit n stands for the count `highest - n`.
    private var used: UInt128 = 0

    /// Uses a count up. False: it was used before, may have been, or is none.
    mutating func use(_ count: UInt32) -> Bool {
        guard count > 0 else { return false }
        if count > highest {
            used = used << (count - highest) | 1
            highest = count
            return true
        }
        let age = highest - count
        guard age < UInt128.bitWidth, used >> age & 1 == 0 else { return false }
        used |= 1 << age
        return true
    }
}
