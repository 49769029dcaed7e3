import Bytes

/// A keyed hash of bytes that needs neither an array nor a string of them.
enum SpanHash {
    static func of(_ bytes: Span<UInt8>, seed: UInt64) -> UInt64 {
        var hasher = Hasher()
        hasher.combine(seed)
        var word: UInt64 = 0
        for offset in 0..<bytes.count {
            word = word << 8 | UInt64(bytes[offset].asciiLowercased)
            if offset & 7 == 7 {
                hasher.combine(word)
                word = 0
            }
        }
        hasher.combine(word)
        hasher.combine(bytes.count)
        return UInt64(truncatingIfNeeded: hasher.finalize())
    }
}
