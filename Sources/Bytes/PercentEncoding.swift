/// Percent-encoding (RFC 3986 section 2.1).
public enum PercentEncoding {
    /// Appends the bytes, those above 0x7F encoded and all others unchanged.
    public static func appendASCII(_ bytes: Span<UInt8>, to buffer: ByteBuffer) {
        for offset in 0..<bytes.count {
            let byte = bytes[offset]
            if byte < 0x80 { buffer.append(byte) } else { buffer.append(escaped(byte)) }
        }
    }

    /// The text as printable ASCII: all other bytes are encoded, and `%`.
    public static func printable(_ text: String) -> [UInt8] {
        var bytes: [UInt8] = []
        for byte in text.utf8 {
            if (0x20...0x7E).contains(byte), byte != UInt8(ascii: "%") {
                bytes.append(byte)
            } else {
                bytes += escaped(byte)
            }
        }
        return bytes
    }

    /// Appends a byte of a component: unreserved characters (section 2.3) unchanged, others encoded.
    public static func append(_ byte: UInt8, to bytes: inout [UInt8]) {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
            UInt8(ascii: "~"):
            bytes.append(byte)
        default: bytes += escaped(byte)
        }
    }

    /// The bytes of a component, encoded as by `append`.
    public static func encode(_ bytes: some Sequence<UInt8>) -> [UInt8] {
        var encoded: [UInt8] = []
        for byte in bytes { append(byte, to: &encoded) }
        return encoded
    }

    /// A digit in upper case, as RFC 3986 section 2.1 recommends.
    private static func digit(_ value: UInt8) -> UInt8 { value < 10 ? 0x30 + value : 0x37 + value }

    private static func escaped(_ byte: UInt8) -> [UInt8] { [.percent, digit(byte >> 4), digit(byte & 0xF)] }

    /// The decoded bytes; nil if a `%` is not followed by two hexadecimal digits.
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
