/// Base64 (RFC 4648 section 4): the standard alphabet, padded. Decoding is strict. A decoder that skips unknown
/// characters reads another credential than its peer.
public enum Base64 {
    public static func encode(_ bytes: [UInt8]) -> String {
        var text: [UInt8] = []
        text.reserveCapacity(count(encoding: bytes.count))
        append(bytes, to: &text)
        return String(decoding: text, as: UTF8.self)
    }

    /// The text for URLs (RFC 4648 section 5), without padding.
    public static func encodeForURL(_ bytes: [UInt8]) -> String {
        encode(bytes).replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
    }

    /// The number of characters for this many bytes.
    public static func count(encoding count: Int) -> Int { (count + 2) / 3 * 4 }

    /// Appends the text of `bytes`. If `text` has enough capacity, no copy is left in memory: for secrets.
    public static func append(_ bytes: [UInt8], to text: inout [UInt8]) {
        var offset = 0
        while offset < bytes.count {
            let first = bytes[offset]
            let second = offset + 1 < bytes.count ? bytes[offset + 1] : 0
            let third = offset + 2 < bytes.count ? bytes[offset + 2] : 0
            text.append(symbol(first >> 2))
            text.append(symbol((first & 0x3) << 4 | second >> 4))
            text.append(offset + 1 < bytes.count ? symbol((second & 0xF) << 2 | third >> 6) : .equals)
            text.append(offset + 2 < bytes.count ? symbol(third & 0x3F) : .equals)
            offset += 3
        }
    }

    /// Nil if a character is outside the alphabet, the padding is wrong, or unused bits are not zero.
    public static func decode(_ text: some StringProtocol) -> [UInt8]? {
        let buffer = ByteBuffer(capacity: text.utf8.count)
        return decode(Array(text.utf8).span, into: buffer) ? buffer.readable.array : nil
    }

    /// Appends the decoded bytes. False, with some of them appended, if the text is invalid.
    public static func decode(_ text: Span<UInt8>, into buffer: ByteBuffer) -> Bool {
        decode(text) { buffer.append($0) }
    }

    /// Decodes without leaving a copy in memory: for secrets. Nil if the text is invalid.
    public static func decode(_ text: Span<UInt8>) -> [UInt8]? {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.count / 4 * 3)
        return decode(text) { bytes.append($0) } ? bytes : nil
    }

    private static func decode(_ text: Span<UInt8>, _ append: (UInt8) -> Void) -> Bool {
        guard text.count % 4 == 0 else { return false }
        var padding = 0
        while padding < 2, text.count > padding, text[text.count - 1 - padding] == .equals { padding += 1 }
        var bits: UInt32 = 0
        var held = 0
        for offset in 0..<text.count - padding {
            guard let value = value(of: text[offset]) else { return false }
            bits = bits << 6 | UInt32(value)
            held += 6
            if held >= 8 {
                held -= 8
                append(UInt8(truncatingIfNeeded: bits >> UInt32(held)))
                bits &= (1 << UInt32(held)) - 1
            }
        }
        return bits == 0 && held / 2 == padding
    }

    private static func symbol(_ value: UInt8) -> UInt8 {
        switch value {
        case 0..<26: 0x41 + value
        case 26..<52: 0x61 + value - 26
        case 52..<62: 0x30 + value - 52
        case 62: 0x2B
        default: 0x2F
        }
    }

    private static func value(of unit: UInt8) -> UInt8? {
        switch unit {
        case 0x41...0x5A: unit - 0x41
        case 0x61...0x7A: unit - 0x61 + 26
        case 0x30...0x39: unit - 0x30 + 52
        case 0x2B: 62
        case 0x2F: 63
        default: nil
        }
    }
}
