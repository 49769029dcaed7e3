import Bytes
import Model

/// Parses each kind of value, and reports what is wrong. A function that returns nil has reported an error.
struct ValueParser {
    let log: Diagnostic.Log
    let sources: SourceMap
    let reader: any SourceReader

    /// Reports an error in a value. A value from the environment or another file is not quoted, not even as a
    /// suggestion.
    func refuse(_ value: Value, _ sentence: String, suggestion: String? = nil) {
        let mayShow = value.source == .written && !value.isSecret
        log.report(at: value.range, sentence, suggestion: mayShow ? suggestion : nil)
    }

    func keyword<Word: RawRepresentable<String> & CaseIterable>(_ value: Value, _: Word.Type) -> Word? {
        if let word = Word(rawValue: value.text) { return word }
        let words = Word.allCases.map(\.rawValue)
        let suggestion = Suggestion.nearest(to: value.text, among: words)
        let isLong = suggestion != nil && words.count > 9
        let choices = isLong ? "the \(words.count) words that are valid here" : words.joined(separator: ", ")
        refuse(value, "\(value.shown) is none of \(choices)", suggestion: suggestion)
        return nil
    }

    func yesOrNo(_ value: Value) -> Bool? {
        switch value.text {
        case "yes": return true
        case "no": return false
        default:
            let isTrue = ["on", "true", "1", "always", "Yes", "YES"].contains(value.text)
            let isFalse = ["off", "false", "0", "never", "No", "NO"].contains(value.text)
            refuse(
                value, "\(value.shown) is neither 'yes' nor 'no'",
                suggestion: isTrue ? "yes" : isFalse ? "no" : Suggestion.nearest(to: value.text, among: ["yes", "no"]))
            return nil
        }
    }

    func number(_ value: Value, _ range: ClosedRange<Int>, or words: [String] = []) -> Int? {
        if let number = Self.decimal(value.text), range.contains(number) { return number }
        let not = words.isEmpty ? "not" : "neither " + words.map { "'\($0)' nor" }.joined(separator: " ")
        refuse(
            value, "\(value.shown) is \(not) a number from \(range.lowerBound) to \(range.upperBound)",
            suggestion: Suggestion.nearest(to: value.text, among: words))
        return nil
    }

    /// Parses a size in bytes: a number, with `k`, `m` or `g` for its power of 1024.
    func size(_ value: Value, _ range: ClosedRange<Int>) -> Int? {
        let shifts: [Character: Int] = ["k": 10, "m": 20, "g": 30]
        let shift = value.text.last.flatMap { shifts[$0] }
        let digits = shift == nil ? value.text : String(value.text.dropLast())
        if let number = Self.decimal(digits), number <= Int.max >> (shift ?? 0), range.contains(number << (shift ?? 0))
        {
            return number << (shift ?? 0)
        }
        let bounds = "from \(Self.size(range.lowerBound)) to \(Self.size(range.upperBound))"
        let lower = value.text.lowercased().filter { $0 != " " && $0 != "b" && $0 != "i" }
        let isClose = lower != value.text && Self.decimal(String(lower.dropLast())) != nil
        refuse(
            value, "\(value.shown) is not a size \(bounds), such as 64k, 64m or 1g",
            suggestion: isClose && lower.last.map { shifts[$0] != nil } ?? false ? lower : nil)
        return nil
    }

    /// Parses a duration: a number with `ms`, `s`, `m` or `h`.
    func duration(_ value: Value) -> Milliseconds? {
        let units: [(suffix: String, length: Milliseconds)] = [
            ("ms", 1), ("s", .seconds(1)), ("m", .minutes(1)), ("h", .hours(1)),
        ]
        let longest = Milliseconds.days(7)
        for unit in units where value.text.hasSuffix(unit.suffix) {
            guard let number = Self.decimal(String(value.text.dropLast(unit.suffix.utf8.count))) else { continue }
            if number > 0, unit.length * number <= longest { return unit.length * number }
            refuse(value, "\(value.shown) is not a duration from 1ms to 168h")
            return nil
        }
        if Self.decimal(value.text) != nil {
            refuse(value, "a duration has a unit: ms, s, m or h", suggestion: value.text + "s")
        } else {
            refuse(value, "\(value.shown) is not a duration such as 500ms, 10s, 5m or 1h")
        }
        return nil
    }

