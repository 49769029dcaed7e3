/// Percent-encoding (RFC 3986 section 2.1).
public enum PercentEncoding {
    /// The decoded bytes; nil when a `%` is not followed by two hexadecimal digits.
    public static func decode(_ bytes: Span<UInt8>) -> [UInt8]? {
        var decoded: [UInt8] = []
        decoded.reserveCapacity(bytes.count)
        var offset = 0
        while offset < bytes.count {
            if bytes[offset] != 0x25 {
                decoded.append(bytes[offset])
                offset += 1
                continue
            }
            guard offset + 2 < bytes.count, let high = bytes[offset + 1].hexValue,
                let low = bytes[offset + 2].hexValue
            else { return nil }
            decoded.append(high << 4 | low)
            offset += 3
        }
        return decoded
    }
}
