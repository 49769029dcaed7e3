import Bytes

/// The words of a netrc file.
struct NetrcReader {
    struct Word {
        /// From 1.
        let line: Int
        let isQuoted: Bool
        /// Without the quotes.
        let range: Range<Int>

        func bytes(in text: Span<UInt8>) -> [UInt8] {
            isQuoted ? QuotedWord.unquoted(text.extracting(range)) : text.extracting(range).array
        }
    }

    private var offset = 0
    private var line = 1

    /// Nil at the end of the file.
    mutating func next(_ text: Span<UInt8>) throws(CredentialFileProblem) -> Word? {
        skipBlanks(text)
        guard offset < text.count else { return nil }
        return text[offset] == .quote ? try quoted(text) : plain(text)
    }

    /// The word behind a keyword.
    mutating func value(
        of keyword: String, _ text: Span<UInt8>, behind line: Int
    ) throws(CredentialFileProblem) -> Word {
        guard let word = try next(text) else {
            throw CredentialFileProblem(line: line, "'\(keyword)' has nothing behind it")
        }
        return word
    }

    /// To the empty line behind a macro, or to the end of the file.
    mutating func skipMacro(_ text: Span<UInt8>) {
        skipLine(text)
        while offset < text.count {
            let isEmpty = text[offset] == .lineFeed || text[offset] == .carriageReturn
            skipLine(text)
            if isEmpty { return }
        }
    }

    private mutating func skipBlanks(_ text: Span<UInt8>) {
        var isAtLineStart = offset == 0 || text[offset - 1] == .lineFeed
        while offset < text.count, text[offset] <= .space || isAtLineStart && text[offset] == UInt8(ascii: "#") {
            if text[offset] == UInt8(ascii: "#") {
                skipLine(text)
            } else {
                if text[offset] == .lineFeed {
                    line += 1
                    isAtLineStart = true
                }
                offset += 1
            }
        }
    }

    private mutating func skipLine(_ text: Span<UInt8>) {
        while offset < text.count, text[offset] != .lineFeed { offset += 1 }
        guard offset < text.count else { return }
        offset += 1
        line += 1
    }

    private mutating func plain(_ text: Span<UInt8>) -> Word {
        let start = offset
        while offset < text.count, text[offset] > .space { offset += 1 }
        return Word(line: line, isQuoted: false, range: start..<offset)
    }

    private mutating func quoted(_ text: Span<UInt8>) throws(CredentialFileProblem) -> Word {
        offset += 1
        guard let length = QuotedWord.length(in: text.extracting(droppingFirst: offset)) else {
            throw CredentialFileProblem(line: line, "a double quote is not closed in its line")
        }
        let start = offset
        offset += length + 1
        return Word(line: line, isQuoted: true, range: start..<start + length)
    }
}