    func endpoint(_ value: Value) -> Endpoint? {
        if let endpoint = Endpoint(value.text) { return endpoint }
        let text = value.text
        var suggestion: String?
        if Self.port(text) != nil {
            suggestion = "127.0.0.1:\(text)"
        } else if let colon = text.lastIndex(of: ":"), let port = Self.port(String(text[text.index(after: colon)...])) {
            switch text[..<colon] {
            case "localhost": suggestion = "127.0.0.1:\(port)"
            case "", "*": suggestion = "0.0.0.0:\(port)"
            case let host: suggestion = IPAddress(host).map { Endpoint($0, port).description }
            }
        }
        suggestion = suggestion ?? IPAddress(text).map { Endpoint($0, 3128).description }
        refuse(value, "\(value.shown) is not an address and a port, such as 127.0.0.1:3128", suggestion: suggestion)
        return nil
    }

    func prefix(_ value: Value) -> AddressPrefix? {
        do throws(AddressPrefix.Fault) {
            return try AddressPrefix(value.text)
        } catch {
            refuse(value, error)
            return nil
        }
    }

    func refuse(_ value: Value, _ fault: AddressPrefix.Fault) {
        switch fault {
        case .notAnAddress:
            refuse(value, "\(value.shown) is not an address or a block such as 10.0.0.0/8")
        case .badLength:
            refuse(value, "the prefix length of \(value.shown) is too large for its address")
        case .hostBits(let block):
            refuse(value, "\(value.shown) has bits set after its prefix", suggestion: block.description)
        }
    }

    func hostPattern(_ value: Value, _ text: String) -> HostPattern? {
        do throws(HostPattern.Fault) {
            let pattern = try HostPattern(text)
            warnOfStars(value, text)
            return pattern
        } catch {
            let suggestion = (error.suggestion ?? asciiForm(text)).map { whole(value, with: $0, insteadOf: text) }
            refuse(value, "\(value.shown) is not a host pattern: \(error.sentence)", suggestion: suggestion)
            return nil
        }
    }

    private func asciiForm(_ text: String) -> String? {
        let start = text.hasPrefix("*.") ? 2 : 0
        guard text.utf8.count <= 1024, text.utf8.contains(where: { $0 >= 0x80 }),
            let name = reader.asciiForm(ofHost: String(text.dropFirst(start)))
        else { return nil }
        let ascii = String(text.prefix(start)) + name
        return (try? HostPattern(ascii)) == nil ? nil : ascii
    }

    /// Returns the value with another host at its beginning, as in `example.com:80`.
    private func whole(_ value: Value, with host: String, insteadOf text: String) -> String {
        value.text.hasPrefix(text) ? host + value.text.dropFirst(text.count) : host
    }

    /// Warns of `**`, which other programs use for any number of labels.
    private func warnOfStars(_ value: Value, _ text: String) {
        let bytes = Array(text.utf8)
        guard bytes.firstIndex(ofWord: "**") != nil else { return }
        var single: [UInt8] = []
        for byte in bytes where byte != UInt8(ascii: "*") || single.last != byte { single.append(byte) }
        let suggestion = whole(value, with: String(decoding: single, as: UTF8.self), insteadOf: text)
        let mayShow = value.source == .written && !value.isSecret
        log.report(
            .warning, at: value.range, "write one '*': it matches a part of one label, and no dot",
            suggestion: mayShow ? suggestion : nil)
    }

    /// Parses ports and ranges `LOW-HIGH`, or `any`.
    func ports(_ values: [Value], mayBeAny: Bool) -> PortSet? {
        if mayBeAny, values.count == 1, values[0].text == "any" { return .any }
        var ranges: [ClosedRange<UInt16>] = []
        var isSound = true
        for value in values {
            let parts = value.text.split(separator: "-", maxSplits: 1, omittingEmptySubsequences: false)
            let bounds = parts.compactMap { Self.port(String($0)) }
            if bounds.count == parts.count, let low = bounds.first, let high = bounds.last, 0 < low, low <= high {
                ranges.append(low...high)
            } else {
                let isAny = mayBeAny && value.text == "any"
                refuse(value, isAny ? "'any' stands alone" : "\(value.shown) is not a port from 1 to 65535")
                isSound = false
            }
        }
        return isSound ? PortSet(ranges: ranges) : nil
    }

    /// Returns the path of a file or directory, resolved against the directory of the file that names it.
    func path(_ value: Value) -> String {
        if value.text.isEmpty || value.text.utf8.contains(0) { refuse(value, "expected a path") }
        return sources.file(value.range.file)?.resolve(value.text) ?? value.text
    }

