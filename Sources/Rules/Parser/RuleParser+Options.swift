/// Words on one line, each with its values behind it.
extension RuleParser {
    struct Option<Word> {
        let word: Word
        let keyword: Value
        var values: [Value] = []
    }

    /// `WORD VALUE … WORD VALUE …`. A value that is one of the words stands in quotes.
    func options<Word: RawRepresentable<String> & CaseIterable>(
        _: Word.Type, in values: ArraySlice<Value>, isSound: inout Bool
    ) -> [Option<Word>] {
        var options: [Option<Word>] = []
        for value in values {
            if let word = Word(rawValue: value.text), !value.isQuoted {
                options.append(Option(word: word, keyword: value))
            } else if options.isEmpty {
                // What follows a word that is none belongs to it.
                if isSound { _ = keyword(value, Word.self) }
                isSound = false
            } else {
                options[options.count - 1].values.append(value)
            }
        }
        return options
    }

    func onePath<Word>(_ option: Option<Word>) -> String? {
        guard let first = option.values.first else {
            log.report(at: option.keyword.range, "\(option.keyword.shown) needs a path")
            return nil
        }
        if option.values.count > 1 { refuse(option.values[1], "\(option.keyword.shown) takes one path") }
        return path(first)
    }
}
