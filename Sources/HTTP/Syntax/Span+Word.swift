import Bytes

// Short texts are compared as one number: the first byte in the lowest bits, ASCII letters converted to lower case by
// setting bit 5. That changes other bytes too, but only control characters become a letter, digit or hyphen.

private let caseBits: UInt64 = 0x2020_2020_2020_2020

/// The number of a lower-case text of at most eight bytes. For a literal the compiler computes a constant.
@inline(__always)
func word(_ text: StaticString) -> UInt64 {
    var word: UInt64 = 0
    for place in 0..<text.utf8CodeUnitCount { word |= unsafe UInt64(text.utf8Start[place]) << UInt64(place &* 8) }
    return word
}

extension Span<UInt8> {
    /// The number of the `count` bytes at `offset`, 1 to 8, unchanged.
    @inline(__always)
    func word(at offset: Int, count: Int) -> UInt64 {
        let mask = UInt64.max &>> UInt64(truncatingIfNeeded: 64 &- count &* 8)
        if offset &+ 8 <= self.count { return word(at: offset) & mask }
        return lastWord(at: offset, count: count)
    }

    /// The number of the bytes with letters in lower case. The bytes must not contain control characters.
    @inline(__always)
    func foldedWord(at offset: Int, count: Int) -> UInt64 {
        let mask = UInt64.max &>> UInt64(truncatingIfNeeded: 64 &- count &* 8)
        return (word(at: offset, count: count) | caseBits) & mask
    }

    /// Whether `text`, of at most eight bytes, is at `offset`; false if the span ends before it.
    @inline(__always)
    func holds(_ text: StaticString, at offset: Int) -> Bool {
        let length = text.utf8CodeUnitCount
        return offset &+ length <= count && word(at: offset, count: length) == HTTP.word(text)
    }

    @inline(__always)
    func isLineEnd(at offset: Int) -> Bool {
        offset &+ 2 <= count && self[offset] == .carriageReturn && self[offset &+ 1] == .lineFeed
    }

    @inline(never)
    private func lastWord(at offset: Int, count: Int) -> UInt64 {
        var word: UInt64 = 0
        for place in 0..<count { word |= UInt64(self[offset + place]) << UInt64(place * 8) }
        return word
    }
}
