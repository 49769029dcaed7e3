/// How far a coded body may expand before it is taken for a bomb.
public struct InflationLimits: Sendable {
    /// Decoded bytes for each coded byte. Deflate itself reaches 1032; text rarely passes 20.
    public let ratio: Int
    /// Decoded bytes for which no ratio is asked, since short bodies of one repeated byte are harmless.
    public let freeBytes: Int

    /// A ratio below 1 is taken as 1.
    public init(ratio: Int = 100, freeBytes: Int = 1 << 20) {
        self.ratio = max(ratio, 1)
        self.freeBytes = freeBytes
    }
}
