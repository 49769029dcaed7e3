import Bytes

/// Finds what may be a secret among the tokens of a file, before any grammar has looked at them: a file that does
/// not parse is exactly the file whose lines are shown. It would rather hide too much.
///
/// Hidden is: what follows a word such as `password`, or a near miss of one, up to the end of its directive, unless
/// it is `env NAME` or `file PATH`; what an unknown directive of a `credential` block says; the password of a URL; a
/// string that holds `password=`; and a comment on such a line, or one that speaks of a secret itself.
struct SecretMask {
    private(set) var ranges: [Range<Int>] = []

    init(_ tokens: inout [Token], comments: [Range<Int>], of bytes: [UInt8]) {
        /// Depth of blocks below the `credential` block that we are in; nil outside one.
        var depth: Int?
        var isHiding = false
        var isHead = true
        var opensCredential = false
        for index in tokens.indices {
            let token = tokens[index]
            switch token.kind {
            case .open:
                if let inner = depth {
                    depth = inner + 1
                } else if opensCredential {
                    depth = 0
                }
                (isHead, isHiding) = (true, false)
            case .close:
                if let inner = depth { depth = inner == 0 ? nil : inner - 1 }
                (isHead, isHiding, opensCredential) = (true, false, false)
            case .semicolon, .newline:
                (isHead, isHiding, opensCredential) = (true, false, false)
            case .word, .string:
                if isHiding, !Self.isReference(tokens, index) {
                    hide(token.range.bytes, &tokens[index], bytes)
                } else {
                    hideInside(token, &tokens[index])
                }
                let isWord = token.kind == .word
                if isHead, isWord { opensCredential = Self.isNear(token.text, ["credential"]) }
                if isWord, Self.speaksOfSecret(token.text) {
                    isHiding = true
                } else if isHead, depth != nil, !Self.plain.contains(token.text) {
                    isHiding = true
                }
                isHead = false
            }
        }
        hideComments(comments, of: bytes)
        ranges.sort { $0.lowerBound < $1.lowerBound }
    }

    /// A string that is not closed may go on in the lines below: everything up to the next quote is hidden too.
    private mutating func hide(_ range: Range<Int>, _ token: inout Token, _ bytes: [UInt8]) {
        token.isSecret = true
        let isOpen = token.kind == .string && (range.count < 2 || bytes[range.upperBound - 1] != .quote)
        let end = isOpen ? bytes[range.upperBound...].firstIndex(of: .quote) ?? range.upperBound : range.upperBound
        ranges.append(range.lowerBound..<end)
    }

    private mutating func hideInside(_ token: Token, _ marked: inout Token) {
        if ranges.last.map({ $0.upperBound > token.range.bytes.lowerBound }) ?? false { marked.isSecret = true }
        let text = Array(token.text.utf8.map(\.asciiLowercased))
        let isAssignment = Self.assignments.contains { text.firstRange(of: $0) != nil }
        let isURL = text.lastIndex(of: UInt8(ascii: "@")).map { at in
            let start = text.firstRange(of: Array("://".utf8))?.upperBound ?? 0
            return start < at && text[start..<at].contains(.colon)
        }
        guard isAssignment || isURL ?? false else { return }
        marked.isSecret = true
        ranges.append(token.range.bytes)
    }

    private mutating func hideComments(_ comments: [Range<Int>], of bytes: [UInt8]) {
        let secrets = ranges
        var next = secrets.startIndex
        for comment in comments {
            while next < secrets.endIndex, secrets[next].upperBound <= comment.lowerBound { next += 1 }
            let before = next > secrets.startIndex ? secrets[next - 1] : nil
            let shares = before.map { !bytes[$0.upperBound..<comment.lowerBound].contains(.lineFeed) } ?? false
            let text = bytes[comment].map(\.asciiLowercased)
            if shares || Self.hints.contains(where: { text.firstRange(of: $0) != nil }) { ranges.append(comment) }
        }
    }

    /// `env NAME` and `file PATH` say where a secret is, not what it is.
    private static func isReference(_ tokens: [Token], _ index: Int) -> Bool {
        let isHere = tokens[index].isWord("env") || tokens[index].isWord("file")
        let follows = index > 0 && (tokens[index - 1].isWord("env") || tokens[index - 1].isWord("file"))
        let isSecond = follows && index > 1 && tokens[index - 2].kind == .word
        return isHere || isSecond && speaksOfSecret(tokens[index - 2].text)
    }

    private static func speaksOfSecret(_ word: String) -> Bool {
        words.contains(word.lowercased()) || isNear(word, ["password", "client-secret", "passphrase"])
    }

    private static func isNear(_ word: String, _ targets: [String]) -> Bool {
        let typed = Array(word.utf8)
        return targets.contains { target in
            abs(typed.count - target.utf8.count) <= 2 && Suggestion.distance(typed, Array(target.utf8)) <= 2
        }
    }

    private static let words: Set = ["password", "passwd", "pass", "pwd", "pw", "secret", "token", "api-key", "apikey"]
    /// Directives of `credential` whose arguments may be shown.
    private static let plain: Set = [
        "user", "kerberos", "keytab", "ccache", "oauth2", "client-id", "scope", "certificate", "key", "include",
    ]
    private static let assignments = ["password=", "passwd=", "pwd=", "secret=", "token="].map { Array($0.utf8) }
    private static let hints = ["pass", "secret", "token", "pwd"].map { Array($0.utf8) }
}
