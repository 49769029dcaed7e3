import Bytes

/// A line of curl's configuration file.
struct CurlOption {
    /// From 1.
    let line: Int
    /// The long name, without dashes.
    let name: String
    /// In the file, without quotes around it.
    let value: Range<Int>
    let isQuoted: Bool

    /// The letters of the options that matter here.
    private static let letters: [UInt8: String] = [
        UInt8(ascii: "u"): "user", UInt8(ascii: "U"): "proxy-user", UInt8(ascii: "x"): "proxy",
        UInt8(ascii: "H"): "header", UInt8(ascii: "K"): "config", UInt8(ascii: "E"): "cert",
        UInt8(ascii: "n"): "netrc", UInt8(ascii: "b"): "cookie", .colon: "next",
    ]

    /// Nil for a line that is empty or a comment, and for a short option that says nothing of credentials.
    init?(in text: Span<UInt8>, _ range: Range<Int>, line: Int) throws(CredentialFileProblem) {
        self.line = line
        var offset = Self.skipSpace(text, range)
        guard offset < range.upperBound, !"#/*".utf8.contains(text[offset]) else { return nil }
        let start = offset
        let hasDashes = text[start] == UInt8(ascii: "-")
        let isSeparator = { (byte: UInt8) in byte <= .space || !hasDashes && (byte == .equals || byte == .colon) }
        while offset < range.upperBound, !isSeparator(text[offset]) { offset += 1 }
        let word = text.extracting(start..<offset)
        if hasDashes, word.count > 1, word[1] != UInt8(ascii: "-") {
            guard let name = try Self.shortName(word, line: line) else { return nil }
            self.name = name
            // A value may stand right behind the letter.
            if word.count > 2 { offset = start + 2 }
        } else {
            // A dash by itself is the name of nothing.
            name = word.extracting(droppingFirst: min(hasDashes ? 2 : 0, word.count)).text
        }
        while offset < range.upperBound, isSeparator(text[offset]) { offset += 1 }
        let rest = text.extracting(offset..<range.upperBound)
        if rest.count > 0, rest[0] == .quote {
            guard let length = QuotedWord.length(in: rest.extracting(droppingFirst: 1)) else {
                throw CredentialFileProblem(line: line, "a double quote is not closed in its line")
            }
            value = offset + 1..<offset + 1 + length
            isQuoted = true
        } else {
            let start = offset
            while offset < range.upperBound, text[offset] > .space { offset += 1 }
            value = start..<offset
            isQuoted = false
            let behind = Self.skipSpace(text, offset..<range.upperBound)
            if behind < range.upperBound, text[behind] != UInt8(ascii: "#"), Self.letters.values.contains(name) {
                throw CredentialFileProblem(
                    line: line, "the value of '\(name)' has a blank in it: curl wants it in double quotes")
            }
        }
    }

    func bytes(in text: Span<UInt8>) -> [UInt8] {
        isQuoted ? QuotedWord.unquoted(text.extracting(value)) : text.extracting(value).array
    }

    private static func skipSpace(_ text: Span<UInt8>, _ range: Range<Int>) -> Int {
        var offset = range.lowerBound
        while offset < range.upperBound, text[offset] <= .space { offset += 1 }
        return offset
    }

    /// Nil when the letters say nothing of credentials.
    private static func shortName(_ word: Span<UInt8>, line: Int) throws(CredentialFileProblem) -> String? {
        if let name = letters[word[1]] { return name }
        for offset in 2..<max(word.count, 2) where letters[word[offset]] != nil {
            throw CredentialFileProblem(
                line: line, "several short options in one word are not read: say each in a line of its own")
        }
        return nil
    }
}
