extension Span<UInt8> {
    /// The eight bytes at `offset` as one number, the first in the lowest bits.
    @inline(__always)
    public func word(at offset: Int) -> UInt64 {
        precondition(offset >= 0 && offset &+ 8 <= count, "word outside the span")
        return withUnsafeBytes { $0.loadUnaligned(fromByteOffset: offset, as: UInt64.self).littleEndian }
    }
}
