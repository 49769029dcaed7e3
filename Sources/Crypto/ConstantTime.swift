import COpenSSL

public enum ConstantTime {
    /// Whether the bytes are the same, in a time that depends on their number only.
    public static func equal(_ left: Span<UInt8>, _ right: Span<UInt8>) -> Bool {
        guard left.count == right.count else { return false }
        return left.withUnsafeBufferPointer { mine in
            right.withUnsafeBufferPointer { theirs in
                guard let first = mine.baseAddress, let second = theirs.baseAddress else { return true }
                return CRYPTO_memcmp(first, second, mine.count) == 0
            }
        }
    }
}
