import Bytes

/// The colours of a terminal, whose settings define the shades. The values are the sequences that begin them.
enum ConsoleColour: String {
    case green = "\u{1B}[32m"
    case cyan = "\u{1B}[36m"
    case yellow = "\u{1B}[33m"
    case red = "\u{1B}[31m"
    case faint = "\u{1B}[2m"
}

/// Writes lines for a person at a terminal. Text from outside cannot control the terminal.
extension ByteBuffer {
    /// Appends text from outside. Invisible characters are written as `\u{202e}`, bytes that are not UTF-8 as `\xff`.
    ///
    /// - Parameter isQuoted: whether the text is in quotes. Quotes and backslashes are then escaped by a backslash.
    func append(console bytes: Span<UInt8>, isQuoted: Bool = false) {
        var offset = 0
        while offset < bytes.count {
            guard let scalar = bytes.scalar(at: offset) else {
                append("\\x")
                append(hexadecimal: Int(bytes[offset]), digits: 2)
                offset += 1
                continue
            }
            let length = scalar.utf8Length
            if scalar.isInvisible {
                append("\\u{")
                append(hexadecimal: Int(scalar.value))
                append(UInt8(ascii: "}"))
            } else {
                if isQuoted, scalar == "\"" || scalar == "\\" { append(.backslash) }
                append(bytes.extracting(offset..<offset + length))
            }
            offset += length
        }
    }

    /// Appends a text, truncated if it is too long for a line.
    func append(console text: String) {
        let shown = text.unicodeScalars.prefix(Self.longestConsoleText)
        append(console: String(shown).utf8Span.span)
        if shown.endIndex != text.unicodeScalars.endIndex { append("…") }
    }

    private static let longestConsoleText = 1024

    /// Appends the time of day in UTC.
    func append(consoleTime time: CivilTime, inColours hasColours: Bool) {
        begin(.faint, if: hasColours)
        append(clock: time)
        append(UInt8(ascii: "Z"))
        endColour(if: hasColours)
    }

    func append(_ word: String, in colour: ConsoleColour, if hasColours: Bool) {
        begin(colour, if: hasColours)
        append(word)
        endColour(if: hasColours)
    }

    func begin(_ colour: ConsoleColour, if hasColours: Bool) {
        if hasColours { append(colour.rawValue) }
    }

    func endColour(if hasColours: Bool) {
        if hasColours { append("\u{1B}[0m") }
    }
}
