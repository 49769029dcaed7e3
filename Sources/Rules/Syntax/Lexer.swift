import Bytes

/// Turns bytes into tokens. It knows words, strings, comments and marks, but no directives. Values are interpreted
/// after lexing, so that columns are exact and a substituted value can never become syntax.
///
/// A word ends at a space, a line end, `;`, `{` or `}`. `#` begins a comment only where a word could begin, so
/// `abc#def` is one word. `={name}` stays inside its word, because form fields are written that way.
struct Lexer {
    private let bytes: [UInt8]
    private let file: Int
    private let log: Diagnostic.Log
    private var offset = 0
    private(set) var tokens: [Token] = []
    /// The comments, which are not tokens but which the mask checks.
    private(set) var comments: [Range<Int>] = []

    init(_ bytes: [UInt8], file: Int, log: Diagnostic.Log) {
        self.bytes = bytes
        self.file = file
        self.log = log
    }

    /// Reads the tokens, and reports the errors that are known without any grammar.
    mutating func run() {
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { offset = 3 }
        if let bad = firstIllFormed() { report(bad..<bad + 1, "the file is not UTF-8 here") }
        while offset < bytes.count {
            switch bytes[offset] {
            case .space, .tab, .carriageReturn: offset += 1
            case .lineFeed: mark(.newline)
            case .semicolon: mark(.semicolon)
            case Self.openBrace: mark(.open)
            case Self.closeBrace: mark(.close)
            case Self.hash: comment()
            case .quote: string()
            default: word()
            }
        }
    }

    private func range(_ bytes: Range<Int>) -> SourceRange { SourceRange(file: file, bytes: bytes) }

    private func report(_ bytes: Range<Int>, _ sentence: String) { log.report(at: range(bytes), sentence) }

    private mutating func mark(_ kind: Token.Kind) {
        tokens.append(Token(kind: kind, text: "", range: range(offset..<offset + 1)))
        offset += 1
    }

    private mutating func comment() {
        let end = bytes[offset...].firstIndex(of: .lineFeed) ?? bytes.count
        comments.append(offset..<end)
        offset = end
    }

    private mutating func word() {
        let start = offset
        scan: while offset < bytes.count {
            switch bytes[offset] {
            case .space, .tab, .carriageReturn, .lineFeed, .semicolon, Self.closeBrace:
                break scan
            case Self.openBrace:
                guard offset > start, bytes[offset - 1] == .equals, let end = placeholderEnd() else { break scan }
                offset = end
            case .quote:
                report(offset..<offset + 1, "a quote inside a word; put the whole value in quotes")
                offset += 1
            case let byte where byte < .space || byte == .delete:
                report(offset..<offset + 1, "a control character")
                offset += 1
            default:
                offset += 1
            }
        }
        append(.word, String(decoding: bytes[start..<offset], as: UTF8.self), start..<offset)
    }

    /// The end of `{name}` at the offset; nil if the brace opens a block.
    private func placeholderEnd() -> Int? {
        var end = offset + 1
        while end < bytes.count, (0x61...0x7A).contains(bytes[end]) { end += 1 }
        return end > offset + 1 && end < bytes.count && bytes[end] == Self.closeBrace ? end + 1 : nil
    }

    private mutating func string() {
        let start = offset
        var content: [UInt8] = []
        offset += 1
        while offset < bytes.count, bytes[offset] != .lineFeed {
            let byte = bytes[offset]
            if byte == .quote {
                offset += 1
                append(.string, String(decoding: content, as: UTF8.self), start..<offset)
                return
            }
            if byte == .backslash {
                escape(into: &content)
                continue
            }
            if byte < .space && byte != .tab || byte == .delete {
                let atEnd = byte == .carriageReturn && offset + 1 < bytes.count && bytes[offset + 1] == .lineFeed
                if atEnd { break }
                report(offset..<offset + 1, "a control character in a string")
            }
            content.append(byte)
            offset += 1
        }
        report(start..<offset, "the string is not closed on its line")
        append(.string, String(decoding: content, as: UTF8.self), start..<offset)
    }

    private mutating func escape(into content: inout [UInt8]) {
        let start = offset
        offset += 1
        guard offset < bytes.count, bytes[offset] != .lineFeed else { return }
        let known: UInt8? =
            switch bytes[offset] {
            case .quote: .quote
            case .backslash: .backslash
            case UInt8(ascii: "n"): .lineFeed
            case UInt8(ascii: "t"): .tab
            default: nil
            }
        if let known {
            content.append(known)
            offset += 1
        } else {
            let end = bytes[(offset + 1)...].firstIndex { $0 & 0xC0 != 0x80 } ?? bytes.count
            report(start..<end, "unknown escape; the escapes are \\\" \\\\ \\n \\t")
            offset = end
        }
    }

    private mutating func append(_ kind: Token.Kind, _ text: String, _ bytes: Range<Int>) {
        tokens.append(Token(kind: kind, text: text, range: range(bytes)))
    }

    /// The offset of the first byte that is not well-formed UTF-8 (RFC 3629); nil if none.
    private func firstIllFormed() -> Int? {
        do throws(UTF8.ValidationError) {
            _ = try UTF8Span(validating: bytes.span)
            return nil
        } catch {
            return min(error.byteOffsets.lowerBound, max(bytes.count - 1, 0))
        }
    }

    private static let openBrace = UInt8(ascii: "{")
    private static let closeBrace = UInt8(ascii: "}")
    private static let hash = UInt8(ascii: "#")
}
