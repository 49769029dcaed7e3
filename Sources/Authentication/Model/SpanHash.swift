import Bytes

/// A hash of bytes without an array or a string. It is good enough if a collision costs only a comparison or a
/// challenge.
public enum SpanHash {
    /// A hash that ignores ASCII case, seeded per process.
    public static func of(_ bytes: Span<UInt8>, seed: UInt64) -> UInt64 {
        hash(bytes, from: processSeed ^ seed, setting: caseBits)
    }

    /// A hash that is equal in each process, for data that replicas share and a store keeps.
    public static func stable(_ bytes: Span<UInt8>) -> UInt64 {
        hash(bytes, from: 0xA076_1D64_78BD_642F, setting: 0)
    }

    private static func hash(_ bytes: Span<UInt8>, from seed: UInt64, setting bits: UInt64) -> UInt64 {
        var hash = seed
        var offset = 0
        while offset &+ 8 <= bytes.count {
            hash = mixed(hash, bytes.word(at: offset) | bits)
            offset &+= 8
        }
        if offset < bytes.count {
            var word: UInt64 = 0
            if bytes.count >= 8 {
                word = bytes.word(at: bytes.count &- 8)
            } else {
                for place in 0..<bytes.count { word = word << 8 | UInt64(bytes[place]) }
            }
            hash = mixed(hash, word | bits)
        }
        return mixed(hash, UInt64(truncatingIfNeeded: bytes.count))
    }

    /// The bits that make capitals small. Some other bytes become equal too.
    private static let caseBits: UInt64 = 0x2020_2020_2020_2020

    private static func mixed(_ hash: UInt64, _ word: UInt64) -> UInt64 {
        let product = (hash ^ word).multipliedFullWidth(by: 0x9E37_79B9_7F4A_7C15)
        return product.high ^ product.low
    }

    private static let processSeed = UInt64.random(in: .min ... .max)
}
