/// Hexadecimal text (RFC 4648 section 8), in lower case as HTTP Digest requires.
public enum Hex {
    public static func encode(_ bytes: [UInt8]) -> String {
        String(unsafeUninitializedCapacity: bytes.count * 2) { room in
            for (offset, byte) in bytes.enumerated() {
                room[offset * 2] = digit(byte >> 4)
                room[offset * 2 + 1] = digit(byte & 0xF)
            }
            return bytes.count * 2
        }
    }

    /// Nil if the length is odd or a character is not a hexadecimal digit.
    public static func decode(_ text: some StringProtocol) -> [UInt8]? { decode(Array(text.utf8).span) }

    /// Decodes without leaving a copy in memory: for secrets. Nil if the text is invalid.
    public static func decode(_ text: Span<UInt8>) -> [UInt8]? {
        guard text.count % 2 == 0 else { return nil }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.count / 2)
        for offset in stride(from: 0, to: text.count, by: 2) {
            guard let high = text[offset].hexValue, let low = text[offset + 1].hexValue else { return nil }
            bytes.append(high << 4 | low)
        }
        return bytes
    }

    private static func digit(_ value: UInt8) -> UInt8 { value < 10 ? 0x30 + value : 0x57 + value }
}
