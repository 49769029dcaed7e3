import Rules

/// A command's arguments, parsed as by GNU programs: options may be anywhere, a value follows `=` or is the next word,
/// `--` ends the options.
struct Arguments: Sendable {
    private let syntax: CommandSyntax
    private(set) var operands: [String] = []
    private var values: [String: [String]] = [:]
    /// Whether `--help` or `-h` is among them; the other arguments are then not checked.
    private(set) var wantsHelp = false

    init(_ words: [String], for syntax: CommandSyntax) throws(CommandError) {
        self.syntax = syntax
        var rest = words[...]
        while let word = rest.popFirst() {
            if word == "--" {
                operands += rest
                break
            }
            guard word.hasPrefix("-"), word != "-" else {
                operands.append(word)
                continue
            }
            if word == "--help" || word == "-h" {
                wantsHelp = true
                return
            }
            try readOption(word, &rest)
        }
        try checkOperands()
    }

    /// The value of an option that may be given at most once.
    func value(of option: String) -> String? { values[option]?.last }

    /// Whether an option was given.
    func has(_ option: String) -> Bool { values[option] != nil }

    /// Throws if one of the options was given. `reason` follows its name.
    func refuse(_ options: [String], _ reason: String) throws(CommandError) {
        if let option = options.first(where: has) { throw error("'--\(option)' \(reason)") }
    }

    /// The value of an option that is 'yes' or 'no'; nil if it was not given.
    func yesOrNo(_ option: String) throws(CommandError) -> Bool? {
        switch value(of: option) {
        case nil: return nil
        case "yes": return true
        case "no": return false
        default: throw error("'--\(option)' is 'yes' or 'no'")
        }
    }

    /// All values of an option, in their order.
    func values(of option: String) -> [String] { values[option] ?? [] }

    /// Returns the operand of that number; nil if there are fewer.
    func operand(_ number: Int) -> String? {
        operands.indices.contains(number) ? operands[number] : nil
    }

    /// The value that a word names. `what` says in an error what the word is.
    func choice<Choice: RawRepresentable<String> & CaseIterable>(
        _ what: String, _ word: String
    ) throws(CommandError) -> Choice {
        guard let choice = Choice(rawValue: word) else {
            throw error(Self.unknown(what, word, among: Choice.allCases.map(\.rawValue)))
        }
        return choice
    }

    /// The rule file of `--config`, or of an operand that means the same.
    func ruleFile(or operand: String?) throws(CommandError) -> String? {
        guard let named = value(of: "config") else { return operand }
        if operand != nil { throw error("'--config' and FILE are the same: leave one of them out") }
        return named
    }

    /// The error of a wrong command line, with the command's usage.
    func error(_ sentence: String) -> CommandError { .usage(sentence, hint: syntax.hint) }

    private mutating func readOption(_ word: String, _ rest: inout ArraySlice<String>) throws(CommandError) {
        let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        guard let option = syntax.options.first(where: { "--\($0.name)" == parts.first }) else {
            let known = syntax.options.map { "--\($0.name)" } + ["--help"]
            throw error(Self.unknown("option", parts.first ?? word, among: known))
        }
        if option.value == nil, parts.count > 1 { throw error("option '--\(option.name)' has no value") }
        guard let value = option.value == nil ? "" : parts.count > 1 ? parts[1] : rest.popFirst() else {
            throw error("option '--\(option.name)' needs a value: \(option.label)")
        }
        if values[option.name] != nil, !option.isRepeatable {
            throw error("option '--\(option.name)' is written twice")
        }
        values[option.name, default: []].append(value)
    }

    private func checkOperands() throws(CommandError) {
        if operands.count > syntax.operands.count {
            // A surplus word is not repeated: the user may have typed a password.
            let names = Self.list(syntax.operands.map(\.name))
            throw error("\(syntax.name) takes \(names.isEmpty ? "no arguments" : "\(names) and no more")")
        }
        let missing = syntax.operands.filter { !$0.isOptional }.dropFirst(operands.count).map(\.name)
        guard !missing.isEmpty else { return }
        throw error("\(Self.list(missing)) \(missing.count == 1 ? "is" : "are") missing")
    }

    /// Returns the names as people list them.
    static func list(_ names: [String]) -> String {
        guard names.count > 1, let last = names.last else { return names.first ?? "" }
        return "\(names.dropLast().joined(separator: ", ")) and \(last)"
    }

    /// Returns "unknown option", and the option that was probably meant.
    static func unknown(_ what: String, _ word: String, among known: [String]) -> String {
        let meant = Suggestion.nearest(to: word, among: known).map { "; did you mean '\($0)'?" } ?? ""
        return "unknown \(what) '\(Console.printable(word))'\(meant)"
    }
}
