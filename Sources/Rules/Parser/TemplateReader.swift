/// Reads a text with words in braces, such as `Token {token}`.
enum TemplateReader {
    /// - Parameters:
    ///   - words: the words that are allowed in braces, and the part for each.
    ///   - refuse: called with a word that is not allowed.
    /// - Returns: the parts; nil if a word is not allowed.
    static func parts<Part>(
        of text: Substring, _ words: [(word: String, part: Part)], text literalPart: (String) -> Part,
        refusing refuse: (Substring) -> Void
    ) -> [Part]? {
        var parts: [Part] = []
        var literal = ""
        var rest = text
        while let first = rest.first {
            let end = first == "{" ? rest.firstIndex(of: "}") : nil
            let word = end.map { rest[rest.index(after: rest.startIndex)..<$0] }
            guard let end, let word, !word.isEmpty, word.utf8.allSatisfy({ (0x61...0x7A).contains($0) }) else {
                literal.append(first)
                rest = rest.dropFirst()
                continue
            }
            guard let part = words.first(where: { $0.word == word })?.part else {
                refuse(word)
                return nil
            }
            if !literal.isEmpty { parts.append(literalPart(literal)) }
            literal = ""
            parts.append(part)
            rest = rest[rest.index(after: end)...]
        }
        if !literal.isEmpty { parts.append(literalPart(literal)) }
        return parts
    }
}
