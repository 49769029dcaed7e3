import Bytes

/// Finds possible secrets among the tokens of a file, before any grammar has been applied: a file that does not parse
/// is exactly the file whose lines are shown. It prefers to hide too much.
///
/// The following is hidden: the words after `password` or a similar word, or a near miss of one, up to the end of its
/// directive, except `env NAME` and `file PATH`; the values of a directive of a `store`, or of an unknown one of a
/// `credential` or `traces` block; a URL with a password; a string that contains `password=`, or whose quotes are
/// wrong; and a comment on such a line, or one that mentions a secret itself.
struct SecretMask {
    private(set) var ranges: [Range<Int>] = []

    init(_ tokens: inout [Token], comments: [Range<Int>], of bytes: [UInt8]) {
        /// The depth of blocks below the current `credential` block; nil outside one.
        var depth: Int?
        var isHiding = false
        var isHead = true
        var opensCredential = false
        var isStore = false
        /// Whether that block is a `store`, where a `key` is not a path.
        var isInStore = false
        for index in tokens.indices {
            let token = tokens[index]
            switch token.kind {
            case .open:
                if let inner = depth {
                    depth = inner + 1
                } else if opensCredential {
                    depth = 0
                    isInStore = isStore
                }
                (isHead, isHiding) = (true, isHiding && index > 0 && Self.speaksOfSecret(tokens[index - 1]))
            case .close:
                if let inner = depth { depth = inner == 0 ? nil : inner - 1 }
                (isHead, isHiding, opensCredential) = (true, false, false)
            case .semicolon:
                (isHead, isHiding, opensCredential) = (true, false, false)
            case .newline:
                let isPromised = index > 0 && Self.goesOn(tokens[index - 1], isHiding, bytes)
                (isHead, isHiding, opensCredential) = (true, isPromised, false)
            case .word, .string:
                if isHead, isHiding, Self.plain.contains(token.text) || Self.speaksOfSecret(token) { isHiding = false }
                if isHiding, !Self.isReference(tokens, index) {
                    hide(token.range.bytes, &tokens[index], bytes)
                } else {
                    hideInside(token, &tokens[index], bytes)
                }
                let isWord = token.kind == .word
                if isHead, isWord {
                    isStore = Self.isNear(token.text, ["store"])
                    opensCredential = isStore || Self.isNear(token.text, ["credential", "traces"])
                }
                let hidesValues = isHead && depth != nil && (isInStore || !Self.plain.contains(token.text))
                if hidesValues || Self.speaksOfSecret(token) { isHiding = true }
                isHead = false
            }
        }
        hideComments(comments, of: bytes)
        merge()
    }

    /// Merges the ranges: ascending, and no two of them touch.
    private mutating func merge() {
        var merged: [Range<Int>] = []
        for range in ranges.sorted(by: { $0.lowerBound < $1.lowerBound }) {
            if let last = merged.last, last.upperBound >= range.lowerBound {
                merged[merged.count - 1] = last.lowerBound..<max(last.upperBound, range.upperBound)
            } else {
                merged.append(range)
            }
        }
        ranges = merged
    }

    /// Hides a range. A string that is not closed may continue on the next lines: everything up to the next quote is
    /// hidden too.
    private mutating func hide(_ range: Range<Int>, _ token: inout Token, _ bytes: [UInt8]) {
        token.isSecret = true
        let isOpen = token.kind == .string && (range.count < 2 || bytes[range.upperBound - 1] != .quote)
        let end = isOpen ? bytes[range.upperBound...].firstIndex(of: .quote) ?? range.upperBound : range.upperBound
        ranges.append(range.lowerBound..<end)
    }

    private mutating func hideInside(_ token: Token, _ marked: inout Token, _ bytes: [UInt8]) {
        if ranges.last.map({ $0.upperBound > token.range.bytes.lowerBound }) ?? false { marked.isSecret = true }
        let text = Array(token.text.utf8)
        let touchesString = bytes[..<token.range.bytes.lowerBound].last == .quote
        let isAssignment = text.contains(.equals) && Self.assignments.contains { text.firstIndex(ofWord: $0) != nil }
        guard isAssignment || Self.holdsUserInformation(text) || Self.isMisquoted(token, bytes) || touchesString
        else { return }
        marked.isSecret = true
        ranges.append(token.range.bytes)
    }

