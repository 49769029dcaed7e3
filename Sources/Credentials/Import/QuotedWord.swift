import Bytes

/// A word in double quotes as curl writes it: a backslash takes the next character as it is, but for the letters that
/// stand for control characters.
enum QuotedWord {
    /// Of what stands before the closing quote; nil when there is none in this line.
    ///
    /// - Parameter text: begins behind the opening quote.
    static func length(in text: Span<UInt8>) -> Int? {
        var offset = 0
        while offset < text.count, text[offset] != .lineFeed {
            if text[offset] == .quote { return offset }
            offset += text[offset] == .backslash ? 2 : 1
        }
        return nil
    }

    /// - Parameter text: without the quotes.
    static func unquoted(_ text: Span<UInt8>) -> [UInt8] {
        var bytes: [UInt8] = []
        // Grown in place, it would leave pieces of itself behind.
        bytes.reserveCapacity(text.count)
        var offset = 0
        while offset < text.count {
            if text[offset] == .backslash, offset + 1 < text.count {
                offset += 1
                bytes.append(escaped(text[offset]))
            } else {
                bytes.append(text[offset])
            }
            offset += 1
        }
        return bytes
    }

    private static func escaped(_ byte: UInt8) -> UInt8 {
        switch byte {
        case UInt8(ascii: "n"): .lineFeed
        case UInt8(ascii: "r"): .carriageReturn
        case UInt8(ascii: "t"): .tab
        case UInt8(ascii: "v"): 0x0B
        default: byte
        }
    }
}
