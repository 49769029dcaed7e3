import Bytes

/// The colours of a terminal, which its own settings say the shades of.
enum ConsoleColour {
    case green
    case cyan
    case yellow
    case red
    case faint

    fileprivate var sequence: StaticString {
        switch self {
        case .green: "\u{1B}[32m"
        case .cyan: "\u{1B}[36m"
        case .yellow: "\u{1B}[33m"
        case .red: "\u{1B}[31m"
        case .faint: "\u{1B}[2m"
        }
    }
}

/// How lines are written for a person before a terminal, which no text of others steers.
extension ByteBuffer {
    /// A text of others: what shows nothing itself is named as `\u{202e}`, a byte that is not part of UTF-8 as `\xff`.
    ///
    /// - Parameter isQuoted: whether it stands in quotes: its own and backslashes then stand behind a backslash.
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

    /// A whole text, cut where it is too long for a line.
    func append(console text: String) {
        let shown = text.unicodeScalars.prefix(Self.longestConsoleText)
        append(console: String(shown).utf8Span.span)
        if shown.endIndex != text.unicodeScalars.endIndex { append("…") }
    }

    private static let longestConsoleText = 1024

    /// The time of day, UTC.
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
        if hasColours { append(colour.sequence) }
    }

    func endColour(if hasColours: Bool) {
        if hasColours { append("\u{1B}[0m") }
    }
}