    /// Whether the next line may contain the value: after a secret word that ends its line, or an unclosed string that
    /// was to be a secret.
    private static func goesOn(_ last: Token, _ isHiding: Bool, _ bytes: [UInt8]) -> Bool {
        if speaksOfSecret(last) { return true }
        guard last.kind == .string, isMisquoted(last, bytes) else { return false }
        return isHiding || speaks(bytes[last.range.bytes])
    }

    private static func speaks(_ text: ArraySlice<UInt8>) -> Bool {
        hints.contains { text.firstIndex(ofWord: $0) != nil }
    }

    /// Whether the text has `user:password@`, or is a URL whose colon is not followed by a port.
    private static func holdsUserInformation(_ text: [UInt8]) -> Bool {
        let authority = text.firstIndex(ofWord: "://").map { $0 + 3 }
        let rest = text[(authority ?? 0)...]
        guard let colon = rest.firstIndex(of: .colon) else { return false }
        if rest[colon...].contains(UInt8(ascii: "@")) { return true }
        return authority != nil && !rest[(colon + 1)...].prefix { $0 != .slash }.allSatisfy(\.isDigit)
    }

    /// Whether the quotes of a token are wrong. If a quote is missing or extra, a string is not what it seems, nor are
    /// the words after it.
    private static func isMisquoted(_ token: Token, _ bytes: [UInt8]) -> Bool {
        let range = token.range.bytes
        guard token.kind == .string else { return bytes[range].contains(.quote) }
        return range.count < 2 || bytes[range.upperBound - 1] != .quote
    }

    private mutating func hideComments(_ comments: [Range<Int>], of bytes: [UInt8]) {
        let secrets = ranges
        var next = secrets.startIndex
        for comment in comments {
            while next < secrets.endIndex, secrets[next].upperBound <= comment.lowerBound { next += 1 }
            let before = next > secrets.startIndex ? secrets[next - 1] : nil
            let shares = before.map { !bytes[$0.upperBound..<comment.lowerBound].contains(.lineFeed) } ?? false
            if shares || Self.speaks(bytes[comment]) { ranges.append(comment) }
        }
    }

    /// Whether the token belongs to `env NAME` or `file PATH`: they say where a secret is, not what it is.
    private static func isReference(_ tokens: [Token], _ index: Int) -> Bool {
        let isHere = tokens[index].isWord("env") || tokens[index].isWord("file")
        let follows = index > 0 && (tokens[index - 1].isWord("env") || tokens[index - 1].isWord("file"))
        return isHere
            || follows && index > 1 && (speaksOfSecret(tokens[index - 2]) || tokens[index - 2].isWord("key"))
    }

    private static func speaksOfSecret(_ token: Token) -> Bool {
        token.kind == .word
            && (words.contains(token.text.lowercased())
                || isNear(token.text, ["password", "client-secret", "passphrase"]))
    }

    private static func isNear(_ word: String, _ targets: [String]) -> Bool {
        guard targets.contains(where: { abs(word.utf8.count - $0.utf8.count) <= 2 }) else { return false }
        let typed = word.utf8.map(\.asciiLowercased)
        let letters = letters(typed)
        return targets.contains { target in
            // Two typing errors add at most two other letters; most words of a file end here.
            let foreign = letters & ~self.letters(target.utf8)
            return foreign.nonzeroBitCount <= 2 && abs(typed.count - target.utf8.count) <= 2
                && Suggestion.distance(typed, Array(target.utf8)) <= 2
        }
    }

    /// Returns a bit for each letter that occurs; some letters share one.
    private static func letters(_ word: some Sequence<UInt8>) -> UInt64 {
        word.reduce(0) { $0 | 1 << UInt64($1 & 63) }
    }

    private static let words: Set = [
        "password", "passwd", "pass", "pwd", "pw", "secret", "token", "api-key", "apikey", "nonce-key", "secret-key",
        "access-key", "session-token", "refresh-token", "assertion", "client-assertion", "subject-token", "actor-token",
        "consumer-key", "consumer-secret", "access-token", "token-secret",
    ]
    /// The directives of `credential` and `traces` whose arguments may be shown.
    private static let plain: Set = [
        "user", "kerberos", "keytab", "ccache", "oauth2", "issuer", "registry", "client-id", "scope", "certificate",
        "key", "pkcs12", "requested", "subject", "resource", "pkcs11", "client-authentication", "key-id",
        "assertion-audience", "audience", "payload", "include", "collector", "service-name", "sample", "helper",
        "environment", "keep", "path",
    ]
    private static let assignments = ["password=", "passwd=", "pwd=", "secret=", "token=", "pin-value="]
    private static let hints = ["pass", "secret", "token", "pwd"]
}