    /// Parses `HOST`, `HOST:PORT`, `[V6]`, `[V6]:PORT`; a bare IPv6 address has no port.
    func splitPort(_ value: Value) -> (host: String, port: UInt16?)? {
        let text = value.text
        var colon: String.Index?
        if text.hasPrefix("["), let close = text.lastIndex(of: "]") {
            let after = text.index(after: close)
            if after < text.endIndex { colon = after }
        } else if text.utf8.count(where: { $0 == .colon }) == 1 {
            colon = text.firstIndex(of: ":")
        }
        guard let colon, Array(text.utf8).firstIndex(ofWord: "://") == nil else { return (text, nil) }
        guard text[colon] == ":", let port = Self.port(String(text[text.index(after: colon)...])), port > 0 else {
            refuse(value, "\(value.shown) does not end in a port from 1 to 65535")
            return nil
        }
        return (String(text[..<colon]), port)
    }

    static func decimal(_ text: String) -> Int? {
        guard (1...18).contains(text.utf8.count), text.utf8.allSatisfy(\.isDigit) else { return nil }
        return Int(text)
    }

    static func port(_ text: String) -> UInt16? {
        decimal(text).flatMap { UInt16(exactly: $0) }
    }

    static func size(_ bytes: Int) -> String {
        // Not a loop over pairs: the compiler unrolls one, and its code then differs from build to build.
        let units = ["", "k", "m", "g"]
        let power = bytes == 0 ? 0 : min(bytes.trailingZeroBitCount / 10, units.count - 1)
        return "\(bytes >> (10 * power))\(units[power])"
    }

    func secret(_ value: Value) -> ValueSource? {
        switch value.source {
        case .environment(let name): return .environment(name)
        case .file(let path): return .file(path)
        case .command(let words): return .command(CommandSource(words))
        case .written:
            // RFC 7617 section 2: user and password must not contain a control character.
            if value.text.unicodeScalars.contains(where: { $0.properties.generalCategory == .control }) {
                refuse(value, "a control character cannot be sent in a credential")
                return nil
            }
            return .literal(RedactedText(value.text))
        }
    }

    /// Whether secrets may be sent to a URL. If not, that was reported.
    func isSafe(_ url: HTTPEndpoint, _ value: Value, _ kind: String) -> Bool {
        if url.isSafe { return true }
        refuse(
            value, "the URL of \(kind) must be https, or on this machine",
            suggestion: "https" + value.text.dropFirst(4))
        return false
    }

    /// Whether the text is a program that is started without a shell. If it is not, that was reported.
    func isProgram(_ name: String, at range: SourceRange, isSecret: Bool) -> Bool {
        if name.hasPrefix("/"), name.utf8.count > 1 { return true }
        if name.hasPrefix(CommandSource.socketPrefix) {
            log.report(
                at: range,
                "'run' starts a program, and this is a socket: write the whole credential as 'helper plain unix:PATH'")
            return false
        }
        if !name.isEmpty, !name.contains("/"), !name.hasPrefix("~"), !name.hasPrefix("$") { return true }
        let shown = isSecret ? "this" : Token.shown(name)
        log.report(at: range, "\(shown) is neither a whole path nor the name of a program, and no shell reads it")
        return false
    }

    /// Parses the source of a secret. One in the rule file itself is refused: everyone who can read the rules could read
    /// it.
    ///
    /// - Parameter what: the secret, to follow "do not write".
    func reference(_ value: Value, to what: String) -> ValueSource? {
        switch value.source {
        case .environment(let name): return .environment(name)
        case .file(let path): return .file(path)
        case .written, .command:
            refuse(value, "do not write \(what) in the rule file: write 'file' and a path, or 'env' and a name")
            return nil
        }
    }

    /// A word of a line, with the values after it.
    struct Option<Word> {
        let word: Word
        let keyword: Value
        var values: [Value] = []
    }

    /// Parses `WORD VALUE … WORD VALUE …`. A value that equals one of the words must be in quotes.
    func options<Word: RawRepresentable<String> & CaseIterable>(
        _: Word.Type, in values: ArraySlice<Value>, isSound: inout Bool
    ) -> [Option<Word>] {
        var options: [Option<Word>] = []
        for value in values {
            if let word = Word(rawValue: value.text), !value.isQuoted {
                options.append(Option(word: word, keyword: value))
            } else if options.isEmpty {
                // The values after an invalid word belong to it.
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
