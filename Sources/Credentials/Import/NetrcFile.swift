import Bytes
import Crypto

/// Reads a netrc file as curl does: words between blanks and line ends, or in double quotes with `\"`, `\\`, `\n`, `\r`
/// and `\t` in them; keywords in any case; `#` in place of a keyword begins a comment, up to the line's end; a macro
/// ends with an empty line.
///
/// Entries that the store cannot keep are listed among the omissions: `default`, which means every host, an entry
/// without a login or a password, and one for a login that an earlier line has.
struct NetrcFile {
    private enum Keyword: String, CaseIterable {
        case machine, login, password, account, macdef
        case everyone = "default"

        init?(_ word: Span<UInt8>) {
            let found = Self.allCases.first { word.equalsIgnoringCase($0.rawValue.utf8Span.span) }
            guard let found else { return nil }
            self = found
        }
    }

    private struct Entry {
        let line: Int
        /// The host; nil for `default`.
        let host: String?
        var user: String?
        var password: NetrcFile.Reader.Word?
    }

    private(set) var found = FoundCredentials()
    private var entry: Entry?
    /// The index in `found` of the first credential of a user, by machine and user.
    private var known: [ExactText: [ExactText: Int]] = [:]

    static func read(_ text: Span<UInt8>) throws(CredentialFileKind.Problem) -> FoundCredentials {
        var file = NetrcFile()
        var reader = NetrcFile.Reader()
        while let word = try reader.keyword(text) { try file.take(word, &reader, text) }
        file.finishEntry(text)
        return file.found
    }

    private mutating func take(
        _ word: NetrcFile.Reader.Word, _ reader: inout NetrcFile.Reader, _ text: Span<UInt8>
    ) throws(CredentialFileKind.Problem) {
        let line = word.line
        guard !word.isQuoted, let keyword = Keyword(text.extracting(word.range)) else {
            throw CredentialFileKind.Problem(
                line: line,
                "a word stands here that is none of 'machine', 'default', 'login', 'password', 'account' and 'macdef'; "
                    + "a value with blanks in it stands in double quotes")
        }
        switch keyword {
        case .everyone:
            finishEntry(text)
            entry = Entry(line: line, host: nil)
        case .machine:
            finishEntry(text)
            let host = try reader.value(of: keyword.rawValue, text, behind: line)
            entry = Entry(line: line, host: host.bytes(in: text).span.text)
        case .macdef:
            _ = try reader.value(of: keyword.rawValue, text, behind: line)
            reader.skipMacro(text)
        case .account: _ = try reader.value(of: keyword.rawValue, text, behind: line)
        case .login, .password:
            guard entry != nil else {
                throw CredentialFileKind.Problem(line: line, "'\(keyword.rawValue)' stands before any 'machine'")
            }
            let value = try reader.value(of: keyword.rawValue, text, behind: line)
            let isTaken = keyword == .login ? entry?.user != nil : entry?.password != nil
            if isTaken {
                throw CredentialFileKind.Problem(line: line, "the machine has a second '\(keyword.rawValue)'")
            }
            if keyword == .login {
                entry?.user = value.bytes(in: text).span.text
            } else {
                entry?.password = value
            }
        }
    }

    private mutating func finishEntry(_ text: Span<UInt8>) {
        guard let entry else { return }
        self.entry = nil
        guard let host = entry.host else {
            return leaveOut(
                entry,
                "'default' stands for every host, and the store keeps credentials for one host each: it is left out")
        }
        guard let user = entry.user else {
            return leaveOut(entry, "the machine \(host) has no 'login' and is left out: add 'login USER'")
        }
        guard let word = entry.password else {
            return leaveOut(entry, "the machine \(host) has no 'password' and is left out: add 'password PASSWORD'")
        }
        var password = word.bytes(in: text)
        if let index = known[ExactText(host)]?[ExactText(user)] {
            let earlier = found.credentials[index]
            let isSame = earlier.password == Secret(wiping: &password)
            return leaveOut(
                entry,
                isSame
                    ? "the entry repeats line \(earlier.line) and is left out"
                    : "the machine \(host) has another password for this 'login' in line \(earlier.line), which is the one "
                        + "that counts: remove the wrong one")
        }
        do throws(CredentialFileKind.Problem) {
            try found.add(line: entry.line, .host(host), user: user, password: &password)
            known[ExactText(host), default: [:]][ExactText(user)] = found.credentials.count - 1
        } catch { leaveOut(entry, "\(error.sentence): the machine \(host) is left out") }
    }

    private mutating func leaveOut(_ entry: Entry, _ sentence: String) {
        found.omissions.append(FoundCredentials.Omission(line: entry.line, sentence: sentence))
    }

    /// The words of a netrc file.
    fileprivate struct Reader {
        struct Word {
            /// The line's number, from 1.
            let line: Int
            let isQuoted: Bool
            /// The text, without the quotes.
            let range: Range<Int>

            func bytes(in text: Span<UInt8>) -> [UInt8] {
                isQuoted ? QuotedWord.unquoted(text.extracting(range)) : text.extracting(range).array
            }
        }

        private var offset = 0
        private var line = 1

        /// The next keyword, after any comments; nil at the end of the file.
        mutating func keyword(_ text: Span<UInt8>) throws(CredentialFileKind.Problem) -> Word? {
            skipBlanks(text)
            while offset < text.count, text[offset] == UInt8(ascii: "#") {
                skipLine(text)
                skipBlanks(text)
            }
            return try next(text)
        }

        /// The next word; nil at the end of the file.
        mutating func next(_ text: Span<UInt8>) throws(CredentialFileKind.Problem) -> Word? {
            skipBlanks(text)
            guard offset < text.count else { return nil }
            return text[offset] == .quote ? try quoted(text) : plain(text)
        }

        /// The word after a keyword.
        mutating func value(
            of keyword: String, _ text: Span<UInt8>, behind line: Int
        ) throws(CredentialFileKind.Problem) -> Word {
            guard let word = try next(text) else {
                throw CredentialFileKind.Problem(line: line, "'\(keyword)' has nothing behind it")
            }
            return word
        }

        /// Skips to the empty line after a macro, or to the end of the file.
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

        private mutating func quoted(_ text: Span<UInt8>) throws(CredentialFileKind.Problem) -> Word {
            offset += 1
            let length = try QuotedWord.length(in: text.extracting(droppingFirst: offset), line: line)
            let start = offset
            offset += length + 1
            return Word(line: line, isQuoted: true, range: start..<start + length)
        }
    }
}
