import Bytes

/// The kinds of files with credentials that a store can import.
public enum CredentialFileKind: String, Sendable, CaseIterable {
    /// The reason why another program's file of credentials is not imported. The sentence never contains a word of the
    /// file that may be part of a password.
    public struct Problem: Error, Sendable, Equatable {
        /// The line number, from 1; nil for a problem of the whole file.
        public let line: Int?
        public let sentence: String

        public init(line: Int?, _ sentence: String) {
            self.line = line
            self.sentence = sentence
        }
    }

    case netrc
    /// curl's configuration file.
    case curl
    /// The format that `SealedCredentials` writes.
    case export

    /// The format that a file seems to have.
    ///
    /// - Throws: why a file of a known kind cannot be imported.
    public init(of text: Span<UInt8>) throws(Problem) {
        var line = 1
        guard let range = Self.firstLine(text, &line) else {
            throw Problem(line: nil, "the file is empty")
        }
        let first = text.extracting(range)
        var end = 0
        while end < first.count, first[end] > .space { end += 1 }
        let word = first.extracting(first: end).text.lowercased()
        if first[0] == UInt8(ascii: "{") {
            self = .export
        } else if word == "machine" || word == "default" || word == "macdef" {
            self = .netrc
        } else if Self.holdsHash(first) {
            throw Problem(
                line: line,
                "this is a file of password hashes (htpasswd, htdigest), which cannot answer a "
                    + "challenge; use 'attache credential set' with the password itself")
        } else if Self.isTable(first) {
            throw Problem(
                line: line,
                "this looks like a table (CSV), and its columns have no known meaning: write netrc lines, such as "
                    + "'machine www.example.com login USER password PASSWORD'")
        } else {
            self = .curl
        }
    }

    /// Nil for an export, which needs a key.
    public func read(_ text: Span<UInt8>) throws(Problem) -> FoundCredentials? {
        switch self {
        case .netrc: try NetrcFile.read(text)
        case .curl: try CurlConfigFile.read(text)
        case .export: nil
        }
    }

    /// The first line that is neither empty nor a comment, without the blanks before it.
    private static func firstLine(_ text: Span<UInt8>, _ line: inout Int) -> Range<Int>? {
        var offset = 0
        while offset < text.count {
            let end = text.firstIndex(of: .lineFeed, from: offset) ?? text.count
            while offset < end, text[offset] <= .space { offset += 1 }
            if offset < end, text[offset] != UInt8(ascii: "#") { return offset..<end }
            offset = end + 1
            line += 1
        }
        return nil
    }

    /// Whether the line is `user:hash`, as in the formats of crypt(3), Apache and htdigest.
    private static func holdsHash(_ line: Span<UInt8>) -> Bool {
        guard let colon = line.firstIndex(of: .colon), colon > 0 else { return false }
        var end = line.count
        while end > 0, line[end - 1] <= .space { end -= 1 }
        for offset in 0..<end where line[offset] <= .space || line[offset] == .quote { return false }
        let hash = line.extracting(min(colon + 1, end)..<end)
        if hash.count > 3, hash[0] == UInt8(ascii: "$") || hash[0] == UInt8(ascii: "{") { return true }
        guard let last = (0..<end).last(where: { line[$0] == .colon }), last > colon, end - last == 33 else {
            return false
        }
        for offset in last + 1..<end where line[offset].hexValue == nil { return false }
        return true
    }

    /// Whether the line has two commas or semicolons outside of quotes, and no blank or `=` before them, as an option
    /// of curl has.
    private static func isTable(_ line: Span<UInt8>) -> Bool {
        var (count, isQuoted) = (0, false)
        for offset in 0..<line.count {
            switch line[offset] {
            case .quote: isQuoted.toggle()
            case .comma where !isQuoted, .semicolon where !isQuoted, .tab where !isQuoted:
                count += 1
                if count == 2 { return true }
            case .space where !isQuoted, .equals where !isQuoted: return false
            default: break
            }
        }
        // A header with one comma: `user,password`.
        return count == 1 && line.firstIndex(of: .colon) == nil
    }
}
