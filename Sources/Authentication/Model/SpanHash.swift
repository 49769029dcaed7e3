import Bytes

/// A hash of bytes, regardless of ASCII case, that needs neither an array nor a string of them. Seeded per process;
/// good enough where a collision costs a comparison or a challenge.
public enum SpanHash {
    public static func of(_ bytes: Span<UInt8>, seed: UInt64) -> UInt64 {
        var hash = processSeed ^ seed
        var word: UInt64 = 0
        for offset in 0..<bytes.count {
            word = word << 8 | UInt64(bytes[offset].asciiLowercased)
            if offset & 7 == 7 {
                hash = mixed(hash, word)
                word = 0
            }
        }
        return mixed(mixed(hash, word), UInt64(truncatingIfNeeded: bytes.count))
    }

    private static func mixed(_ hash: UInt64, _ word: UInt64) -> UInt64 {
        let product = (hash ^ word).multipliedFullWidth(by: 0x9E37_79B9_7F4A_7C15)
        return product.high ^ product.low
    }

    private static let processSeed = UInt64.random(in: .min ... .max)
}
