import Bytes

/// A finished digest: a value without an allocation, up to 32 bytes long.
public struct DigestValue: Sendable {
    var storage: InlineArray<32, UInt8>
    public let count: Int

    init(storage: InlineArray<32, UInt8>, count: Int) {
        self.storage = storage
        self.count = count
    }

    /// A digest that was made elsewhere; nil for more than 32 bytes.
    public init?(_ bytes: [UInt8]) {
        guard bytes.count <= 32 else { return nil }
        self.init(storage: InlineArray { $0 < bytes.count ? bytes[$0] : 0 }, count: bytes.count)
    }

    public var array: [UInt8] { storage.span.extracting(first: count).array }

    /// The first 128 bits as a number: enough to tell secrets apart by their codes.
    public var prefix128: UInt128 {
        var number: UInt128 = 0
        for offset in 0..<16 { number = number << 8 | UInt128(storage[offset]) }
        return number
    }

    /// Lends the digest as lower-case hexadecimal text.
    public func withHexadecimal<Result, Failure: Error>(
        _ body: (Span<UInt8>) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        var text = InlineArray<64, UInt8>(repeating: 0)
        var bytes = text.mutableSpan
        storage.span.withUnsafeBufferPointer { digest in
            bytes.withUnsafeMutableBufferPointer { text in
                for offset in 0..<count {
                    text[offset &* 2] = Self.digit(digest[offset] &>> 4)
                    text[offset &* 2 &+ 1] = Self.digit(digest[offset] & 0xF)
                }
            }
        }
        return try body(text.span.extracting(first: count * 2))
    }

    /// Without a branch, so that the loop becomes vector instructions: a digest is written out twice in every answer.
    private static func digit(_ value: UInt8) -> UInt8 { 0x30 &+ value &+ (value > 9 ? 0x27 : 0) }
}
