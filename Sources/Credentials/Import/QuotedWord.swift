import Bytes

/// A word in double quotes in curl's format: a backslash escapes the next character, except for the letters that mean
/// control characters.
enum QuotedWord {
    /// The length of the text before the closing quote.
    ///
    /// - Parameters:
    ///   - text: begins after the opening quote.
    ///   - line: the line's number.
    /// - Throws: the line has no closing quote.
    static func length(in text: Span<UInt8>, line: Int) throws(CredentialFileKind.Problem) -> Int {
        var offset = 0
        while offset < text.count, text[offset] != .lineFeed {
            if text[offset] == .quote { return offset }
            offset += text[offset] == .backslash ? 2 : 1
        }
        throw CredentialFileKind.Problem(line: line, "a double quote is not closed in its line")
    }

    /// - Parameter text: the text without the quotes.
    static func unquoted(_ text: Span<UInt8>) -> [UInt8] {
        var bytes: [UInt8] = []
        // Reserved at once, since growing would leave copies of the secret in memory.
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
